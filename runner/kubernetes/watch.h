/* watch.h - all objects of one kind in a namespace, and every change of them,
 * from one list and one watch.
 *
 * No change is lost: a watch begins at the version of its list, and a watch
 * that was cut begins again behind the last change that came. Where the server
 * has forgotten that version everything is listed again, from which the taker
 * finds what has gone meanwhile. */
#ifndef HT_RUNNER_KUBERNETES_WATCH_H
#define HT_RUNNER_KUBERNETES_WATCH_H

#include <stdbool.h>

struct ht_error;
struct kube;
struct kube_kind;
struct node;

enum kube_event {
    KUBE_LISTING, /* all objects follow; drop those of an earlier listing that
                     did not come to its end */
    KUBE_ITEM,    /* an object of the listing */
    KUBE_LISTED,  /* what was not in the listing does not exist any more */
    KUBE_ADDED,
    KUBE_MODIFIED,
    KUBE_DELETED, /* with its last state */
    KUBE_TROUBLE, /* there is no watch now: `trouble` has why; it is tried
                     again */
};

struct kube_change {
    enum kube_event event;
    const struct node *object;      /* NULL of events without one */
    const struct ht_error *trouble; /* of KUBE_TROUBLE */
};

/* False: no more is wanted. */
typedef bool kube_watch_take(void *context, const struct kube_change *change);

struct kube_watch {
    const struct kube_kind *kind;
    const char *namespace;
    const char *selector; /* of labels, or NULL */
    int timeout_s;        /* for which one watch is asked; 0: about 2 minutes */
    int page;             /* as of struct kube_list */
    kube_watch_take *take;
    void *context;
};

/* Lists and watches until `take` wants no more or the client is aborted. Its
 * thread does nothing else meanwhile: a watch wants a client of its own. A
 * server that is silent for longer than the timeout and 15 s is asked anew. */
void kube_watch_run(struct kube *kube, const struct kube_watch *watch);

#endif
