/* child.h - other programs as children, without the runner's signal settings
 * and descriptors. */
#ifndef HT_RUNNER_BASE_CHILD_H
#define HT_RUNNER_BASE_CHILD_H

#include <sys/types.h>

struct child {
    const char *const *argv; /* ends with NULL; argv[0] is looked up in PATH */
    const char *const *env;  /* the same; NULL: the runner's */
    int input, output;       /* -1: /dev/null */
    int errors;              /* its stderr; 0: /dev/null */
    short group; /* POSIX_SPAWN_SETSID, POSIX_SPAWN_SETPGROUP, or 0 */
};

/* Starts it; returns 0 or the errno of the step that failed. */
int child_start(const struct child *child, pid_t *pid);

/* The same for a thread that needs to know how the child ends:
 * child_reap_others() leaves it to child_reap(). EAGAIN: there are too many. */
int child_start_kept(const struct child *child, pid_t *pid);
/* Waits for its end; returns the status as waitpid() has it. */
int child_reap(pid_t pid);

/* Reaps all children that have ended and are not kept, such as orphans that a
 * subreaper gets. One that was kept and not reaped yet may delay others until
 * the next call. */
void child_reap_others(void);

#endif
