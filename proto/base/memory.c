#include "proto/base/memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RESERVE_BYTES = 1 << 20, /* not touched, so it costs address space alone */
    WAIT_MS = 5000,
    PAUSE_MS = 10
};

struct boundary {
    jmp_buf back;
    int locks; /* held when it began */
};

static _Thread_local struct boundary *innermost;
static _Thread_local int locks; /* by memory_lock() */
static _Thread_local uint64_t misses;

static void *_Atomic reserve;
static atomic_bool is_patient; /* memory_reserve() was called */
static _Atomic uint64_t failures;

/* --- running out --- */

static bool may_jump(void)
{
    return innermost != NULL && innermost->locks == locks;
}

/* Without what atexit() has: other threads use that still. */
static _Noreturn void end_program(void)
{
    static const char line[] = "error memory.exhausted\n";
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(1);
}

_Noreturn void ht_out_of_memory(void)
{
    if (!may_jump())
        end_program();
    longjmp(innermost->back, 1);
}

/* Returns when the allocation is to be tried again. */
static void fail(int *tries)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    misses += *tries == 0;
    if ((*tries)++ == 0) {
        free(atomic_exchange(&reserve, NULL));
        return;
    }
    if (may_jump() || !atomic_load(&is_patient) || *tries > WAIT_MS / PAUSE_MS)
        ht_out_of_memory();
    nanosleep(&pause, NULL);
}

bool memory_try(void (*work)(void *context), void *context)
{
    struct boundary *const outer = innermost;
    struct boundary here = {.locks = locks};
    if (setjmp(here.back) != 0) {
        innermost = outer;
        atomic_fetch_add(&failures, 1);
        return false;
    }
    innermost = &here;
    work(context);
    innermost = outer;
    return true;
}

uint64_t memory_failures(void)
{
    return atomic_load(&failures);
}

uint64_t memory_misses(void)
{
    return misses;
}

/* --- the reserve --- */

bool memory_is_enough(void)
{
    if (!atomic_load(&is_patient) || atomic_load(&reserve) != NULL)
        return true;
    void *none = NULL, *made = malloc(RESERVE_BYTES);
    if (made != NULL && !atomic_compare_exchange_strong(&reserve, &none, made))
        free(made);
    return made != NULL;
}

bool memory_has(size_t bytes)
{
    if (!memory_is_enough())
        return false;
    void *probe = atomic_load(&is_patient) ? malloc(bytes) : NULL;
    const bool has = probe != NULL || !atomic_load(&is_patient);
    free(probe);
    return has;
}

void memory_reserve(void)
{
    atomic_store(&is_patient, true);
    (void)memory_is_enough();
}

void memory_lock(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    locks++;
}

void memory_unlock(pthread_mutex_t *mutex)
{
    locks--;
    pthread_mutex_unlock(mutex);
}

/* --- allocating --- */

void *memory_get(void *memory, size_t bytes)
{
    void *got = realloc(memory, bytes);
    if (got != NULL)
        return got;
    int tries = 0;
    fail(&tries);
    return realloc(memory, bytes);
}

void *ht_xcalloc(size_t n, size_t size)
{
    int tries = 0;
    void *memory;
    while ((memory = calloc(n ? n : 1, size ? size : 1)) == NULL)
        fail(&tries);
    return memory;
}

void *ht_xrealloc(void *memory, size_t n, size_t size)
{
    int tries = 0;
    void *grown;
    while ((grown = reallocarray(memory, n ? n : 1, size ? size : 1)) == NULL)
        fail(&tries);
    return grown;
}

char *ht_xstrdup(const char *text)
{
    const size_t len = strlen(text) + 1;
    return memcpy(ht_xrealloc(NULL, len, 1), text, len);
}
