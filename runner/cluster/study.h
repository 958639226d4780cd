/* study.h - a study that wants slots of a cluster, or has some: what it wants,
 * and why it gets no more. */
#ifndef HT_RUNNER_CLUSTER_STUDY_H
#define HT_RUNNER_CLUSTER_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/attempt/engine.h"
#include "runner/cluster/plan.h"

struct study {
    struct study *next;
    struct plan_study plan; /* its need is `hash` */
    char *hash, *text;      /* of the need, and it as JSON; NULL: not known */
    int waiting;            /* attempts without a slot */
    int64_t longest_ms;     /* of its trials so far */
    int failures;           /* refusals and early ends in a row */
    bool early;             /* the last one was an early end */
    char *refused;          /* in words; NULL: nothing is wrong */
};

/* In the list; made when it is not there. */
struct study *study_get(struct study **first, int64_t study);
/* NULL: there is none. */
struct study *study_find(struct study *first, int64_t study);
void study_free_all(struct study *first);

/* What the server wants for it now; a need that is new clears refusals, which
 * were another job's. */
void study_want(struct study *study, const struct engine_wanted *wanted);

/* A batch was refused, or an element ended before it asked for a trial: waits
 * for 5 s, and with each further failure twice as long. */
__attribute__((format(printf, 3, 4))) void
study_fail(struct study *study, int64_t now_ms, const char *format, ...);
/* An element asked for a trial: slots can be had. */
void study_succeed(struct study *study);

#endif
