/* runner/element/modules.h: a trainer has what `module load` has set, and
 * nothing else of the batch script's environment. */
#include "runner/element/modules.h"

#include <string.h>

#include "tests/check.h"

static const char before[] = "HOME=/root\n"
                             "TOKEN=secret\n"
                             "PATH=/usr/bin:/bin\n"
                             "TEXT=one\n"
                             "CUDA_HOME=/usr\n"
                             "PWD=/tmp\n"
                             "LAST=1";

static const char *find(const struct pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].value;
    return "(none)";
}

static void what_is_new_or_different_has_changed(void)
{
    static char *const environment[] = {"HOME=/root",
                                        "TOKEN=secret",
                                        "PATH=/apps/bin:/usr/bin:/bin",
                                        "TEXT=one",
                                        "CUDA_HOME=/apps/cuda",
                                        "LOADEDMODULES=cuda",
                                        "PWD=/batch",
                                        "SHLVL=1",
                                        "_=/usr/bin/env",
                                        "SLURM_X=1",
                                        "HYPERTUNE_X=1",
                                        "BASH_FUNC_ml%%=() {",
                                        "ONE=on",
                                        "LAST=1",
                                        "odd",
                                        NULL};
    struct arena *arena = arena_new();
    const struct pairs changes = modules_changes(arena, before, environment);
    CHECK(changes.n == 4);
    CHECK_TEXT(find(&changes, "PATH"), "/apps/bin:/usr/bin:/bin");
    CHECK_TEXT(find(&changes, "CUDA_HOME"), "/apps/cuda");
    CHECK_TEXT(find(&changes, "LOADEDMODULES"), "cuda");
    CHECK_TEXT(find(&changes, "ONE"), "on");
    arena_free(arena);
}

static void without_a_text_of_before_nothing_has(void)
{
    static char *const environment[] = {"A=1", NULL};
    struct arena *arena = arena_new();
    CHECK(modules_changes(arena, NULL, environment).n == 0);
    CHECK(modules_changes(arena, "", environment).n == 1);
    arena_free(arena);
}

static void folders_of_modules_come_after_the_trials_own(void)
{
    const struct pair env[] = {
        {"PATH", "/home/u/venv/bin:/usr/local/bin:/usr/bin:/bin"},
        {"LD_LIBRARY_PATH", ""},
        {"OMP_NUM_THREADS", "4"}};
    const struct pair changed[] = {
        {"PATH", "/apps/python/bin:/usr/local/bin:/usr/bin:/bin"},
        {"LD_LIBRARY_PATH", "/apps/lib"},
        {"OMP_NUM_THREADS", "1"},
        {"CUDA_HOME", "/apps/cuda"}};
    const struct pairs changes = {4, changed};
    struct launch launch = {.env = {3, env}};
    struct arena *arena = arena_new();
    modules_put(arena, &changes, &launch);
    CHECK(launch.env.n == 4);
    CHECK_TEXT(
        find(&launch.env, "PATH"),
        "/home/u/venv/bin:/apps/python/bin:/usr/local/bin:/usr/bin:/bin");
    CHECK_TEXT(find(&launch.env, "LD_LIBRARY_PATH"), "/apps/lib");
    CHECK_TEXT(find(&launch.env, "OMP_NUM_THREADS"), "4");
    CHECK_TEXT(find(&launch.env, "CUDA_HOME"), "/apps/cuda");
    arena_free(arena);
}

int main(void)
{
    RUN(what_is_new_or_different_has_changed);
    RUN(without_a_text_of_before_nothing_has);
    RUN(folders_of_modules_come_after_the_trials_own);
    return check_done();
}
