#include "runner/shim/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syscall.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "runner/shim/landlock.h"

/* Locks of the uids that guests of this machine have; of root's alone. */
static const char claims[] = "/run/hypertune-uids";

/* ---- a uid for one trial ---- */

/* The lock lasts as long as this process. */
static bool claim(uid_t uid)
{
    char path[64];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/%u", claims, (unsigned)uid);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && status.st_uid == 0 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    close(fd);
    return false;
}

static enum ht_status find_uid(const struct guest *guest, uid_t *uid,
                               struct ht_error *err)
{
    const uint64_t n = (uint64_t)(guest->last_uid - guest->first_uid) + 1;
    if (guest->shared_uid) {
        *uid = (uid_t)guest->first_uid;
        return HT_OK;
    }
    const enum ht_status status = disk_make_folder(claims, err);
    if (status != HT_OK)
        return status;
    /* Shims that start together do not try the same ones. */
    for (uint64_t i = 0; i < n; i++) {
        *uid =
            (uid_t)((uint64_t)guest->first_uid + ((uint64_t)getpid() + i) % n);
        if (claim(*uid))
            return HT_OK;
    }
    return ht_fail(err, HT_IO, "no user id is free from %lld to %lld: see %s",
                   (long long)guest->first_uid, (long long)guest->last_uid,
                   claims);
}

static gid_t gid_of(const struct guest *guest, uid_t uid)
{
    return guest->gid > 0 ? (gid_t)guest->gid : (gid_t)uid;
}

struct owner {
    const struct guest *guest;
    uid_t uid;
    gid_t gid;
};

/* What a guest left is given to the next one; what is anybody else's is left
 * alone. Closes the descriptor, which is O_PATH. */
static bool give(const struct owner *owner, int fd, int depth);

/* By descriptors, since another replica may exchange names meanwhile. */
static bool give_entries(const struct owner *owner, int folder, int depth)
{
    enum { MOST_LEVELS = 64 };
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    bool done = dir != NULL;
    while (done && depth < MOST_LEVELS && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const int below =
            openat(fd, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        done = below >= 0 ? give(owner, below, depth + 1) : errno == ENOENT;
    }
    if (dir != NULL)
        closedir(dir);
    return done;
}

static bool give(const struct owner *owner, int fd, int depth)
{
    struct stat status;
    bool done = fstat(fd, &status) == 0;
    const bool left = done && status.st_uid >= owner->guest->first_uid &&
                      status.st_uid <= owner->guest->last_uid;
    if (left || (done && depth == 0 && status.st_uid == 0))
        done = fchownat(fd, "", owner->uid, owner->gid, AT_EMPTY_PATH) == 0;
    if (done && S_ISDIR(status.st_mode))
        done = give_entries(owner, fd, depth);
    close(fd);
    return done;
}

static enum ht_status give_all(const struct guest *guest, uid_t uid,
                               struct ht_error *err)
{
    const struct owner owner = {guest, uid, gid_of(guest, uid)};
    for (size_t i = 0; guest->given_root != NULL && i < guest->given.n; i++) {
        const int fd = safe_path_open(guest->given_root, guest->given.items[i]);
        if (fd < 0 || !give(&owner, fd, 0))
            return ht_fail_errno(err, errno, "cannot give %s/%s to user %u",
                                 guest->given_root, guest->given.items[i],
                                 (unsigned)uid);
    }
    return HT_OK;
}

enum ht_status confine_claim(const struct guest *guest, const char *folder,
                             uid_t *uid, struct ht_error *err)
{
    *uid = 0;
    if (guest->first_uid == 0)
        return HT_OK;
    const enum ht_status status = find_uid(guest, uid, err);
    if (status != HT_OK)
        return status;
    /* It makes files in its folder and cannot exchange ours. */
    if (folder != NULL && chmod(folder, 01777) != 0)
        return ht_fail_errno(err, errno, "cannot open up %s", folder);
    return give_all(guest, *uid, err);
}

/* ---- namespaces ---- */

pid_t confine_fork(const struct guest *guest, struct confined *self)
{
    *self = (struct confined){.uid = geteuid(), .gid = getegid()};
    if (guest->sandbox != SANDBOX_NAMESPACES)
        return fork();
    const int user = self->uid != 0 ? CLONE_NEWUSER : 0;
    return (pid_t)syscall(
        SYS_clone, CLONE_NEWNS | CLONE_NEWPID | user | SIGCHLD, 0, 0, 0, 0);
}

/* In a new user namespace, the same user without any other. */
static bool map_user(const struct confined *self)
{
    char map[64];
    (void)snprintf(map, sizeof map, "%u %u 1", (unsigned)self->uid,
                   (unsigned)self->uid);
    if (!disk_write_kernel("/proc/self/uid_map", map) ||
        !disk_write_kernel("/proc/self/setgroups", "deny"))
        return false;
    (void)snprintf(map, sizeof map, "%u %u 1", (unsigned)self->gid,
                   (unsigned)self->gid);
    return disk_write_kernel("/proc/self/gid_map", map);
}

/* A file, which may be gone by now, or a folder. */
static bool cover(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT;
    if (!S_ISDIR(status.st_mode))
        return mount("/dev/null", path, NULL, MS_BIND, NULL) == 0;
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 "mode=0755,size=1m") == 0;
}

