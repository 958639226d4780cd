#include "tuner/base/heap.h"

#include <malloc.h>
#include <stddef.h>

enum {
    ARENAS = 2,
    LARGE_BLOCK_BYTES = 128 * 1024,
    PAUSE_MS = 5000,
    MUCH_BYTES = 8 << 20
};

/* Few heaps, and large blocks outside them: glibc otherwise raises that limit
 * to the largest block ever freed, and one long answer would stay in memory for
 * good. */
void heap_begin(void)
{
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK_BYTES);
}

/* By itself glibc returns the end of a heap alone, and one block in use there
 * keeps all that was freed before it. */
void heap_settle(int64_t now_ms)
{
    static int64_t next_ms;
    static size_t returned; /* of what is free */
    if (now_ms < next_ms)
        return;
    next_ms = now_ms + PAUSE_MS;
    const size_t unused = mallinfo2().fordblks;
    if (unused >= returned + MUCH_BYTES) {
        malloc_trim(0);
        returned = unused;
    } else if (unused < returned) {
        returned = unused;
    }
}
