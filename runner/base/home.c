#include "runner/base/home.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char home_removed[] = "the trial removed its own folder, "
                            "HYPERTUNE_TRIAL_DIR, which the runner removes "
                            "later";
static const char locked[] = "the trial locked its own folder, "
                             "HYPERTUNE_TRIAL_DIR, which the runner removes "
                             "later";

void home_note(struct home *home, const char *folder)
{
    struct stat status;
    *home = (struct home){0};
    if (lstat(folder, &status) == 0)
        *home = (struct home){.device = (uint64_t)status.st_dev,
                              .inode = (uint64_t)status.st_ino};
}

const char *home_lost(const struct home *home, const char *folder)
{
    struct stat status;
    if (home->inode == 0)
        return NULL;
    if (lstat(folder, &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return home_removed;
        return errno == EACCES ? locked : NULL;
    }
    if (!S_ISDIR(status.st_mode) || (uint64_t)status.st_dev != home->device ||
        (uint64_t)status.st_ino != home->inode)
        return home_removed;
    return access(folder, R_OK | W_OK | X_OK) != 0 && errno == EACCES ? locked
                                                                      : NULL;
}

static void reclaim(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return;
    if (!S_ISDIR(status.st_mode))
        (void)unlink(path);
    else if ((status.st_mode & S_IRWXU) != S_IRWXU)
        (void)chmod(path, status.st_mode | S_IRWXU);
}

void home_reclaim(const char *state, const char *folder)
{
    char part[PATH_MAX];
    const size_t len = strlen(folder);
    size_t i = strlen(state) + 1;
    if (len >= sizeof part || i > len)
        return;
    for (; i <= len; i++) {
        if (folder[i] != '/' && folder[i] != '\0')
            continue;
        memcpy(part, folder, i);
        part[i] = '\0';
        reclaim(part);
    }
}
