#include "proto/base/release.h"

#include <stdio.h>
#include <stdlib.h>

struct release {
    int major, minor;
};

static bool read_release(const char *text, struct release *release)
{
    return sscanf(text, "%9d.%9d.", &release->major, &release->minor) == 2;
}

bool release_fits(const char *ours, const char *theirs)
{
    struct release a, b;
    return !read_release(ours, &a) || !read_release(theirs, &b) ||
           (a.major == b.major && abs(a.minor - b.minor) <= 1);
}
