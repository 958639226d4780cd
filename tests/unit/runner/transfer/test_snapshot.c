/* Parts of a trial's checkpoints as they are at one moment. */
#include "runner/transfer/snapshot.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "tests/check.h"

static char top[256], from[PATH_MAX], into[PATH_MAX];

/* Runs it in the folder with "from" and "into"; whether it succeeds. */
static bool shell(const char *command)
{
    char line[PATH_MAX];
    (void)snprintf(line, sizeof line, "cd '%s' && { %s; } >/dev/null 2>&1", top,
                   command);
    return system(line) == 0;
}

static void begin(const char *command)
{
    (void)snprintf(top, sizeof top, "%s/snap-XXXXXX", getenv("TMPDIR"));
    CHECK(mkdtemp(top) != NULL);
    (void)snprintf(from, sizeof from, "%s/from", top);
    (void)snprintf(into, sizeof into, "%s/into", top);
    CHECK(mkdir(from, 0700) == 0 && shell(command));
}

static enum ht_status take(const char *path, struct ht_error *err)
{
    return snapshot_make(from, path, into, err);
}

static void all_of_a_folder_is_there(void)
{
    struct ht_error err;
    begin("cd from; mkdir -p a/b empty; echo 1 >a/b/c; echo 2 >d; ln -s d l");
    CHECK(take("", &err) == HT_OK);
    CHECK(shell("test \"$(cat into/a/b/c into/d)\" = \"$(printf '1\\n2')\" "
                "&& test -d into/empty && test \"$(readlink into/l)\" = d"));
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void what_is_replaced_or_removed_stays(void)
{
    struct ht_error err;
    begin("echo 1 >from/d; mkdir from/a; echo 2 >from/a/b");
    CHECK(take("", &err) == HT_OK);
    CHECK(shell("echo 9 >from/new; mv from/new from/d; rm -r from/a"));
    CHECK(shell("test \"$(cat into/d into/a/b)\" = \"$(printf '1\\n2')\""));
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void a_part_keeps_its_path(void)
{
    struct ht_error err;
    begin("mkdir -p from/e/3 from/e/4; echo 3 >from/e/3/w; echo 4 >from/e/4/w");
    CHECK(take("e/3", &err) == HT_OK);
    CHECK(shell("test \"$(cat into/e/3/w)\" = 3 && ! test -e into/e/4"));
    CHECK(shell("rm -r into"));
    CHECK(take("e/4/w", &err) == HT_OK);
    CHECK(shell("test \"$(cat into/e/4/w)\" = 4 && ! test -e into/e/3"));
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void what_is_not_there_is_not_found(void)
{
    struct ht_error err;
    begin("true");
    CHECK(take("a", &err) == HT_NOT_FOUND);
    CHECK(shell("rm -r into"));
    CHECK(take("a/b", &err) == HT_NOT_FOUND);
    CHECK(shell("rmdir from; rm -rf into"));
    CHECK(take("", &err) == HT_NOT_FOUND);
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void nothing_outside_is_reached(void)
{
    static const char *const paths[] = {"..",     "a/..", "../secret", "link",
                                        "in/key", "in",   "pipe"};
    struct ht_error err;
    begin("echo s >secret; mkdir out; echo k >out/key; cd from; "
          "ln -s ../secret link; ln -s ../out in; mkfifo pipe; mkdir a; "
          "echo 1 >a/b; ln -s ../../out a/in");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const enum ht_status status = take(paths[i], &err);
        if (status != HT_PRECONDITION)
            printf("# %s: %d\n", paths[i], (int)status);
        CHECK(status == HT_PRECONDITION);
        CHECK(shell("! test -e into/key && rm -rf into"));
    }
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void links_are_taken_as_they_are_and_pipes_not_at_all(void)
{
    struct ht_error err;
    begin("mkdir out; cd from; ln -s ../out in; mkfifo pipe; mkdir a; "
          "echo 1 >a/b; ln -s ../../out a/in");
    CHECK(take("", &err) == HT_OK);
    CHECK(shell("test -L into/a/in && test -L into/in && "
                "! test -e into/pipe && test -f into/a/b"));
    CHECK(shell("rm -rf into from; ln -s out from"));
    CHECK(take("", &err) == HT_PRECONDITION);
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

/* A runner that is not root, and files that its container made as root. */
static void files_of_other_users_are_copied(void)
{
    struct ht_error err;
    if (geteuid() != 0) {
        puts("# only root can make files of other users");
        return;
    }
    begin("mkdir from/a; echo 1 >from/a/b; chmod -R go+rX .; chmod 777 .");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const bool other = chdir(top) == 0 && /* passes what is above it */
                           setresuid(65534, 65534, 65534) == 0;
        _exit(other && snapshot_make("from", "", "into", &err) == HT_OK ? 0
                                                                        : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(shell("test \"$(cat into/a/b)\" = 1 && "
                "test \"$(stat -c %u into/a/b)\" = 65534"));
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void what_changes_these_minutes_is_copied(void)
{
    struct ht_error err;
    int64_t may_copy = 10;
    begin("mkdir from/a; echo 1 >from/a/log; echo 1234567890 >from/large; "
          "echo 1 >from/old; touch -d '1 hour ago' from/old");
    CHECK(snapshot_freeze(from, into, &may_copy, &err) == HT_OK);
    CHECK(may_copy == 8);
    CHECK(shell("echo 2 >>from/a/log; echo 2 >>from/large; echo 2 >>from/old"));
    CHECK(shell("test \"$(cat into/a/log)\" = 1"));
    CHECK(shell("test from/large -ef into/large && "
                "test from/old -ef into/old"));
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

static void folders_in_each_other_have_an_end(void)
{
    struct ht_error err;
    begin("cd from; for i in $(seq 150); do mkdir d; cd d; done");
    CHECK(take("", &err) == HT_PRECONDITION);
    CHECK(file_tree_remove(top, NULL, &err) == HT_OK);
}

int main(void)
{
    RUN(all_of_a_folder_is_there);
    RUN(what_is_replaced_or_removed_stays);
    RUN(a_part_keeps_its_path);
    RUN(what_is_not_there_is_not_found);
    RUN(nothing_outside_is_reached);
    RUN(links_are_taken_as_they_are_and_pipes_not_at_all);
    RUN(files_of_other_users_are_copied);
    RUN(what_changes_these_minutes_is_copied);
    RUN(folders_in_each_other_have_an_end);
    return check_done();
}
