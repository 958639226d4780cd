/* Which word of a command is a script, and which commands leave it open. */
#include "hypertune/cli/spec/spec.h"

#include "proto/base/text.h"
#include "tests/check.h"

/* The script among the blank-separated words, "" for none; "-m " before a
 * module. */
static const char *script_of(struct arena *arena, const char *line)
{
    const char *items[16];
    struct strings command = {.n = 0, .items = items};
    char *rest = arena_strdup(arena, line), *word;
    while ((word = strsep(&rest, " ")) != NULL)
        items[command.n++] = word;
    bool module;
    const size_t i = cli_script_find(&command, &module);
    return i == 0 ? ""
                  : arena_printf(arena, "%s%s", module ? "-m " : "", items[i]);
}

static void an_interpreters_first_word_is_a_script(void)
{
    static const char *const cases[][2] = {
        {"python3 train.py --data x.csv", "train.py"},
        {"/opt/venv/bin/python3.11 -u -OO src/fit.py", "src/fit.py"},
        {"python -m trainer.task --x 1", "-m trainer.task"},
        {"sh -eu run.sh", "run.sh"},
        {"bash job", "job"},
        {"Rscript --vanilla fit.R", "fit.R"},
        {"julia fit.jl", "fit.jl"},
        {"node fit.js", "fit.js"},
        {"perl -w fit.pl", "fit.pl"}};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(script_of(arena, cases[i][0]), cases[i][1]);
    arena_free(arena);
}

static void what_is_not_certain_is_no_script(void)
{
    static const char *const cases[] = {"python3",
                                        "python3 -",
                                        "python3 -c print(1) x.py",
                                        "python3 -W ignore train.py",
                                        "python3 -m",
                                        "sh -c run.sh",
                                        "bash -o pipefail run.sh",
                                        "julia -t 4 fit.jl",
                                        "Rscript -e 1 fit.R",
                                        "pythonic train.py",
                                        "torchrun train.py",
                                        "./train data.py"};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(script_of(arena, cases[i]), "");
    arena_free(arena);
}

int main(void)
{
    RUN(an_interpreters_first_word_is_a_script);
    RUN(what_is_not_certain_is_no_script);
    return check_done();
}
