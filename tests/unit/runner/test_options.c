#include "tests/check.h"

#include <stdlib.h>

#include "runner/options.h"

static char *nothing(const char *name)
{
    (void)name;
    return NULL;
}

static char *slots_of_environment(const char *name)
{
    static char seven[] = "7";
    return strcmp(name, "HYPERTUNE_RUNNER_SLOTS") == 0 ? seven : NULL;
}

enum { WORDS = 16, WORD_BYTES = 64 };

static struct runner_options options;
static enum ht_status status;
static struct ht_error err;
static struct text out;

/* The options point into argv, so the words outlive the call as main's do. */
static void read_words(char *(*lookup)(const char *name),
                       const char *const words[])
{
    static char storage[WORDS][WORD_BYTES];
    char *argv[WORDS + 1];
    int n = 0;
    for (; words[n] != NULL; n++) {
        snprintf(storage[n], WORD_BYTES, "%s", words[n]);
        argv[n] = storage[n];
    }
    argv[n] = NULL;
    text_clear(&out);
    const struct flags_source source = {n, argv, lookup};
    status = runner_options_read(&source, &options, &out, &err);
}

#define READ(lookup, ...)                                                      \
    read_words(lookup,                                                         \
               (const char *const[]){"hypertune-runner", __VA_ARGS__, NULL})
#define NEEDED "--server=http://localhost:1", "--token-file", "f"

static void defaults_fill_what_is_not_said(void)
{
    READ(nothing, NEEDED);
    CHECK(status == HT_OK && out.len == 0);
    CHECK_TEXT(options.server, "http://localhost:1");
    CHECK_TEXT(options.token_file, "f");
    CHECK_TEXT(options.engine, "process");
    CHECK(options.slots == 0 && options.state == NULL);
    CHECK(options.gpus == NULL);
    CHECK(!options.exit_when_alone && !options.share);
    CHECK(options.allow == NULL && options.volume_root == NULL);
}

static void flags_win_over_the_environment(void)
{
    READ(slots_of_environment, NEEDED);
    CHECK(status == HT_OK && options.slots == 7);
    READ(slots_of_environment, NEEDED, "--slots", "3", "--exit-when-alone",
         "--gpus=0,1");
    CHECK(status == HT_OK && options.slots == 3 && options.exit_when_alone);
    CHECK_TEXT(options.gpus, "0,1");
}

static void wrong_values_are_reported_with_their_flag(void)
{
    READ(nothing, NEEDED, "--slots", "0");
    CHECK(status == HT_INVALID && strstr(err.text, "--slots") != NULL);
    READ(nothing, NEEDED, "--slots=2x");
    CHECK(status == HT_INVALID);
    READ(nothing, NEEDED, "--slots");
    CHECK_TEXT(err.text, "--slots needs a value: --slots N");
    READ(nothing, NEEDED, "--slot", "1");
    CHECK_TEXT(err.text,
               "hypertune-runner has no option --slot (did you mean --slots?)");
    READ(nothing, NEEDED, "more");
    CHECK_TEXT(err.text, "unexpected argument \"more\"");
    READ(nothing, "--token-file=f");
    CHECK_TEXT(err.text, "--server URL is required, see --help");
    READ(nothing, "--token-file=f", "--server=tcp://h:1");
    CHECK(status == HT_INVALID && strstr(err.text, "http://") != NULL);
}

static void an_engine_of_another_version_is_refused_with_what_there_is(void)
{
    READ(nothing, NEEDED, "--engine=cray");
    CHECK(status == HT_INVALID);
    CHECK(strstr(err.text, "this version has no \"cray\"; it has: ") != NULL);
    CHECK(strstr(err.text, ENGINE_NAMES) != NULL);
}

static void help_shows_every_flag_and_variable(void)
{
    READ(nothing, "--help");
    CHECK(status == HT_OK);
    const char *const words[] = {
        "--server URL",           "--token-file FILE",
        "--engine ENGINE",        "--slots N",
        "--gpus N|all|0,1,...",   "--exit-when-alone",
        "HYPERTUNE_RUNNER_STATE", "--version",
        "--volume-root DIR,...",  "--allow NAME,...",
        "--docker-host URL",      "--slurm-rest URL",
        "--slurm-defaults FILE",  "all nodes must have it",
        "host-network",           ENGINE_NAMES,
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK(strstr(out.data, words[i]) != NULL);
}

int main(void)
{
    RUN(defaults_fill_what_is_not_said);
    RUN(flags_win_over_the_environment);
    RUN(wrong_values_are_reported_with_their_flag);
    RUN(an_engine_of_another_version_is_refused_with_what_there_is);
    RUN(help_shows_every_flag_and_variable);
    text_free(&out);
    return check_done();
}
