/* tree_use.h - what all processes below one use together: time of the
 * processors and memory. */
#ifndef HT_RUNNER_BASE_TREE_USE_H
#define HT_RUNNER_BASE_TREE_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_use {
    int64_t cpu_us; /* of the living processes and of the children that they
                       have waited for */
    int64_t memory; /* bytes: a page that several share counts once (PSS) */
};

/* Of the processes below `root`, which is not among them. `proc` is /proc or a
 * folder like it. A process whose shared pages may not be seen counts with its
 * resident memory. False: `proc` cannot be read. */
bool tree_use_read(const char *proc, pid_t root, struct tree_use *use);

/* Of a control group of version 2, without files that only lie in the cache and
 * can be dropped. False: it has no such figures. */
bool tree_use_read_group(const char *group, struct tree_use *use);

#endif
