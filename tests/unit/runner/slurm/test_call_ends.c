/* Commands as children: what they get, and what their ends mean. */
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/slurm/call.h"

static struct arena *arena;
static struct call_answer answer;
static struct ht_error err;

static enum ht_status run_for(const char *script, const char *input,
                              int64_t patience_ms)
{
    const struct call_place here = {.ssh = NULL};
    const char *const argv[] = {"env", "A=b", "sh", "-c", script, NULL};
    const struct call call = {.argv = argv,
                              .input = input,
                              .until_ms = clock_monotonic_ms() + patience_ms};
    err = (struct ht_error){.text = ""};
    return call_run(arena, &here, &call, &answer, &err);
}

static enum ht_status run(const char *script, const char *input)
{
    return run_for(script, input, PATIENCE_MS);
}

static void a_command_has_its_input_and_says_what_it_prints(void)
{
    CHECK(run("cat; echo $A; echo no >&2; exit 7", "text\n") == HT_OK);
    CHECK(answer.exit == 7);
    CHECK_TEXT(answer.output, "text\nb\n");
    CHECK_TEXT(answer.errors, "no\n");
    /* Longer than a pipe, and not read. */
    char *input = malloc(1 << 20);
    memset(input, 'x', (1 << 20) - 1);
    input[(1 << 20) - 1] = '\0';
    CHECK(run("true", input) == HT_OK && answer.exit == 0);
    CHECK(run("cat", input) == HT_OK);
    CHECK_TEXT(answer.output, input);
    free(input);
    CHECK(run("cat", NULL) == HT_OK);
    CHECK_TEXT(answer.output, "");
}

static void an_end_that_is_not_its_own_is_no_answer(void)
{
    CHECK(run("kill -9 $$", NULL) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "sh was killed, or was too slow");
    /* As a shell says it of its child. */
    CHECK(run("sh -c 'kill -9 $$'; exit $?", NULL) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "sh was killed");
    CHECK(run_for("sleep 1000", NULL, 50) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "sh was killed, or was too slow");
    /* What it started is ended, too. */
    CHECK(run_for("sleep 1000 & sleep 1000", NULL, 50) == HT_UNAVAILABLE);
}

static void a_program_that_is_absent_is_said(void)
{
    const struct call_place here = {.ssh = NULL};
    const char *const argv[] = {"env", "A=b", "no-such-program", NULL};
    const char *const alone[] = {"no-such-program", NULL};
    struct call call = {.argv = argv,
                        .until_ms = clock_monotonic_ms() + PATIENCE_MS};
    CHECK(call_run(arena, &here, &call, &answer, &err) == HT_NOT_FOUND);
    CHECK_TEXT(err.text, "there is no no-such-program");
    call.argv = alone;
    CHECK(call_run(arena, &here, &call, &answer, &err) == HT_NOT_FOUND);
    CHECK_TEXT(err.text, "there is no no-such-program in PATH");
}

static void options_in_the_environment_are_left_out(void)
{
    setenv("SBATCH_PARTITION", "nope", 1);
    setenv("SQUEUE_FORMAT", "%i", 1);
    setenv("SLURM_CLUSTERS", "other", 1);
    setenv("SLURM_CONF", "/a b", 1);
    setenv("SLURM_JWT", "token", 1);
    setenv("SLURMX", "mine", 1);
    CHECK(run("env | sed -n 's/^S\\(LURM\\|BATCH\\|QUEUE\\)/&/p' | sort",
              NULL) == HT_OK);
    CHECK_TEXT(answer.output, "SLURMX=mine\nSLURM_CONF=/a b\n"
                              "SLURM_JWT=token\n");
}

static void a_host_without_a_master_says_what_to_do(void)
{
    const struct call_place far = {.ssh = "host.invalid",
                                   .control = "/nonexistent/%C"};
    const char *const argv[] = {"env", "squeue", NULL};
    const struct call call = {.argv = argv,
                              .until_ms = clock_monotonic_ms() + PATIENCE_MS};
    if (system("command -v ssh >/dev/null") != 0)
        SKIP("openssh-client is not installed");
    CHECK(call_run(arena, &far, &call, &answer, &err) == HT_UNAVAILABLE);
    CHECK_TEXT(err.text, "no connection to host.invalid is open; a person "
                         "opens one by `hypertune runners connect "
                         "host.invalid`");
}

int main(void)
{
    arena = arena_new();
    RUN(a_command_has_its_input_and_says_what_it_prints);
    RUN(an_end_that_is_not_its_own_is_no_answer);
    RUN(a_program_that_is_absent_is_said);
    RUN(options_in_the_environment_are_left_out);
    RUN(a_host_without_a_master_says_what_to_do);
    arena_free(arena);
    return check_done();
}
