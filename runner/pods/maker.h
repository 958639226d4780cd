/* maker.h - the one thread that makes and removes the objects of attempts in
 * the cluster, and finds the ones left over.
 *
 * What the cluster does not take now is tried again, later and later, up to
 * half a minute. The supervising thread calls all functions; they return at
 * once. */
#ifndef HT_RUNNER_PODS_MAKER_H
#define HT_RUNNER_PODS_MAKER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "runner/kubernetes/discovery.h"

struct kube;
struct kinds;
struct maker;
struct maker_task;
struct pod_follow;
struct pod_line;
struct pods;

/* Whether the runner has the attempt with this label (POD_LABEL_ATTEMPT). Any
 * thread. */
typedef bool maker_keep(const char *attempt);

struct maker_settings {      /* borrowed until maker_stop() */
    const struct kube *kube; /* of the cluster: its login is shared */
    const char *namespace;
    const char *runner; /* value of POD_LABEL_RUNNER */
    bool job_sets;      /* there may be some of ours */
    struct kinds *kinds;
    maker_keep *keeps;
};

/* HT_IO  no thread */
enum ht_status maker_start(const struct maker_settings *settings,
                           struct maker **maker, struct ht_error *err);
/* Waits about a second for the request under way; accepts NULL. Objects stay,
 * also those whose removal was not begun: the next start finds these. */
void maker_stop(struct maker *maker);

struct maker_object {
    const struct kube_kind *kind; /* NULL: of the kind that `foreign` names */
    struct kube_kind_name foreign;
    const char *name;
    const char *json; /* to make it */
};

/* Makes them in their order, or finds the ones that it made before: their label
 * says so. Everything is copied. */
struct maker_task *maker_make(struct maker *maker, const char *attempt,
                              const struct maker_object *objects, size_t n);

/* Asks why there is no pod of the first object, which is ours; the others are
 * what it makes. MAKER_DONE: *words as of reason_find(); MAKER_REFUSED: what
 * was made for it does not exist. Everything is copied. */
struct maker_question {
    const char *attempt;
    const struct maker_object *objects;
    size_t n;
    bool lost; /* there was a pod */
};
struct maker_task *maker_ask(struct maker *maker,
                             const struct maker_question *question);

enum maker_state {
    MAKER_WAITS, /* *words: why it was not taken so far; "" at first */
    MAKER_DONE,
    MAKER_REFUSED /* it never will be; *words: the server's */
};
enum maker_state maker_look(struct maker *maker, const struct maker_task *task,
                            char words[HT_MAX_REASON]);
/* It is not looked at any more; accepts NULL. */
void maker_leave(struct maker *maker, struct maker_task *task);

/* Closes the lines, logs and the watch, which it owns from now on, and removes
 * the objects of the attempt, which have these names. `pods`: these are killed,
 * without grace; any may be NULL. Everything else is copied. */
struct maker_removal {
    const char *attempt;
    const struct maker_object *objects;
    size_t n;
    struct pod_line *const *lines;  /* as many as pods */
    struct pod_follow *const *logs; /* the same */
    const char *const *pods;
    size_t n_pods;
    struct pods *watch; /* or NULL */
};
void maker_remove(struct maker *maker, const struct maker_removal *removal);

#endif
