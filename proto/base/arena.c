#include "proto/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 8192 };

struct block {
    struct block *next;
    size_t used, size; /* of data, in bytes */
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    struct block *head; /* the block that is being filled; older ones follow */
};

static struct block *block_new(size_t size, struct block *next)
{
    struct block *block = ht_xrealloc(NULL, sizeof *block + size, 1);
    block->next = next;
    block->used = 0;
    block->size = size;
    return block;
}

struct arena *arena_new(void)
{
    struct arena *arena = ht_xcalloc(1, sizeof *arena);
    arena->head = block_new(BLOCK_BYTES, NULL);
    return arena;
}

void arena_reset(struct arena *arena)
{
    while (arena->head->next != NULL) {
        struct block *old = arena->head;
        arena->head = old->next;
        free(old);
    }
    arena->head->used = 0;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    arena_reset(arena);
    free(arena->head);
    free(arena);
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = arena == NULL ? 0 : sizeof *arena;
    const struct block *block = arena == NULL ? NULL : arena->head;
    for (; block != NULL; block = block->next)
        bytes += sizeof *block + block->size;
    return bytes;
}

void *arena_alloc(struct arena *arena, size_t n, size_t size)
{
    size_t bytes;
    const size_t align = alignof(max_align_t);
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - align)
        ht_out_of_memory();
    bytes = (bytes + align - 1) / align * align;
    if (bytes > arena->head->size - arena->head->used)
        arena->head =
            block_new(bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES, arena->head);
    void *memory = arena->head->data + arena->head->used;
    arena->head->used += bytes;
    return memset(memory, 0, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1, 1);
    memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1, 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, again);
    va_end(again);
    return text;
}

void *arena_grow(struct arena *arena, void *items, size_t n, size_t size)
{
    if ((n & (n - 1)) != 0)
        return items;
    void *more = arena_alloc(arena, n == 0 ? 1 : 2 * n, size);
    if (n > 0)
        memcpy(more, items, n * size);
    return more;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
