/* runner/base/disk.h: how much a folder takes. */
#include "runner/base/disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

enum { KIB = 1024, BIG = 256 * KIB, ENOUGH = 100 * 1024 * KIB };

static void write_file(const char *folder, const char *name)
{
    char *bytes = ht_xcalloc(1, BIG);
    memset(bytes, 'x', BIG);
    CHECK(disk_write(folder, name, bytes, BIG, 0600, NULL) == HT_OK);
    free(bytes);
}

static void files_of_all_levels_are_counted(void)
{
    char folder[PATH_MAX], below[PATH_MAX + 8];
    runner_fixture_folder(folder);
    CHECK(disk_usage(folder, ENOUGH) < BIG);
    write_file(folder, "a");
    (void)snprintf(below, sizeof below, "%s/sub", folder);
    CHECK(mkdir(below, 0700) == 0);
    write_file(below, "b");
    const int64_t bytes = disk_usage(folder, ENOUGH);
    CHECK(bytes >= 2 * BIG && bytes < 3 * BIG);
}

static void links_lead_nowhere_and_holes_weigh_nothing(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 8];
    runner_fixture_folder(folder);
    (void)snprintf(path, sizeof path, "%s/link", folder);
    CHECK(symlink("/usr", path) == 0);
    (void)snprintf(path, sizeof path, "%s/hole", folder);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(ftruncate(fd, (off_t)8 * ENOUGH) == 0);
    close(fd);
    CHECK(disk_usage(folder, ENOUGH) < BIG);
    CHECK(disk_usage(path, ENOUGH) == 0); /* no folder at all */
}

static void counting_ends_when_it_is_enough(void)
{
    char folder[PATH_MAX];
    runner_fixture_folder(folder);
    write_file(folder, "a");
    CHECK(disk_usage(folder, KIB) > KIB);
}

static void very_deep_trees_count_as_too_much(void)
{
    char folder[PATH_MAX];
    const size_t len = strlen(runner_fixture_folder(folder));
    char *end = folder + len;
    for (int i = 0; i < 40; i++) {
        end = strcpy(end, "/d") + 2;
        CHECK(mkdir(folder, 0700) == 0);
    }
    folder[len] = '\0';
    CHECK(disk_usage(folder, ENOUGH) > ENOUGH);
}

static void set_written(const char *path, time_t at)
{
    const struct timespec times[2] = {{.tv_sec = at}, {.tv_sec = at}};
    CHECK(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0);
}

static void the_newest_file_of_all_levels_is_found(void)
{
    char folder[PATH_MAX], below[PATH_MAX + 8], file[PATH_MAX + 16];
    runner_fixture_folder(folder);
    CHECK(disk_newest_ms(folder) == 0);
    (void)snprintf(below, sizeof below, "%s/below", folder);
    CHECK(mkdir(below, 0700) == 0); /* newer than all files */
    write_file(folder, "a");
    (void)snprintf(file, sizeof file, "%s/a", folder);
    set_written(file, 1000);
    CHECK(disk_newest_ms(folder) == 1000000);
    write_file(below, "b");
    (void)snprintf(file, sizeof file, "%s/b", below);
    set_written(file, 2000);
    CHECK(disk_newest_ms(folder) == 2000000);
    CHECK(disk_written_ms(below, "b") == 2000000);
    CHECK(disk_written_ms(below, "c") == 0);
    CHECK(disk_newest_ms(file) == 0);
}

int main(void)
{
    runner_fixture_init();
    RUN(files_of_all_levels_are_counted);
    RUN(links_lead_nowhere_and_holes_weigh_nothing);
    RUN(counting_ends_when_it_is_enough);
    RUN(very_deep_trees_count_as_too_much);
    RUN(the_newest_file_of_all_levels_is_found);
    runner_fixture_fini();
    return check_done();
}
