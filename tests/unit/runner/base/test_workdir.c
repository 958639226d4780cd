#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/base/workdir.h"
#include "tests/lib/runner_fixture.h"

static char top[PATH_MAX];

static const char *path_of(const char *name)
{
    static char paths[4][PATH_MAX + 64];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static void put(const char *name, const char *content, mode_t mode)
{
    FILE *file = fopen(path_of(name), "w");
    CHECK(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(path_of(name), mode) == 0);
}

static const char *read_back(const char *name)
{
    static char content[256];
    FILE *file = fopen(path_of(name), "r");
    const size_t n =
        file != NULL ? fread(content, 1, sizeof content - 1, file) : 0;
    content[n] = '\0';
    if (file != NULL)
        fclose(file);
    return file != NULL ? content : NULL;
}

static void stage(void)
{
    runner_fixture_folder(top);
    CHECK(mkdir(path_of("from"), 0755) == 0);
    CHECK(mkdir(path_of("from/sub"), 0700) == 0);
    put("from/train.sh", "echo", 0755);
    put("from/out.csv", "left", 0644);
    put("from/sub/out.csv", "kept", 0600);
    put("data", "outside", 0644);
}

static enum ht_status copy_without_events(void)
{
    const struct workdir_order order = {
        .from = path_of("from"), .into = path_of("into"), .no_events = true};
    return workdir_copy(&order, NULL);
}

static enum ht_status copy(const char *left_out, const char *state,
                           struct ht_error *err)
{
    const struct workdir_order order = {.from = path_of("from"),
                                        .into = path_of("into"),
                                        .left_out = left_out,
                                        .state = state};
    return workdir_copy(&order, err);
}

static void files_folders_modes_and_times_are_kept(void)
{
    struct stat from, into;
    stage();
    CHECK(chmod(path_of("from/sub"), 0500) == 0);
    CHECK(copy(NULL, NULL, NULL) == HT_OK);
    CHECK_TEXT(read_back("into/sub/out.csv"), "kept");
    CHECK(stat(path_of("from/train.sh"), &from) == 0 &&
          stat(path_of("into/train.sh"), &into) == 0);
    CHECK(from.st_mode == into.st_mode && from.st_ino != into.st_ino);
    CHECK(from.st_mtim.tv_sec == into.st_mtim.tv_sec &&
          from.st_mtim.tv_nsec == into.st_mtim.tv_nsec);
    CHECK(stat(path_of("into/sub"), &into) == 0 &&
          (into.st_mode & 0777) == 0700); /* so that it can be removed */
    put("into/sub/out.csv", "other", 0600);
    CHECK_TEXT(read_back("from/sub/out.csv"), "kept");
}

static void the_metrics_file_is_left_out(void)
{
    stage();
    CHECK(copy("./out.csv", NULL, NULL) == HT_OK);
    CHECK(read_back("into/out.csv") == NULL);
    CHECK_TEXT(read_back("into/sub/out.csv"), "kept");
    stage();
    CHECK(copy("sub//out.csv", NULL, NULL) == HT_OK);
    CHECK_TEXT(read_back("into/out.csv"), "left");
    CHECK(read_back("into/sub/out.csv") == NULL);
}

static void event_files_are_left_out_if_wanted(void)
{
    stage();
    put("from/sub/events.out.tfevents.1.host", "left", 0644);
    CHECK(copy_without_events() == HT_OK);
    CHECK(read_back("into/sub/events.out.tfevents.1.host") == NULL);
    CHECK_TEXT(read_back("into/sub/out.csv"), "kept");
    stage();
    put("from/sub/events.out.tfevents.1.host", "left", 0644);
    CHECK(copy(NULL, NULL, NULL) == HT_OK);
    CHECK_TEXT(read_back("into/sub/events.out.tfevents.1.host"), "left");
}

static void links_lead_where_they_led(void)
{
    char target[PATH_MAX];
    stage();
    CHECK(symlink("sub/out.csv", path_of("from/inside")) == 0);
    CHECK(symlink("../out.csv", path_of("from/sub/up")) == 0);
    CHECK(symlink("../data", path_of("from/outside")) == 0);
    CHECK(symlink("../../data", path_of("from/sub/outside")) == 0);
    CHECK(symlink("/nowhere", path_of("from/absolute")) == 0);
    CHECK(copy(NULL, NULL, NULL) == HT_OK);
    put("into/sub/out.csv", "copy", 0600);
    CHECK_TEXT(read_back("into/inside"), "copy");
    CHECK_TEXT(read_back("into/sub/up"), "left");
    CHECK_TEXT(read_back("into/outside"), "outside");
    CHECK_TEXT(read_back("into/sub/outside"), "outside");
    const ssize_t n =
        readlink(path_of("into/absolute"), target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    CHECK_TEXT(target, "/nowhere");
}

static void what_is_ours_or_no_file_is_left_out(void)
{
    stage();
    CHECK(mkdir(path_of("from/runs"), 0700) == 0);
    put("from/runs/lease.json", "{}", 0600);
    CHECK(mkdir(path_of("from/server"), 0700) == 0);
    put("from/server/hypertune.db", "", 0600);
    CHECK(mkfifo(path_of("from/pipe"), 0600) == 0);
    CHECK(copy(NULL, path_of("from/runs"), NULL) == HT_OK);
    CHECK(access(path_of("into/runs"), F_OK) != 0);
    CHECK(access(path_of("into/server"), F_OK) != 0);
    CHECK(access(path_of("into/pipe"), F_OK) != 0);
    CHECK_TEXT(read_back("into/train.sh"), "echo");
}

/* The state folder may lie in the folder, and the copy in it. */
static void a_copy_below_its_folder_ends(void)
{
    stage();
    CHECK(mkdir(path_of("from/runs"), 0700) == 0);
    const struct workdir_order order = {.from = path_of("from"),
                                        .into = path_of("from/runs/copy"),
                                        .state = path_of("from/runs")};
    CHECK(workdir_copy(&order, NULL) == HT_OK);
    CHECK_TEXT(read_back("from/runs/copy/train.sh"), "echo");
    CHECK(access(path_of("from/runs/copy/runs"), F_OK) != 0);
}

static void what_cannot_be_copied_is_reported(void)
{
    struct ht_error err;
    stage();
    const struct workdir_order none = {.from = path_of("no"),
                                       .into = path_of("into")};
    CHECK(workdir_copy(&none, &err) == HT_NOT_FOUND);
    CHECK(strstr(err.text, "does not exist") != NULL);
    put("from/large", "", 0600);
    CHECK(truncate(path_of("from/large"),
                   ((off_t)WORKDIR_MEGABYTES + 1) * 1024 * 1024) == 0);
    const enum ht_status status = copy(NULL, NULL, &err);
    CHECK(status == HT_TOO_LARGE || status == HT_OK); /* where it is shared */
    CHECK(status == HT_OK || strstr(err.text, "too large to copy") != NULL);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(files_folders_modes_and_times_are_kept);
    RUN(the_metrics_file_is_left_out);
    RUN(event_files_are_left_out_if_wanted);
    RUN(links_lead_where_they_led);
    RUN(what_is_ours_or_no_file_is_left_out);
    RUN(a_copy_below_its_folder_ends);
    RUN(what_cannot_be_copied_is_reported);
    runner_fixture_fini();
    return check_done();
}
