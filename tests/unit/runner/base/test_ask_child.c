#include "runner/base/ask_child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "tests/check.h"

static struct child_answer answer;

/* /bin/sh -c script, with `most` bytes and so much time. */
static int ask(const char *script, const char *input, size_t most,
               int64_t limit_ms)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct child_question question = {
        .argv = argv,
        .input = input,
        .most = most,
        .deadline_ms = clock_monotonic_ms() + limit_ms};
    text_free(&answer.output);
    text_free(&answer.errors);
    return child_ask(&question, &answer);
}

static void a_program_gets_its_input_and_says_its_answer(void)
{
    CHECK(ask("cat; echo why >&2; exit 3", "what", 100, PATIENCE_MS) == 0);
    CHECK(WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 3);
    CHECK_TEXT(answer.output.data, "what");
    CHECK_TEXT(answer.errors.data, "why\n");
    CHECK(ask("cat", NULL, 100, PATIENCE_MS) == 0);
    CHECK(answer.status == 0 && answer.output.len == 0);
}

static void what_is_too_much_or_too_slow_is_killed(void)
{
    CHECK(ask("exec yes", NULL, 1000, PATIENCE_MS) == 0);
    CHECK(WIFSIGNALED(answer.status) && answer.output.len > 1000);
    CHECK(ask("sleep 1000 & wait", NULL, 1000, 50) == 0);
    CHECK(WIFSIGNALED(answer.status) && WTERMSIG(answer.status) == SIGKILL);
    /* Much at its stderr is read, and not kept. */
    CHECK(ask("yes | head -c 300000 >&2; echo done", NULL, 100, PATIENCE_MS) ==
          0);
    CHECK_TEXT(answer.output.data, "done\n");
    CHECK(answer.errors.len == 4096);
}

static void a_process_that_keeps_its_stderr_does_not_hold_the_answer(void)
{
    CHECK(ask("sleep 1000 >/dev/null & echo $!", NULL, 100, PATIENCE_MS) == 0);
    CHECK(answer.status == 0 && answer.output.len > 0);
    const long pid = strtol(answer.output.data, NULL, 10);
    CHECK(pid > 1 && kill((pid_t)pid, SIGKILL) == 0);
}

static void a_program_that_is_missing_has_no_answer(void)
{
    const char *const argv[] = {"no-such-program", NULL};
    const struct child_question question = {
        .argv = argv, .deadline_ms = clock_monotonic_ms() + PATIENCE_MS};
    struct child_answer none;
    CHECK(child_ask(&question, &none) == ENOENT);
}

int main(void)
{
    RUN(a_program_gets_its_input_and_says_its_answer);
    RUN(what_is_too_much_or_too_slow_is_killed);
    RUN(a_process_that_keeps_its_stderr_does_not_hold_the_answer);
    RUN(a_program_that_is_missing_has_no_answer);
    text_free(&answer.output);
    text_free(&answer.errors);
    return check_done();
}
