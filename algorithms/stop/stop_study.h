/* stop_study.h - what an early stopping rule is given, the curves of a study,
 * and the verdict on one of them. Larger values are better. */
#ifndef HT_ALGORITHMS_STOP_STOP_STUDY_H
#define HT_ALGORITHMS_STOP_STOP_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/base/algorithm.h"

/* What a trial reported at one moment of its training. */
struct stop_point {
    double at;            /* step, or seconds since the trial began */
    const double *values; /* setting->n_goals; NaN or infinite: not reported */
};

/* Failed trials have no curve. */
enum stop_end {
    STOP_END_OPEN,  /* runs, waits or is paused */
    STOP_END_WHOLE, /* ended by itself, with its result */
    STOP_END_EARLY  /* was stopped: its last values are no result */
};

struct stop_curve {
    uint64_t ordinal;          /* of its suggestion in the study, from 0 */
    const struct value *point; /* space->n settled values */
    enum stop_end end;
    int64_t passed; /* rungs that are behind it: the next is judged */
    bool paused;    /* at that one */
    size_t n;
    const struct stop_point *points; /* `at` strictly increasing */
    const double *finals; /* STOP_END_WHOLE: the result, n_goals; else NULL */
};

/* All is borrowed for the call. */
struct stop_study {
    const struct setting *setting;
    const struct early_stop *options; /* of the job */
    size_t n;
    const struct stop_curve *curves; /* in the order of their suggestions */
};

enum stop_action { STOP_GO_ON, STOP_NOW, STOP_PAUSE };

/* The result that a trial would have had. */
struct stop_prediction {
    bool known; /* false: too few curves to learn from, no field holds */
    double at;  /* where the trial would have ended */
    double final[SETTING_METRICS];    /* by goal; NaN: not known */
    double variance[SETTING_METRICS]; /* of each around its prediction */
    double probability; /* of a result that none so far is better than; for
                           several goals: dominates */
};

struct stop_verdict {
    enum stop_action action;
    double at;        /* the place on the curve that was judged */
    size_t goal;      /* whose numbers these are: */
    double value;     /* of the trial, what was compared; NaN: nothing was */
    double threshold; /* that it missed; NaN: none */
    size_t compared;  /* trials that the threshold is made of */
    int64_t rung;     /* it was judged at, from 0; -1: at none. Otherwise: */
    double goals[SETTING_METRICS]; /* of the trial there; NaN: not reported */
    struct stop_prediction prediction;
};

#endif
