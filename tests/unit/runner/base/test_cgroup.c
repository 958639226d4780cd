/* Which control groups limit a replica, on folders that look like the kernel's.
 */
#include "tests/check.h"

#include "runner/base/cgroup.h"
#include "runner/base/disk.h"
#include "tests/lib/runner_fixture.h"

static struct arena *arena;
static char mount[PATH_MAX];

static void put(const char *folder, const char *name, const char *text)
{
    const char *path = arena_printf(arena, "%s%s", mount, folder);
    CHECK(disk_make_folder(path, NULL) == HT_OK);
    CHECK(disk_replace(path, name, text, strlen(text), 0644, NULL) == HT_OK);
}

static const char *content(const char *path)
{
    struct disk_bytes bytes = {.data = NULL};
    CHECK(disk_read(arena, mount, path, 1000, &bytes, NULL) == HT_OK);
    return bytes.data;
}

/* "FILE=VALUE FILE=VALUE", without the mount. */
static const char *plan(const struct cgroup_places *places, struct guest *guest)
{
    const struct cgroup_limits limits = {
        .memory = 64 << 20, .pids = 40, .cpus = 1.5};
    struct text out = {0};
    *guest = (struct guest){.sandbox = SANDBOX_NONE};
    cgroup_plan(arena, places, &limits, "t-1", guest);
    for (size_t i = 0; i < guest->cgroup_files.n; i++)
        text_printf(&out, "%s%s=%s", i > 0 ? " " : "",
                    guest->cgroup_files.items[i].name + strlen(mount),
                    guest->cgroup_files.items[i].value);
    return text_take(&out, arena);
}

static void version_2_needs_a_group_of_the_runners_own(void)
{
    struct cgroup_places places;
    struct guest guest;
    runner_fixture_folder(mount);
    put("/unit", "cgroup.controllers", "cpuset cpu io memory pids\n");
    put("/unit", "cgroup.subtree_control", "");
    put("/unit/runner", "cgroup.procs", "");
    cgroup_find(arena, mount, "0::/unit\n", &places);
    CHECK(places.unified);
    CHECK_TEXT(content("unit/runner/cgroup.procs"), "0");
    CHECK_TEXT(content("unit/cgroup.subtree_control"), "+memory +pids +cpu");
    CHECK_TEXT(plan(&places, &guest),
               "/unit/t-1/memory.max=67108864 /unit/t-1/pids.max=40 "
               "/unit/t-1/cpu.max=150000 100000");
    CHECK(guest.cgroups.n == 1);
    cgroup_find(arena, mount, "0::/elsewhere\n", &places);
    CHECK(!places.unified && places.folders[CGROUP_MEMORY] == NULL);
    CHECK_TEXT(plan(&places, &guest), "");
}

static void version_1_has_a_folder_for_each(void)
{
    struct cgroup_places places;
    struct guest guest;
    runner_fixture_folder(mount);
    put("/memory/a", "x", "");
    put("/cpu", "x", "");
    cgroup_find(arena, mount,
                "5:cpu,cpuacct:/\n4:memory:/a\n3:pids:/none\n0::/\n", &places);
    CHECK(places.folders[CGROUP_PIDS] == NULL);
    CHECK_TEXT(plan(&places, &guest),
               "/memory/a/t-1/memory.limit_in_bytes=67108864 "
               "/cpu/t-1/cpu.cfs_period_us=100000 "
               "/cpu/t-1/cpu.cfs_quota_us=150000");
    CHECK(guest.cgroups.n == 2);
}

static void a_kill_for_want_of_memory_is_found(void)
{
    runner_fixture_folder(mount);
    const char *group = mount;
    const struct guest guest = {.cgroups = {.n = 1, .items = &group}};
    CHECK(!cgroup_was_full(&guest));
    put("", "memory.events", "low 0\noom 1\noom_kill 0\n");
    CHECK(!cgroup_was_full(&guest));
    put("", "memory.events", "low 0\noom 1\noom_kill 2\n");
    CHECK(cgroup_was_full(&guest));
}

static void a_group_that_cannot_be_limited_is_named(void)
{
    struct ht_error err;
    const char *group = "/proc/none";
    const struct guest guest = {.cgroups = {.n = 1, .items = &group}};
    CHECK(cgroup_make(&guest, &err) == HT_IO);
    CHECK(strstr(err.text, "/proc/none") != NULL);
}

int main(void)
{
    runner_fixture_init();
    arena = arena_new();
    RUN(version_2_needs_a_group_of_the_runners_own);
    RUN(version_1_has_a_folder_for_each);
    RUN(a_kill_for_want_of_memory_is_found);
    RUN(a_group_that_cannot_be_limited_is_named);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
