/* memory.h - the heap, and what happens when it has no more to give.
 *
 * Code of ours never sees NULL. An allocation that fails is tried once more
 * with the memory of a reserve, and if that is not enough either, it ends what
 * the thread is at: memory_try() runs such a piece of work, a request or a
 * question, and returns false then. One jump instead of checks in hundreds of
 * callers; a sticky error would need memory to go on with.
 *
 * The jump leaves everything as it is, so a piece of work
 *   - keeps what has to be released with its caller (arena, connection, reply),
 *     which releases it, and whatever else it had in use is lost. That is at
 *     most what one request had, and before the next one begins
 *     memory_is_enough() asks for a whole reserve;
 *   - changes what lasts only when it has the memory for the change;
 *   - takes no memory while a mutex is locked, unless memory_lock() did that:
 *     there, and outside of all memory_try(), an allocation waits for others to
 *     give back some, for WAIT_MS; then the program ends.
 * A library's frames are never jumped over, except those of cJSON, whose
 * allocations are ours and which keeps nothing. */
#ifndef HT_PROTO_BASE_MEMORY_H
#define HT_PROTO_BASE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h> // IWYU pragma: keep: pthread_mutex_t without its names

/* The heap for objects that outlive an arena. An overflow of n * size is out of
 * memory. Release with free(). What ht_xrealloc() adds is not zeroed; 0 bytes
 * are a valid object of their own. */
void *ht_xcalloc(size_t n, size_t size);
void *ht_xrealloc(void *memory, size_t n, size_t size);
char *ht_xstrdup(const char *text);

/* For libraries that report it: ends the work of the innermost memory_try() of
 * this thread, else says so on stderr and ends the program. */
_Noreturn void ht_out_of_memory(void);

/* For libraries that can live without it: like realloc(), but with the reserve
 * behind it; NULL when there is none, and memory_misses() says so. */
void *memory_get(void *memory, size_t bytes);
/* How often this thread got no memory at the first try. */
uint64_t memory_misses(void);

/* True when work(context) has ended, false when memory ran out within it. */
bool memory_try(void (*work)(void *context), void *context);
/* How often that was false, in all threads. */
uint64_t memory_failures(void);

/* From now on there is a reserve, and allocations wait where they cannot fail.
 * For programs that have to live long; once, before the first thread. */
void memory_reserve(void);
/* Whether the reserve is whole, or could be made so now. Any thread. */
bool memory_is_enough(void);
/* The same, and so many bytes besides could be had now: for work that takes
 * much, whose end in its middle would lose much. */
bool memory_has(size_t bytes);
/* What a request hears that was refused or ended for that reason. */
#define MEMORY_REFUSAL "the server is out of memory: ask again later"

/* Like pthread_mutex_lock() and unlock(), for a mutex under which memory is
 * taken. */
void memory_lock(pthread_mutex_t *mutex);
void memory_unlock(pthread_mutex_t *mutex);

#endif
