/* The version of a command's Python and of its packages, without waiting. */
#include "runner/attempt/python_facts.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "runner/base/disk.h"
#include "tests/check.h"

static struct arena *arena;
static char folder[64];
static const struct site site = {.state = "/state"};

static struct python_facts facts_of(const char *program, const char *path)
{
    struct probes *probes = probes_new(&site);
    const char *const words[] = {program, "train.py"};
    const struct pair env[] = {{"PATH", path}, {"PYTHONPATH", folder}};
    const struct replica_order replica = {
        .argv = {2, words}, .env = {2, env}, .workdir = folder};
    const struct order order = {.n_replicas = 1};
    struct python_facts facts;
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    do {
        facts = python_facts_ask(probes, arena, &site, &order, &replica, 1000);
        usleep(1000);
    } while (!facts.known && clock_monotonic_ms() < end_ms);
    CHECK(facts.known);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    probes_free(probes);
    return facts;
}

static const char *version_of(const struct python_facts *facts,
                              const char *name)
{
    for (size_t i = 0; i < facts->packages.n; i++)
        if (strcmp(facts->packages.items[i].name, name) == 0)
            return facts->packages.items[i].value;
    return "(none)";
}

static void packages_are_found_as_the_trial_finds_them(void)
{
    static const char metadata[] = "Metadata-Version: 2.1\nName: xgboost\n"
                                   "Version: 9.8.7\n";
    const char *info =
        arena_printf(arena, "%s/xgboost-9.8.7.dist-info", folder);
    CHECK(disk_make_folder(info, NULL) == HT_OK);
    CHECK(disk_write(info, "METADATA", metadata, sizeof metadata - 1, 0600,
                     NULL) == HT_OK);
    const struct python_facts facts =
        facts_of("python3", "/nowhere:/usr/bin:/bin");
    CHECK(facts.version != NULL && strncmp(facts.version, "3.", 2) == 0);
    CHECK(facts.program != NULL && facts.program[0] == '/');
    CHECK_TEXT(version_of(&facts, "xgboost"), "9.8.7");
}

static void the_programs_of_the_path_and_the_folder_are_asked(void)
{
    static const char fake[] = "#!/bin/sh\necho Python 4.5.6\n"
                               "echo Program /opt/p\necho torch 7.7\n";
    CHECK(disk_write(folder, "python3", fake, sizeof fake - 1, 0700, NULL) ==
          HT_OK);
    const struct python_facts facts =
        facts_of("python3", arena_printf(arena, "%s:/usr/bin", folder));
    CHECK_TEXT(facts.version, "4.5.6");
    CHECK_TEXT(facts.program, "/opt/p");
    CHECK_TEXT(version_of(&facts, "torch"), "7.7");
    const struct python_facts same = facts_of("./python3", "/usr/bin");
    CHECK_TEXT(same.version, "4.5.6");
}

static void other_programs_are_not_run(void)
{
    static const char fake[] = "#!/bin/sh\ntouch ran\necho Python 4.5.6\n";
    CHECK(disk_write(folder, "pythonic", fake, sizeof fake - 1, 0700, NULL) ==
          HT_OK);
    CHECK(facts_of("pythonic", folder).version == NULL);
    CHECK(facts_of("sh", "/bin").version == NULL);
    CHECK(facts_of("python3.99", folder).version == NULL);
}

int main(void)
{
    const char *root = getenv("TMPDIR");
    arena = arena_new();
    snprintf(folder, sizeof folder, "%s/ht-py-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(folder) != NULL);
    RUN(packages_are_found_as_the_trial_finds_them);
    RUN(the_programs_of_the_path_and_the_folder_are_asked);
    RUN(other_programs_are_not_run);
    file_tree_remove(folder, NULL, NULL);
    arena_free(arena);
    return check_done();
}
