/* Memory that runs out: where it jumps to, and where it may not. */
#include "proto/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

/* The sanitizers end a program that asks for too much, unless told not to. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static int exit_code_of(void (*work)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        work();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct steps {
    int begun, ended;
    bool inner;
};

static void step(void *context)
{
    struct steps *steps = context;
    steps->begun++;
    free(ht_xcalloc(1, 100));
    steps->ended++;
}

static void fail_after_a_step(void *context)
{
    step(context);
    ht_xrealloc(NULL, SIZE_MAX / 2, 3);
    ((struct steps *)context)->ended++;
}

static void try_inside(void *context)
{
    struct steps *steps = context;
    steps->inner = memory_try(fail_after_a_step, steps);
    step(steps);
}

static void work_ends_where_memory_does(void)
{
    struct steps steps = {0};
    const uint64_t failures = memory_failures(), misses = memory_misses();
    CHECK(memory_try(step, &steps));
    CHECK(memory_failures() == failures);
    CHECK(!memory_try(fail_after_a_step, &steps));
    CHECK(steps.begun == 2 && steps.ended == 2);
    CHECK(memory_failures() == failures + 1);
    CHECK(memory_misses() > misses);
}

static void the_innermost_work_alone_ends(void)
{
    struct steps steps = {.inner = true};
    CHECK(memory_try(try_inside, &steps));
    CHECK(!steps.inner);
    CHECK(steps.begun == 2 && steps.ended == 2);
}

static void get_returns_null_and_keeps_what_was(void)
{
    char *kept = memory_get(NULL, 8);
    kept[7] = 'x';
    const uint64_t misses = memory_misses();
    CHECK(memory_get(kept, SIZE_MAX / 2) == NULL);
    CHECK(memory_misses() == misses + 1);
    CHECK(kept[7] == 'x');
    free(kept);
}

static void fail_under_a_lock(void *context)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)context;
    memory_lock(&lock);
    ht_xrealloc(NULL, SIZE_MAX / 2, 3);
}

static void try_under_a_lock(void)
{
    (void)memory_try(fail_under_a_lock, NULL);
}

static void try_within_a_lock(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct steps steps = {0};
    memory_lock(&lock);
    const bool whole = memory_try(fail_after_a_step, &steps);
    memory_unlock(&lock);
    _exit(whole ? 1 : 7);
}

static void no_jump_leaves_a_lock_behind(void)
{
    CHECK(exit_code_of(try_under_a_lock) == 1);
    CHECK(exit_code_of(try_within_a_lock) == 7);
}

static void spend_the_reserve(void)
{
    struct steps steps = {0};
    memory_reserve();
    const bool before = memory_is_enough();
    const bool whole = memory_try(fail_after_a_step, &steps);
    /* It is made again at once where there is memory. */
    _exit(before && !whole && memory_is_enough() && memory_has(1 << 20) &&
                  !memory_has(SIZE_MAX / 2)
              ? 7
              : 1);
}

static void a_spent_reserve_is_made_again(void)
{
    CHECK(exit_code_of(spend_the_reserve) == 7);
}

int main(void)
{
    RUN(work_ends_where_memory_does);
    RUN(the_innermost_work_alone_ends);
    RUN(get_returns_null_and_keeps_what_was);
    RUN(no_jump_leaves_a_lock_behind);
    RUN(a_spent_reserve_is_made_again);
    return check_done();
}
