#include "proto/base/release.h"

#include <stdlib.h>

struct release {
    long major, minor;
};

static bool read_release(const char *text, struct release *release)
{
    char *end, *last;
    release->major = strtol(text, &end, 10);
    if (end == text || *end != '.' || release->major < 0)
        return false;
    release->minor = strtol(end + 1, &last, 10);
    return last > end + 1 && *last == '.' && release->minor >= 0;
}

bool release_fits(const char *ours, const char *theirs)
{
    struct release a, b;
    return !read_release(ours, &a) || !read_release(theirs, &b) ||
           (a.major == b.major && labs(a.minor - b.minor) <= 1);
}
