#include "tuner/base/failpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool failpoint_arm(struct failpoint *failpoint, const char *text)
{
    *failpoint = (struct failpoint){0};
    if (text == NULL || *text == '\0')
        return true;
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text ||
        (size_t)(colon - text) >= sizeof failpoint->name)
        return false;
    char *end;
    const long long count = strtoll(colon + 1, &end, 10);
    if (end == colon + 1 || *end != '\0' || count < 1)
        return false;
    memcpy(failpoint->name, text, (size_t)(colon - text));
    failpoint->left = count;
    return true;
}

void failpoint_reach(struct failpoint *failpoint, const char *name)
{
    if (failpoint->left > 0 && strcmp(failpoint->name, name) == 0 &&
        --failpoint->left == 0)
        _exit(FAILPOINT_EXIT);
}
