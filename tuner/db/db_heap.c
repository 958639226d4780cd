#include "tuner/db/db_heap.h"

#include <malloc.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "proto/base/memory.h"

enum { STEP_BYTES = 8 };

static void *take(int bytes)
{
    return memory_get(NULL, (size_t)bytes);
}

static void *change(void *memory, int bytes)
{
    return memory_get(memory, (size_t)bytes);
}

static int size_of(void *memory)
{
    return memory == NULL ? 0 : (int)malloc_usable_size(memory);
}

static int round_up(int bytes)
{
    return (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
}

static int begin(void *data)
{
    (void)data;
    return SQLITE_OK;
}

static void end(void *data)
{
    (void)data;
}

void db_heap_give(void)
{
    static const struct sqlite3_mem_methods methods = {.xMalloc = take,
                                                       .xFree = free,
                                                       .xRealloc = change,
                                                       .xSize = size_of,
                                                       .xRoundup = round_up,
                                                       .xInit = begin,
                                                       .xShutdown = end};
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
