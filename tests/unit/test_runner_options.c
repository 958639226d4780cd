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

#define READ(lookup, ...)                                                      \
    do {                                                                       \
        char *argv_[] = {(char[]){"hypertune-runner"}, __VA_ARGS__, NULL};     \
        text_clear(&out);                                                      \
        status = runner_options_read((int)(sizeof argv_ / sizeof *argv_) - 1,  \
                                     argv_, lookup, &options, &out, &err);     \
    } while (0)

static struct runner_options options;
static enum ht_status status;
static struct ht_error err;
static struct text out;

#define WORD(text) ((char[]){text})
#define NEEDED WORD("--server=http://h:1"), WORD("--token-file"), WORD("f")

static void defaults_fill_what_is_not_said(void)
{
    READ(nothing, NEEDED);
    CHECK(status == HT_OK && out.len == 0);
    CHECK_TEXT(options.server, "http://h:1");
    CHECK_TEXT(options.token_file, "f");
    CHECK_TEXT(options.engine, "process");
    CHECK(options.slots == 1 && options.state == NULL);
    CHECK(!options.exit_when_alone);
}

static void flags_win_over_the_environment(void)
{
    READ(slots_of_environment, NEEDED);
    CHECK(status == HT_OK && options.slots == 7);
    READ(slots_of_environment, NEEDED, WORD("--slots"), WORD("3"),
         WORD("--exit-when-alone"));
    CHECK(status == HT_OK && options.slots == 3 && options.exit_when_alone);
}

static void wrong_values_are_told_with_their_flag(void)
{
    READ(nothing, NEEDED, WORD("--slots"), WORD("0"));
    CHECK(status == HT_INVALID && strstr(err.text, "--slots") != NULL);
    READ(nothing, NEEDED, WORD("--slots=2x"));
    CHECK(status == HT_INVALID);
    READ(nothing, NEEDED, WORD("--slots"));
    CHECK_TEXT(err.text, "--slots needs a value: N");
    READ(nothing, NEEDED, WORD("--slot"), WORD("1"));
    CHECK_TEXT(err.text, "unknown flag \"--slot\", see --help");
    READ(nothing, NEEDED, WORD("more"));
    CHECK_TEXT(err.text, "unexpected argument \"more\"");
    READ(nothing, WORD("--token-file=f"));
    CHECK_TEXT(err.text, "--server URL is required, see --help");
    READ(nothing, WORD("--token-file=f"), WORD("--server=tcp://h:1"));
    CHECK(status == HT_INVALID && strstr(err.text, "http://") != NULL);
}

static void an_engine_of_another_version_is_refused_with_what_there_is(void)
{
    READ(nothing, NEEDED, WORD("--engine=slurm"));
    CHECK(status == HT_INVALID);
    CHECK_TEXT(err.text,
               "--engine: this version has no \"slurm\"; it has: process");
}

static void help_shows_every_flag_and_variable(void)
{
    READ(nothing, WORD("--help"));
    CHECK(status == HT_OK);
    static const char *const words[] = {
        "--server URL", "--token-file FILE",  "--engine ENGINE",
        "--slots N",    "--exit-when-alone",  "HYPERTUNE_RUNNER_STATE",
        "--version",    "Engines: process\n",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK(strstr(out.data, words[i]) != NULL);
}

int main(void)
{
    RUN(defaults_fill_what_is_not_said);
    RUN(flags_win_over_the_environment);
    RUN(wrong_values_are_told_with_their_flag);
    RUN(an_engine_of_another_version_is_refused_with_what_there_is);
    RUN(help_shows_every_flag_and_variable);
    text_free(&out);
    return check_done();
}
