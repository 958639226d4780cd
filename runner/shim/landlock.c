#include "runner/shim/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
enum { SCOPE_SIGNAL = 1 << 1 };
struct ruleset {
    uint64_t files, network, scoped;
};

/* Of files, and of folders as well, from version 1 on. */
enum {
    TO_FILES = 1 << 0 | 1 << 1 | 1 << 2,
    TRUNCATE = 1 << 14,
    DEVICES = 1 << 15
};

/* All rights about files that the version knows. */
static uint64_t rights_of(int version)
{
    static const int bits[] = {0, 13, 14, 15, 15, 16};
    enum { KNOWN = sizeof bits / sizeof *bits - 1 };
    return ((uint64_t)1 << bits[version < KNOWN ? version : KNOWN]) - 1;
}

int landlock_version(void)
{
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
                                 LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

/* What vanished meanwhile needs no rule. */
static bool allow(int rules, uint64_t rights, const char *path)
{
    struct stat status;
    const int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES;
    bool done = fstat(fd, &status) == 0;
    if (done && !S_ISLNK(status.st_mode)) {
        if (!S_ISDIR(status.st_mode))
            rights &= TO_FILES | TRUNCATE | DEVICES;
        const struct landlock_path_beneath_attr rule = {
            .allowed_access = rights, .parent_fd = fd};
        done = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
                       &rule, 0) == 0;
    }
    close(fd);
    return done;
}

/* Whether `path` is `other` or above it. */
static bool is_above(const char *path, const char *other)
{
    const size_t len = strcmp(path, "/") == 0 ? 0 : strlen(path);
    return strncmp(path, other, len) == 0 &&
           (other[len] == '/' || other[len] == '\0');
}

static bool leads_to_hidden(const struct guest *guest, const char *path)
{
    for (size_t i = 0; i < guest->hidden.n; i++) {
        if (is_above(path, guest->hidden.items[i]))
            return true;
    }
    return false;
}

static bool is_hidden(const struct guest *guest, const char *path)
{
    for (size_t i = 0; i < guest->hidden.n; i++) {
        if (strcmp(path, guest->hidden.items[i]) == 0)
            return true;
    }
    return false;
}

/* Allows the folder but what is hidden below it. */
static bool allow_around(const struct guest *guest, int rules, uint64_t rights,
                         const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return errno == EACCES || errno == ENOENT;
    bool done = allow(rules, LANDLOCK_ACCESS_FS_READ_DIR, folder);
    struct dirent *entry;
    while (done && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s",
                       strcmp(folder, "/") == 0 ? "" : folder, entry->d_name);
        if (!leads_to_hidden(guest, path))
            done = allow(rules, rights, path);
        else if (!is_hidden(guest, path))
            done = allow_around(guest, rules, rights, path);
    }
    closedir(dir);
    return done;
}

bool landlock_hide(const struct guest *guest)
{
    const int version = landlock_version();
    const uint64_t rights = rights_of(version);
    const struct ruleset wanted = {
        .files = rights,
        .scoped = version >= LANDLOCK_SIGNALS ? SCOPE_SIGNAL : 0};
    const size_t size =
        version >= LANDLOCK_SIGNALS ? sizeof wanted : sizeof wanted.files;
    const int rules =
        (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
    if (rules < 0)
        return false;
    bool done = allow_around(guest, rules, rights, "/");
    for (size_t i = 0; done && i < guest->kept.n; i++)
        done = allow(rules, rights, guest->kept.items[i]);
    done = done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}