/* Puts a file or folder of before the cover at its path again. */
static bool uncover(int tree, const char *path)
{
    char part[PATH_MAX];
    struct stat status;
    (void)snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    if (fstat(tree, &status) != 0)
        return false;
    if (S_ISDIR(status.st_mode)) {
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return false;
    } else {
        const int fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
        if (fd < 0)
            return false;
        close(fd);
    }
    return move_mount(tree, "", AT_FDCWD, part, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

static bool mount_around(const struct guest *guest, int trees[])
{
    for (size_t i = 0; i < guest->kept.n; i++) {
        trees[i] =
            open_tree(AT_FDCWD, guest->kept.items[i],
                      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        if (trees[i] < 0 && errno != ENOENT)
            return false;
    }
    for (size_t i = 0; i < guest->hidden.n; i++) {
        if (!cover(guest->hidden.items[i]))
            return false;
    }
    for (size_t i = 0; i < guest->kept.n; i++) {
        if (trees[i] >= 0 && !uncover(trees[i], guest->kept.items[i]))
            return false;
    }
    return true;
}

/* The mounts at the path and below it; false with errno. */
static bool make_read_only(const char *path)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    return mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attributes,
                         sizeof attributes) == 0 ||
           errno == ENOENT || errno == EINVAL; /* it is no mount */
}

/* Root needs no capability to write there: it could leave its control group,
 * change the kernel's settings or restart the machine. */
static bool lock_kernel(void)
{
    static const char *const switches[] = {"/proc/sys", "/proc/sysrq-trigger",
                                           "/proc/irq", "/proc/bus"};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (access(switches[i], F_OK) != 0)
            continue;
        if (mount(switches[i], switches[i], NULL, MS_BIND, NULL) != 0 ||
            !make_read_only(switches[i]))
            return false;
    }
    return make_read_only("/sys");
}

static bool enter_namespaces(const struct guest *guest,
                             const struct confined *self)
{
    if (self->uid != 0 && !map_user(self))
        return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
        return false;
    int *trees = calloc(guest->kept.n + 1, sizeof *trees);
    if (trees == NULL)
        return false;
    const mode_t mask = umask(0);
    const bool done = mount_around(guest, trees);
    umask(mask);
    free(trees); /* their descriptors end with exec */
    return done &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 NULL) == 0 &&
           lock_kernel();
}

bool confine_hide(const struct guest *guest, const struct confined *self)
{
    switch (guest->sandbox) {
    case SANDBOX_NAMESPACES:
        return enter_namespaces(guest, self);
    case SANDBOX_LANDLOCK:
        return landlock_hide(guest);
    case SANDBOX_NONE:
        return true;
    }
    return false;
}

/* ---- the first process of the namespaces ---- */

static void pass_signals(pid_t child, int *status)
{
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        const int number = sigwaitinfo(&all, NULL);
        if (number > 0 && number != SIGCHLD) {
            kill(-child, number);
            if (getpgid(child) != child)
                kill(child, number); /* it has left its group */
        }
        pid_t pid;
        while ((pid = waitpid(-1, status, WNOHANG)) > 0) {
            if (pid == child)
                return;
        }
    }
}

