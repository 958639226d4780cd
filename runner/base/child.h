/* child.h - other programs as children, without the runner's signal settings
 * and descriptors. */
#ifndef HT_RUNNER_BASE_CHILD_H
#define HT_RUNNER_BASE_CHILD_H

#include <sys/types.h>

struct child {
    const char *const *argv; /* ends with NULL; argv[0] is looked up in PATH */
    const char *const *env;  /* the same; NULL: the runner's */
    int input, output;       /* -1: /dev/null, which its stderr always is */
    short group; /* POSIX_SPAWN_SETSID, POSIX_SPAWN_SETPGROUP, or 0 */
};

/* Starts it; returns 0 or the errno of the step that failed. */
int child_start(const struct child *child, pid_t *pid);

#endif
