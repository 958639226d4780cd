/* pods.h - all pods of this runner in its namespace, as one watch has them: a
 * thread keeps what is known of each, and the supervising thread looks it up.
 */
#ifndef HT_RUNNER_PODS_PODS_H
#define HT_RUNNER_PODS_PODS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/kubernetes/ends.h"

enum { PODS_FAULT_BYTES = 256 };

struct kube;
struct pods;

/* One pod; texts are in the caller's arena. */
struct pod_seen {
    const char *name, *uid;
    bool running;        /* its container runs */
    bool gone;           /* it does not exist any more */
    const char *waits;   /* why it does not begin, or NULL */
    struct kube_end end; /* over: it has ended */
    const char *message; /* what the container left as its last words, "" */
};

struct pod_wish {
    const char *attempt, *replica, *uid;
};

struct pods_settings {
    const struct kube *kube; /* of the cluster: its login is shared */
    const char *namespace;   /* must outlive the pods; the others are copied */
    const char *selector;    /* of their labels */
    /* All of them are of that replica and have that container, or `attempt` is
     * NULL: their labels say it. */
    const char *attempt, *replica, *container;
};

/* HT_IO  no thread */
enum ht_status pods_open(const struct pods_settings *settings,
                         struct pods **pods, struct ht_error *err);
void pods_close(struct pods *pods); /* accepts NULL; waits about a second */
/* All that are open; when the engine ends. */
void pods_close_all(void);

/* Whether all pods are known: without that, one that is missing may exist. */
bool pods_are_known(struct pods *pods);
/* One of the replica's, by the attempt's label and the replica's name; with the
 * uid if that is not NULL. False: there is none, and there was none in the last
 * minutes. */
bool pods_find(struct pods *pods, const struct pod_wish *wish,
               struct arena *arena, struct pod_seen *seen);
/* Why there is no watch now; "" when all is well. */
void pods_fault(struct pods *pods, char text[PODS_FAULT_BYTES]);

#endif
