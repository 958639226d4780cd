#include "proto/base/file_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

enum { PATH_BYTES = 256, LEVELS = 200 };

static char root[PATH_BYTES];

static const char *in_root(const char *name)
{
    static char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void make_file(const char *name)
{
    const int fd = open(in_root(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    close(fd);
}

/* from/{a,deep/b} and a link to outside/c. */
static void begin(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/tree-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
    CHECK(mkdir(in_root("from"), 0700) == 0);
    CHECK(mkdir(in_root("from/deep"), 0700) == 0);
    CHECK(mkdir(in_root("outside"), 0700) == 0);
    make_file("from/a");
    make_file("from/deep/b");
    make_file("outside/c");
    CHECK(symlink("../outside", in_root("from/link")) == 0);
}

static void end(void)
{
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
}

static void removing_stays_inside(void)
{
    struct ht_error err;
    begin();
    CHECK(chmod(in_root("from/deep"), 0) == 0);
    CHECK(file_tree_remove(in_root("from"), NULL, NULL) == HT_OK);
    CHECK(access(in_root("from"), F_OK) != 0);
    CHECK(access(in_root("outside/c"), F_OK) == 0);
    CHECK(file_tree_remove(in_root("from"), NULL, &err) == HT_IO);
    end();
}

static void a_link_is_no_folder(void)
{
    begin();
    CHECK(file_tree_remove(in_root("from/link"), NULL, NULL) == HT_IO);
    CHECK(access(in_root("outside/c"), F_OK) == 0);
    end();
}

static void the_last_file_goes_with_the_folder(void)
{
    begin();
    CHECK(file_tree_remove(in_root("from"), "a", NULL) == HT_OK);
    CHECK(access(in_root("from"), F_OK) != 0);
    end();
}

static void no_tree_is_too_deep(void)
{
    begin();
    int folder = open(in_root("from"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < LEVELS; i++) {
        CHECK(mkdirat(folder, "d", 0700) == 0);
        const int next = openat(folder, "d", O_RDONLY | O_DIRECTORY);
        close(folder);
        folder = next;
    }
    close(folder);
    CHECK(file_tree_remove(in_root("from"), NULL, NULL) == HT_OK);
    end();
}

int main(void)
{
    RUN(removing_stays_inside);
    RUN(a_link_is_no_folder);
    RUN(the_last_file_goes_with_the_folder);
    RUN(no_tree_is_too_deep);
    return check_done();
}