static bool drop_capabilities(const uint32_t kept[2])
{
    struct __user_cap_header_struct header = {.version =
                                                  _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    for (int i = 0; i < 2; i++)
        data[i] = (struct __user_cap_data_struct){kept[i], kept[i], 0};
    return syscall(SYS_capset, &header, data) == 0;
}

/* The trainer may have this process's user: it must find nothing in it. */
_Noreturn static void be_first(pid_t child, int report)
{
    const uint32_t none[2] = {0, 0};
    int status = 0;
    prctl(PR_SET_DUMPABLE, 0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (!drop_capabilities(none))
        _exit(1);
    pass_signals(child, &status);
    (void)!write(report, &status, sizeof status);
    _exit(0);
}

bool confine_begin(const struct guest *guest, int given_up, int report)
{
    if (guest->sandbox != SANDBOX_NAMESPACES)
        return true;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t child = fork();
    if (child > 0) {
        close(given_up);
        be_first(child, report);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child == 0 && setpgid(0, 0) == 0;
}

/* ---- user, capabilities, limits ---- */

/* What root keeps in a sandbox: as in Docker's containers, without devices
 * (CAP_MKNOD). */
static const uint32_t usual_capabilities =
    1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FSETID |
    1U << CAP_FOWNER | 1U << CAP_NET_RAW | 1U << CAP_SETGID | 1U << CAP_SETUID |
    1U << CAP_SETPCAP | 1U << CAP_NET_BIND_SERVICE | 1U << CAP_SYS_CHROOT |
    1U << CAP_KILL;

static bool limit_capabilities(uint32_t kept)
{
    for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++) {
        if ((i >= 32 || (kept >> i & 1) == 0) &&
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
            return false;
    }
    return drop_capabilities((const uint32_t[2]){kept, 0});
}

static bool set_limit(unsigned resource, int64_t most)
{
    struct rlimit limit;
    if (most == 0)
        return true;
    if (getrlimit(resource, &limit) != 0)
        return false;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)most)
        limit.rlim_max = (rlim_t)most;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

static bool become(const struct guest *guest, uid_t uid)
{
    gid_t groups[NGROUPS_MAX];
    size_t n = 0;
    const gid_t gid = gid_of(guest, uid);
    for (; n < guest->groups.n && n < NGROUPS_MAX; n++)
        groups[n] = (gid_t)strtoul(guest->groups.items[n], NULL, 10);
    return setgroups(n, groups) == 0 && setresgid(gid, gid, gid) == 0 &&
           setresuid(uid, uid, uid) == 0;
}

static bool has_capabilities(void)
{
    return prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0) == 1 && geteuid() == 0;
}

bool confine_join(const struct guest *guest)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < guest->cgroups.n; i++) {
        (void)snprintf(path, sizeof path, "%s/cgroup.procs",
                       guest->cgroups.items[i]);
        if (!disk_write_kernel(path, "0"))
            return false;
    }
    return true;
}

bool confine_drop(const struct guest *guest, uid_t uid)
{
    if (!set_limit(RLIMIT_FSIZE, guest->file_bytes) ||
        !set_limit(RLIMIT_NPROC, guest->processes))
        return false;
    const bool sandboxed = guest->sandbox != SANDBOX_NONE;
    if (uid != 0 && (!limit_capabilities(1U << CAP_SETUID | 1U << CAP_SETGID) ||
                     !become(guest, uid)))
        return false;
    if (uid == 0 && sandboxed && has_capabilities() &&
        !limit_capabilities(usual_capabilities))
        return false;
    return !(sandboxed || uid != 0) ||
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* ---- what there is ---- */

bool confine_works(enum sandbox sandbox)
{
    const struct guest guest = {.sandbox = sandbox};
    struct confined self;
    int status = 0;
    const pid_t pid = confine_fork(&guest, &self);
    if (pid == 0)
        _exit(confine_hide(&guest, &self) ? 0 : 1);
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum sandbox confine_best(void)
{
    return confine_works(SANDBOX_NAMESPACES) ? SANDBOX_NAMESPACES
           : confine_works(SANDBOX_LANDLOCK) ? SANDBOX_LANDLOCK
                                             : SANDBOX_NONE;
}
