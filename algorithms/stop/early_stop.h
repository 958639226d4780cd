/* early_stop.h - should a running trial continue? What all rules have in
 * common.
 *
 * Rules are pure functions of the curves measured so far: no I/O, no clock, no
 * state, so the same curves give the same verdict bit for bit. They cannot
 * fail: where a rule has no data, the trial continues. Larger values are
 * better, minimised ones are negated before they get here. */
#ifndef HT_ALGORITHMS_STOP_EARLY_STOP_H
#define HT_ALGORITHMS_STOP_EARLY_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/stop/stop_study.h"
#include "proto/job/job.h"

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

struct stop_rule {
    const char *name; /* "median" */
    /* Judges study->curves[current], an open one, and writes everything but
     * the prediction unless the rule is made of one. The verdict comes as one
     * to continue, with the newest place of the curve. */
    void (*judge)(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict);
    /* Writes which paused curve may continue now; false: none. `last` when no
     * other trial will come to the rungs: then the best continue, however few
     * there are. NULL where the rule never pauses. */
    bool (*promote)(const struct stop_study *study, bool last, size_t *chosen);
};

/* What must be known before a rule judges; the study's options go before. */
struct stop_guard {
    int64_t trials;       /* that ended by themselves */
    int64_t measurements; /* of the trial judged */
    double share;         /* of the way to where trials end by themselves */
};
bool stop_guard_opens(const struct stop_guard *guard,
                      const struct stop_study *study, size_t current);

/* Whether a trial falls short in one objective; writes that goal, its value and
 * the threshold. */
typedef bool stop_shortfall(const struct stop_study *study, size_t current,
                            size_t goal, struct stop_verdict *verdict);

/* For rules that look at each objective by itself: stops a trial that falls
 * short in all of them. With several it takes besides a prediction that hardly
 * may be as good as any in its own way. */
void stop_where_all_fall_short(stop_shortfall *falls_short,
                               const struct stop_study *study, size_t current,
                               struct stop_verdict *verdict);

extern const struct stop_rule median_rule;
extern const struct stop_rule decay_rule;
extern const struct stop_rule convex_rule;
extern const struct stop_rule asha_rule;
extern const struct stop_rule hyperband_rule;

/* NULL for EARLY_NONE. */
const struct stop_rule *stop_rule_find(enum job_early_stop rule);

/* What the study's rule says of an open curve. A verdict other than to continue
 * has a prediction where enough curves are known, whatever the rule. */
void early_stop_judge(const struct stop_study *study, size_t current,
                      struct stop_verdict *verdict);

#endif
