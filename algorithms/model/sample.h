/* sample.h - training data (points and values) for the forest and the Parzen
 * models. */
#ifndef HT_ALGORITHMS_MODEL_SAMPLE_H
#define HT_ALGORITHMS_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/gp.h"

struct sample {
    const struct encoding *encoding; /* borrowed */
    size_t n_seen;                   /* results */
    size_t n;                        /* with the pending points after them */
    double *x;                       /* owned, a row of coordinates for each */
    double *y; /* owned, larger is better; of pending ones what was believed */
    bool *outside; /* owned, as of the process's rows (kernel.h) */
};

/* The results and the beliefs of a conditioned process, copied: only the
 * encoding has to outlive it. */
void sample_init(struct sample *sample, const struct gp *gp);
/* Frees what it owns. */
void sample_fini(struct sample *sample);

/* The `dim` coordinates of point i < n, borrowed. */
const double *sample_row(const struct sample *sample, size_t i);

#endif
