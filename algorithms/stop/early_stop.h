/* early_stop.h - calls the early stopping rule of a study (median, decay curve,
 * convex, ASHA, Hyperband).
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

/* No rule stops a trial before it has come so far and has reported so often:
 * what a program reports while it has hardly begun says nothing about its end.
 * A study whose options have minSteps or minMeasurements decides for itself. */
#define STOP_SHARE 0.1 /* of the way to where trials end by themselves */
enum { STOP_REPORTS = 4 };
/* Whether the options say how long a rule has to wait. */
bool stop_wait_is_set(const struct early_stop *options);

/* What must be known before a rule judges; the study's options go before. */
struct stop_guard {
    int64_t trials;       /* that ended by themselves */
    int64_t measurements; /* of the trial judged */
    double share;         /* of the way to where trials end by themselves */
};
/* Whether enough is known to judge the curve: also false close to its end,
 * where stopping saves little. */
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
