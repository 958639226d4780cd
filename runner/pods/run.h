/* run.h - one attempt as pods, as the supervising thread has it: its objects
 * are made, each replica is bound to the first pod that is seen of it, files go
 * there and come back, and its end is found.
 *
 * The attempt's folder keeps what a restarted runner needs: the mark `made`
 * once the objects exist, and pod.json in a replica's folder. */
#ifndef HT_RUNNER_PODS_RUN_H
#define HT_RUNNER_PODS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/replicas.h"
#include "runner/kubernetes/fields.h"
#include "runner/kubernetes/kubeconfig.h"
#include "runner/pods/judge.h"
#include "runner/pods/outputs.h"
#include "runner/pods/pull_login.h"
#include "runner/pods/shim_maps.h"

struct image;
struct kinds;
struct kube;
struct maker;
struct maker_object;
struct maker_task;
struct pod_follow;
struct pod_line;
struct pods;

/* What all attempts share: an open cluster. */
struct pod_cluster {
    const struct site *site;
    struct kube_config config;
    struct kube *kube; /* of the thread that opened it */
    struct kube_fields fields;
    bool job_sets; /* for attempts of several replicas */
    bool no_exec;  /* the runner may not enter pods, but read their logs */
    struct shim_maps shim;
    const char *kit; /* of far_name_kit(), or NULL */
    struct pods *pods;
    struct kinds *kinds;
    struct maker *maker;
    struct registry_reader *reader;
    struct pull_login pull_login; /* the reader's */
};

struct pod_member { /* one replica */
    const char *name;
    const char *uid, *pod;    /* it is bound to; NULL: to none yet */
    struct pod_line *line;    /* NULL: none yet, or no longer */
    struct pod_follow *log;   /* the same */
    bool served;              /* its files are there, and come here */
    int64_t line_at;          /* monotonic: when that was opened */
    int64_t over_at;          /* monotonic: since when its pod has ended */
    char said[HT_MAX_REASON]; /* the last words about its waiting */
};

struct pod_run {
    struct pod_run *next; /* for its owner */
    const struct pod_cluster *cluster;
    const struct order *order;
    const char *folder, *label;
    const char *container;  /* of each pod, the trainer's */
    struct pod_judge judge; /* without a template: pods of our own */
    struct pods *pods;      /* the cluster's, or what an operator makes of the
                               template, once there can be some */
    struct replicas replicas;
    struct pod_member *members; /* of each replica */
    struct pod_outputs outputs;
    size_t n_objects;
    struct maker_object *objects;
    struct maker_task *making; /* NULL: they are made */
    struct maker_task *asking; /* why there is no pod; NULL: not asked now */
    int64_t ask_at;            /* monotonic: not before */
    struct maker_task *loss;   /* why there is none any more; the same */
    int64_t loss_at;           /* monotonic: when that was asked */
    int64_t kill_at;           /* monotonic; 0: it was not stopped */
    bool begun, removed;
    bool by_log; /* its pods are without hypertune-shim: see by_log.h */
};

/* In the order's arena; it makes nothing yet. */
struct pod_run *pod_run_new(const struct pod_cluster *cluster,
                            struct engine_place *place);
/* Whether its objects exist, or an earlier runner made them. */
bool pod_run_is_made(const struct pod_run *run);
/* Whether pod_run_make() is to come. */
bool pod_run_is_idle(const struct pod_run *run);
/* Has its objects made, unless they are; its folders are prepared. Images and
 * variables are those of struct pod_shape. */
void pod_run_make(struct pod_run *run, const struct image *images,
                  const struct pairs *variables);
/* Why it does not begin, of one replica; "" is no word. */
void pod_run_say(struct pod_run *run, size_t replica, const char *words);
/* It never will: HT_PRECONDITION is the trial's failure, another the runner's.
 */
void pod_run_fail(struct pod_run *run, const struct ht_error *err);
/* As of struct engine. */
enum engine_state pod_run_poll(struct pod_run *run, struct engine_place *place,
                               struct ending *ending);
void pod_run_stop(struct pod_run *run, const struct stop_order *order);
enum engine_bringing pod_run_bring(struct pod_run *run, const char *below,
                                   struct ht_error *err);
bool pod_run_is_started(struct pod_run *run);
/* Why it does not begin, in the arena; NULL: no reason is known. */
const char *pod_run_why(const struct pod_run *run, struct arena *arena);
/* Removes its objects, in the background; pod_run_poll() has done it at the
 * end. */
void pod_run_remove(struct pod_run *run);

#endif
