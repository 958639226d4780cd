/* What a tree of processes and a control group use, by folders that look like
 * the kernel's. */
#include "runner/base/tree_use.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "runner/base/disk.h"
#include "tests/lib/runner_fixture.h"

static struct arena *arena;

static void put(const char *folder, const char *name, const char *text)
{
    CHECK(disk_make_folder(folder, NULL) == HT_OK);
    CHECK(disk_replace(folder, name, text, strlen(text), 0644, NULL) == HT_OK);
}

/* Each of the four times is `ticks`. */
static const char *put_process(const char *proc, int pid, int parent, int ticks,
                               int pages)
{
    const char *folder = arena_printf(arena, "%s/%d", proc, pid);
    put(folder, "stat",
        arena_printf(arena,
                     "%d (a) R (b c) S %d 1 1 0 -1 0 1 2 3 4 %d %d %d %d 20 0 "
                     "1 0 777 4096 %d 99 1 2 3",
                     pid, parent, ticks, ticks, ticks, ticks, pages));
    return folder;
}

static void all_below_the_root_count_once(void)
{
    char proc[PATH_MAX];
    struct tree_use use;
    const long page = sysconf(_SC_PAGESIZE);
    const int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    runner_fixture_folder(proc);
    put(proc, "uptime", "1 1");
    put_process(proc, 1, 0, 100, 100);
    put_process(proc, 50, 1, 100, 100); /* the root */
    put_process(proc, 60, 50, 1, 10);
    put_process(proc, 7, 60, 10, 20); /* a number that was used again */
    const char *shared = put_process(proc, 8, 7, 100, 30);
    put(shared, "smaps_rollup",
        "1-2 ---p 0 0:0 0 [rollup]\nRss: 9000 kB\nPss:    12 kB\n"
        "Pss_Anon: 5 kB\n");
    put_process(proc, 70, 1, 1000, 1000);
    CHECK(tree_use_read(proc, 50, &use));
    CHECK(use.cpu_us == 444 * tick_us);
    CHECK(use.memory == 30 * page + 12288);
    CHECK(tree_use_read(proc, 8, &use) && use.cpu_us == 0 && use.memory == 0);
    CHECK(!tree_use_read("/nowhere", 1, &use));
}

static void a_group_says_it_all(void)
{
    char group[PATH_MAX];
    struct tree_use use = {.cpu_us = 5};
    runner_fixture_folder(group);
    CHECK(!tree_use_read_group(group, &use) && use.cpu_us == 5);
    put(group, "cpu.stat", "usage_usec 123456\nuser_usec 1\n");
    put(group, "memory.current", "5000000\n");
    CHECK(!tree_use_read_group(group, &use) && use.cpu_us == 5);
    put(group, "memory.stat", "anon 1\nfile 2\ninactive_file 2000000\n");
    CHECK(tree_use_read_group(group, &use));
    CHECK(use.cpu_us == 123456 && use.memory == 3000000);
}

static void this_process_is_below_its_parent(void)
{
    struct tree_use use;
    CHECK(tree_use_read("/proc", getppid(), &use) && use.memory > 0);
}

int main(void)
{
    runner_fixture_init();
    arena = arena_new();
    RUN(all_below_the_root_count_once);
    RUN(a_group_says_it_all);
    RUN(this_process_is_below_its_parent);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
