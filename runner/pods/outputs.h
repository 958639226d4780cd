/* outputs.h - what a trial in pods leaves in its folders model, checkpoints and
 * logs comes to the trial's folder here, since it vanishes with the pod: whole
 * checkpoints while the trial runs, all of the three at its end.
 *
 * Only the first replica's come. The mark `outputs` in the attempt's folder
 * says that nothing more comes. */
#ifndef HT_RUNNER_PODS_OUTPUTS_H
#define HT_RUNNER_PODS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/attempt/engine.h"

struct far;
struct order;
struct site;

struct pod_outputs { /* of one attempt; in the order's arena */
    const struct site *site;
    const struct order *order;
    const char *attempt, *replica; /* folders */
    const char *aside;             /* for one that is on its way */
    size_t next;                   /* of output_folders, at the end */
    int64_t until;                 /* monotonic; 0: the end has not come */
    bool settled;
};

/* The folders are borrowed. */
struct pod_outputs pod_outputs_of(const struct engine_place *place,
                                  const char *replica);
/* As of struct engine; `far` NULL: the pod cannot be reached. */
enum engine_bringing pod_outputs_bring(const struct pod_outputs *outputs,
                                       struct far *far, const char *below,
                                       struct ht_error *err);
/* After the end: true once all is here, or will not come, which the stream
 * `runner` says. `far` as above; `why`: the pod has ended, so that nothing
 * comes any more; else NULL. */
bool pod_outputs_settle(struct pod_outputs *outputs, struct far *far,
                        const char *why);

#endif
