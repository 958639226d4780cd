#include "proto/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

char *program_find(struct arena *arena, const char *name)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(self, '/');
    if (slash != NULL) {
        char *beside =
            arena_printf(arena, "%.*s/%s", (int)(slash - self), self, name);
        if (access(beside, X_OK) == 0)
            return beside;
    }
    return arena_strdup(arena, name);
}

/* A shared lock is refused exactly while a program holds the exclusive one. */
bool program_holds(const char *lock)
{
    const int fd = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}
