/* arena.h - memory that lasts exactly as long as one request, tick or document.
 *
 * Nothing here returns NULL: memory.h says what happens when there is none.
 * An arena belongs to one thread at a time. */
#ifndef HT_PROTO_BASE_ARENA_H
#define HT_PROTO_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "proto/base/memory.h" // IWYU pragma: export

struct arena;

/* The caller frees it, and with it everything below that is made in it. */
struct arena *arena_new(void);
void arena_free(struct arena *arena);  /* accepts NULL */
void arena_reset(struct arena *arena); /* frees all, keeps the first block */
/* That it takes, with what is not used yet; 0 for NULL. */
size_t arena_bytes(const struct arena *arena);

/* Zeroed memory for n objects of `size` bytes, aligned to max_align_t. Valid
 * until arena_reset() or arena_free(); nothing is freed singly. */
void *arena_alloc(struct arena *arena, size_t n, size_t size);
/* Copies with a NUL; `text` of arena_strndup() has at least `len` bytes, which
 * may contain NULs. printf's become as long as they need to be. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
__attribute__((format(printf, 2, 3))) char *
arena_printf(struct arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 0))) char *
arena_vprintf(struct arena *arena, const char *format, va_list args);

/* Makes room for one more behind the n items of an array: returns it, or its
 * copy of twice the size when n is a power of two, so that n tells the
 * capacity. */
void *arena_grow(struct arena *arena, void *items, size_t n, size_t size);

#endif
