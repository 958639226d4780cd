/* follow.h - the log of a container without hypertune-shim, which the API
 * server sends, in the replica's folder as a shim would have written it: as its
 * stdout.
 *
 * A thread for each reads on from where it was, after a connection that was cut
 * or a restart of the runner: log.json in the folder has the place. */
#ifndef HT_RUNNER_PODS_FOLLOW_H
#define HT_RUNNER_PODS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"

struct kube;
struct pod_follow; /* one container's log */

struct pod_follow_settings {
    const struct kube *kube; /* of the cluster: its login is shared */
    const char *namespace;   /* must outlive it; the others are copied */
    const char *pod, *container;
    const char *folder; /* of the replica */
};

/* Whether it was ever opened for the folder: the container has begun. */
bool pod_follow_has_begun(const char *folder);

/* The container runs, or has ended.
 * HT_IO  no thread, or a file cannot be opened */
enum ht_status pod_follow_open(const struct pod_follow_settings *settings,
                               struct pod_follow **follow,
                               struct ht_error *err);
/* The container has ended: what is read from now on is its last. */
void pod_follow_end(struct pod_follow *follow);

enum pod_follow_state {
    FOLLOW_READS, /* *words: why nothing comes, "" when all is well */
    FOLLOW_WHOLE, /* all of it is in the folder */
    FOLLOW_TORN   /* some of it will never be; *words: why */
};
enum pod_follow_state pod_follow_look(struct pod_follow *follow,
                                      char words[HT_MAX_REASON]);
/* When it was opened first; wall clock. */
int64_t pod_follow_began_ms(const struct pod_follow *follow);

/* Returns at once; pod_follow_close() is short afterwards. */
void pod_follow_stop(struct pod_follow *follow);
void pod_follow_close(struct pod_follow *follow); /* accepts NULL */
/* All that are open; when the engine ends. */
void pod_follow_close_all(void);

#endif
