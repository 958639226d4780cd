/* played_study.h - a study that a test plays through with the Bayesian search:
 * it asks for a point, gives the result, and keeps what there was. */
#ifndef HT_TESTS_LIB_PLAYED_STUDY_H
#define HT_TESTS_LIB_PLAYED_STUDY_H

#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"

enum { STUDY_MOST = 168 };

struct study {
    const struct space *space;
    uint64_t seed;
    void *state;
    size_t n, n_pending;
    struct value points[STUDY_MOST][HT_MAX_PARAMETERS];
    bool feasible[STUDY_MOST];
    double objective[STUDY_MOST];
    const struct value *pending[STUDY_MOST]; /* the test's own */
    struct taken taken;
};

void study_open(struct study *study, const struct space *space, uint64_t seed);
void study_close(struct study *study);
enum ht_status study_ask(struct study *study, uint64_t ordinal,
                         struct value point[]);
void study_tell(struct study *study, const struct value point[], bool feasible,
                double objective);

/* Whether a point has a result or is pending. */
bool study_has(const struct study *study, const struct value point[]);

/* Four parameters, one of them conditional, and a function of them that is at
 * most 1: at rate 1e-3, 5 units, "c" and momentum 0.9. */
extern const struct space mixed_space;
double mixed_value(const struct value point[]);

#endif
