#include "algorithms/model/sample.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

void sample_init(struct sample *sample, const struct gp *gp)
{
    const struct encoding *encoding = gp->rows->encoding;
    const size_t n = gp->rows->n, dim = encoding->dim;
    double row[HT_MAX_PARAMETERS];
    *sample =
        (struct sample){.encoding = encoding, .n_seen = gp->n_seen, .n = n};
    sample->x = ht_xcalloc(n * dim + 1, sizeof *sample->x);
    sample->y = ht_xcalloc(n + 1, sizeof *sample->y);
    sample->outside = ht_xcalloc(n + 1, sizeof *sample->outside);
    memcpy(sample->outside, gp->rows->outside, n * sizeof *sample->outside);
    for (size_t i = 0; i < n; i++) {
        kernel_rows_get(gp->rows, i, row);
        memcpy(sample->x + i * dim, row, dim * sizeof *row);
        sample->y[i] = i < gp->n_seen ? gp->y[i] : gp_mean(gp, row);
    }
}

void sample_fini(struct sample *sample)
{
    free(sample->x);
    free(sample->y);
    free(sample->outside);
}

const double *sample_row(const struct sample *sample, size_t i)
{
    return sample->x + i * sample->encoding->dim;
}
