/* What is given to a guest's user, and what Landlock hides from it. */
#include "runner/shim/confine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "runner/base/disk.h"
#include "tests/lib/runner_fixture.h"

enum { FIRST = 70100, LAST = 70109, STRANGER = 70200 };

static struct arena *arena;
static char root[PATH_MAX];

static const char *in_root(const char *name)
{
    return arena_printf(arena, "%s/%s", root, name);
}

static void make(const char *name, uid_t owner)
{
    const char *path = in_root(name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && fchown(fd, owner, owner) == 0);
    close(fd);
}

static uid_t owner_of(const char *name)
{
    struct stat status;
    return lstat(in_root(name), &status) == 0 ? status.st_uid : (uid_t)-1;
}

static bool is_guest(uid_t uid)
{
    return uid >= FIRST && uid <= LAST;
}

/* root/given has files of several owners and links out of it. */
static void fill(void)
{
    CHECK(disk_make_folder(in_root("given/deep"), NULL) == HT_OK);
    CHECK(chown(in_root("given/deep"), LAST, LAST) == 0);
    make("given/deep/left", LAST);
    make("given/deep/roots", 0);
    make("given/strangers", STRANGER);
    make("victim", LAST);
    CHECK(symlink(in_root("victim"), in_root("given/deep/link")) == 0);
    CHECK(symlink(root, in_root("given/folder")) == 0);
    CHECK(symlink(root, in_root("way")) == 0);
}

static void only_what_guests_left_is_given_on(void)
{
    if (geteuid() != 0)
        return;
    fill();
    const char *const given[] = {"given"}, *const led[] = {"way/given"};
    struct guest guest = {.first_uid = FIRST,
                          .last_uid = LAST,
                          .given_root = root,
                          .given = {1, given}};
    uid_t uid;
    struct ht_error err;
    CHECK(confine_claim(&guest, NULL, &uid, &err) == HT_OK);
    CHECK(is_guest(uid) && owner_of("given") == uid);
    CHECK(owner_of("given/deep") == uid);
    CHECK(owner_of("given/deep/left") == uid);
    CHECK(owner_of("given/deep/roots") == 0);
    CHECK(owner_of("given/strangers") == STRANGER);
    CHECK(owner_of("victim") == LAST);
    CHECK(owner_of("") == 0);
    guest.given = (struct strings){1, led};
    CHECK(confine_claim(&guest, NULL, &uid, &err) == HT_IO);
}

static bool opens(const char *name)
{
    const int fd = open(in_root(name), O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int look(const struct guest *guest)
{
    struct confined self;
    const pid_t pid = confine_fork(guest, &self);
    if (pid == 0) {
        if (!confine_hide(guest, &self))
            _exit(1);
        _exit(opens("seen") && opens("hidden/kept") && !opens("hidden/file")
                  ? 0
                  : 2);
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void hidden_is_all_but_what_is_kept(void)
{
    CHECK(disk_make_folder(in_root("hidden"), NULL) == HT_OK);
    make("seen", geteuid());
    make("hidden/file", geteuid());
    make("hidden/kept", geteuid());
    const char *const hidden[] = {in_root("hidden")};
    const char *const kept[] = {in_root("hidden/kept")};
    struct guest guest = {.hidden = {1, hidden}, .kept = {1, kept}};
    CHECK(look(&guest) == 2);
    for (int i = SANDBOX_LANDLOCK; i <= SANDBOX_NAMESPACES; i++) {
        guest.sandbox = (enum sandbox)i;
        if (confine_works(guest.sandbox))
            CHECK(look(&guest) == 0);
        else
            printf("# this machine has no %s\n", sandbox_name(guest.sandbox));
    }
}

int main(void)
{
    runner_fixture_init();
    arena = arena_new();
    char folder[PATH_MAX];
    CHECK(realpath(runner_fixture_folder(folder), root) != NULL);
    RUN(only_what_guests_left_is_given_on);
    RUN(hidden_is_all_but_what_is_kept);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
