#include "tests/check.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/slurm/call.h"

static enum ht_status run(struct arena *arena, const char *script, int abort,
                          struct call_answer *answer)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct call call = {.argv = argv,
                              .input = "input",
                              .until_ms = clock_monotonic_ms() + PATIENCE_MS};
    const struct call_place here = {.abort = abort};
    struct ht_error err;
    return call_run(arena, &here, &call, answer, &err);
}

static void a_call_has_output_errors_and_a_code(void)
{
    struct arena *arena = arena_new();
    struct call_answer answer;
    CHECK(run(arena, "cat; echo words >&2; exit 3", 0, &answer) == HT_OK);
    CHECK(answer.exit == 3);
    CHECK_TEXT(answer.output, "input");
    CHECK_TEXT(answer.errors, "words\n");
    arena_free(arena);
}

/* Also when it has closed its output. */
static void an_aborted_call_ends_at_once(void)
{
    struct arena *arena = arena_new();
    struct call_answer answer;
    const int64_t begin = clock_monotonic_ms();
    const int abort = eventfd(1, EFD_CLOEXEC);
    CHECK(run(arena, "sleep 1000", abort, &answer) == HT_UNAVAILABLE);
    CHECK(run(arena, "exec sleep 1000 >&- 2>&-", abort, &answer) ==
          HT_UNAVAILABLE);
    CHECK(clock_monotonic_ms() - begin < PATIENCE_MS);
    close(abort);
    arena_free(arena);
}

int main(void)
{
    RUN(a_call_has_output_errors_and_a_code);
    RUN(an_aborted_call_ends_at_once);
    return check_done();
}
