/* judge.h - the end of an attempt by the conditions of its object, where the
 * trial's pod does not say it. */
#ifndef HT_RUNNER_PODS_JUDGE_H
#define HT_RUNNER_PODS_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/limits.h"
#include "runner/base/folder.h"
#include "runner/pods/template.h"

struct kinds;

struct pod_judge { /* begins with a template alone */
    const struct pod_template *template;
    int64_t revision; /* of the object that was judged */
    struct pod_verdict verdict;
    int64_t at; /* monotonic: when that was found */
};

/* Judges the object of the attempt, if it has changed. `fault`: why it cannot
 * be seen, "" when all is well. */
void pod_judge_look(struct pod_judge *judge, struct kinds *kinds,
                    const char *attempt, char fault[HT_MAX_REASON]);
/* Whether the object has ended, and its pod has had the time to say more. */
bool pod_judge_is_due(const struct pod_judge *judge);
/* Once that is so. */
enum outcome pod_judge_outcome(const struct pod_judge *judge);
/* An operator takes away the pods of an object that has failed: the loss of a
 * pod, which was first seen then (monotonic), is the failure if that came
 * before. */
void pod_judge_blame(const struct pod_judge *judge, int64_t lost_at,
                     struct ending *ending);

#endif
