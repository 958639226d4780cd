/* health.h - what a person should know of a study's model: how good it is,
 * whether the best results lie at the end of a range, whether there is more to
 * gain, and how much of a difference is chance.
 *
 * A finding is only made where the results show it plainly; without one
 * nothing is wrong or too little is known (docs/search.md, Health). Pure
 * functions; larger is better. */
#ifndef HT_ALGORITHMS_INSIGHT_HEALTH_H
#define HT_ALGORITHMS_INSIGHT_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/limits.h"

struct constraint_set;
struct goal_model;
struct history;
struct importance;

/* With fewer results nothing is found. */
enum { HEALTH_LEAST = 15 };

enum health_kind {
    HEALTH_QUALITY, /* value: the correlation of the ranks of results with what
                       the model predicts for each from the others, 0 to 1,
                       small differences left aside; n: results */
    HEALTH_BORDER,  /* of `param`: the best tenth of the results lies at an end
                       of its range, value, and the model rises towards it;
                       n: results of that tenth */
    HEALTH_LITTLE_TO_GAIN, /* value: what the most promising point is expected
                              to gain, of the goal; n: results since one was
                              better than those before it */
    HEALTH_NOISE /* value: standard deviation of a result around the mean of
                    its point, and the best point's lead may be chance; n:
                    results beyond the first one of their point */
};

enum health_grade { HEALTH_GOOD, HEALTH_FAIR, HEALTH_POOR };

struct health_finding {
    enum health_kind kind;
    enum health_grade grade; /* of HEALTH_QUALITY */
    size_t n;
    double value;
    size_t param;  /* index in the space, of HEALTH_BORDER, */
    bool upper;    /* which end, */
    double beyond; /* and an end further out, whole for an integer and on a
                      step where there is one */
};

struct health {
    size_t n;
    struct health_finding findings[HT_MAX_PARAMETERS + 3];
};

/* What is asked about; all is borrowed for the call. */
struct health_study {
    const struct history *history;
    size_t goal;
    bool alone; /* the goal is all that the study wants: where it is best says
                   something */
    const struct goal_model *model;       /* of that goal, of all results */
    const struct importance *importances; /* of that goal, by coordinate; NULL:
                                             too few results */
    const struct constraint_set *constraints; /* NULL: none */
    uint64_t seed;
};

void health_find(const struct health_study *study, struct health *health);

#endif
