#include "runner/base/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
    int fd;                  /* the folder reached so far; owned */
    const char *rest;        /* of the path, without leading slashes */
    char part[NAME_MAX + 1]; /* the step just taken out of `rest` */
};

static bool walk_start(struct walk *walk, const char *root, const char *path)
{
    walk->fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    walk->rest = path + strspn(path, "/");
    return walk->fd >= 0;
}

/* False with errno when the step cannot be taken. */
static bool take_part(struct walk *walk)
{
    const size_t len = strcspn(walk->rest, "/");
    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    (void)snprintf(walk->part, sizeof walk->part, "%.*s", (int)len, walk->rest);
    if (strcmp(walk->part, "..") == 0) {
        errno = EXDEV;
        return false;
    }
    walk->rest += len;
    walk->rest += strspn(walk->rest, "/");
    return true;
}

static void move_to(struct walk *walk, int fd)
{
    const int code = errno;
    close(walk->fd);
    errno = code;
    walk->fd = fd;
}

/* O_NOFOLLOW with O_PATH opens the link itself. */
static bool is_link(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISLNK(status.st_mode);
}

int safe_path_open(const char *root, const char *path)
{
    struct walk walk;
    if (!walk_start(&walk, root, path))
        return -1;
    while (walk.rest[0] != '\0') {
        int fd = -1;
        if (take_part(&walk))
            fd = openat(walk.fd, walk.part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && is_link(fd)) {
            close(fd);
            fd = -1;
            errno = ELOOP;
        }
        move_to(&walk, fd);
        if (fd < 0)
            break;
    }
    return walk.fd;
}

static int enter(int folder, const char *name, mode_t mode)
{
    const bool made = mkdirat(folder, name, mode) == 0;
    if (!made && errno != EEXIST)
        return -1;
    const int fd =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made && fd >= 0)
        (void)fchmod(fd, mode); /* whatever the umask */
    return fd;
}

enum ht_status safe_path_make(const char *root, const char *path,
                              const struct safe_path_modes *modes,
                              struct ht_error *err)
{
    struct walk walk;
    if (!walk_start(&walk, root, path))
        return ht_fail_errno(err, errno, "cannot open folder %s", root);
    while (walk.fd >= 0 && walk.rest[0] != '\0')
        move_to(&walk, take_part(&walk)
                           ? enter(walk.fd, walk.part, modes->parents)
                           : -1);
    int code = errno;
    bool done = walk.fd >= 0;
    if (done) {
        done = fchmod(walk.fd, modes->last) == 0;
        code = errno;
        close(walk.fd);
    }
    if (done)
        return HT_OK;
    if (code == ELOOP || code == ENOTDIR || code == EXDEV)
        return ht_fail(err, HT_PRECONDITION,
                       "%s/%s passes something that is not a folder", root,
                       path);
    return ht_fail_errno(err, code, "cannot make folder %s/%s", root, path);
}

const char *safe_path_rest(const char *root, const char *path)
{
    size_t len = strlen(root);
    while (len > 0 && root[len - 1] == '/')
        len--;
    if (strncmp(root, path, len) != 0 ||
        (path[len] != '/' && path[len] != '\0'))
        return NULL;
    return path + len + strspn(path + len, "/");
}
