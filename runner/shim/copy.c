#include "runner/shim/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "runner/shim/child_shim.h"
#include "runner/shim/shim.h"

static bool copy(int from, int to)
{
    char bytes[64 * 1024];
    ssize_t n;
    while ((n = whole_read(from, bytes, sizeof bytes)) > 0)
        if (!whole_write(to, bytes, (size_t)n))
            return false;
    return n == 0 && fchmod(to, 0555) == 0;
}

int copy_run(const char *path)
{
    char aside[PATH_MAX];
    (void)snprintf(aside, sizeof aside, "%s.new", path);
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int to = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    const bool done = from >= 0 && to >= 0 && copy(from, to) &&
                      close(to) == 0 && rename(aside, path) == 0;
    if (!done)
        child_shim_say("cannot copy itself to %s: %s", path, strerror(errno));
    return done ? SHIM_DONE : SHIM_FAILED;
}
