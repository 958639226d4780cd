/* The likelihood of a model with its gradient, beside a Cholesky factorisation
 * of as many rows by LAPACK in the same run: the ratio says how much of the
 * time is more than the factor that no one can do without. Processor time of
 * one thread; the least of some rounds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/gp_fit.h"
#include "proto/base/arena.h"

enum { MOST_DIM = 20, ROUNDS = 5 };

/* LAPACK's, in OpenBLAS. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A bowl at random points. */
static struct gp *new_model(const struct encoding *encoding, size_t n)
{
    struct gp *gp = gp_new(encoding, n, true);
    double x[MOST_DIM];
    for (size_t i = 0; i < n; i++) {
        const struct rng_place place = {1, i, 0};
        double y = 0;
        for (size_t c = 0; c < encoding->dim; c++) {
            x[c] = rng_unit(&place, c);
            y -= (x[c] - 0.3) * (x[c] - 0.3);
        }
        gp_add(gp, x, y, 0);
    }
    return gp;
}

static double factor_ms(const struct gp *gp)
{
    const int n = (int)gp->n_seen, width = (int)gp->cap;
    const size_t size = gp->cap * gp->cap;
    double *covariance = ht_xcalloc(size, sizeof *covariance);
    double *factor = ht_xcalloc(size, sizeof *factor);
    double least = INFINITY, x[MOST_DIM];
    int info;
    for (size_t i = 0; i < gp->n_seen; i++) {
        double *row = covariance + i * gp->cap;
        kernel_rows_get(gp->rows, i, x);
        kernel_row(&gp->kernel, gp->rows, x, i, row, NULL);
        row[i] = gp->kernel.signal + gp->noise;
    }
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(factor, covariance, size * sizeof *factor);
        const double start = now_s();
        dpotrf_("U", &n, factor, &width, &info); /* by columns, hence "U" */
        least = fmin(least, 1e3 * (now_s() - start));
    }
    free(covariance);
    free(factor);
    return least;
}

static double evaluate_ms(struct gp *gp)
{
    double theta[HYPER_MAX] = {0}, gradient[HYPER_MAX], least = INFINITY;
    struct gp_fit *fit = gp_fit_new(gp, PRIOR_LONG);
    theta[gp->rows->encoding->dim + 1] = log(1e-3);
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now_s();
        gp_fit_evaluate(fit, theta, gradient);
        least = fmin(least, 1e3 * (now_s() - start));
    }
    gp_fit_free(fit);
    return least;
}

static void measure(const struct space *space, size_t n)
{
    struct encoding encoding;
    encoding_init(&encoding, space);
    struct gp *gp = new_model(&encoding, n);
    const double evaluate = evaluate_ms(gp), factor = factor_ms(gp);
    printf("model_d%zu_n%zu_potrf_ms=%.2f\n", space->n, n, factor);
    printf("model_d%zu_n%zu_likelihood_gradient_ms=%.2f\n", space->n, n,
           evaluate);
    printf("model_d%zu_n%zu_per_potrf=%.2f\n", space->n, n, evaluate / factor);
    fflush(stdout);
    gp_free(gp);
    encoding_fini(&encoding);
}

int main(void)
{
    static const size_t sizes[] = {100, 200, 500, 1000, 2000};
    static const size_t dims[] = {6, MOST_DIM};
    struct param params[MOST_DIM];
    algorithm_init();
    for (size_t i = 0; i < MOST_DIM; i++)
        params[i] = (struct param){.name = "x", .type = PARAM_DOUBLE, .max = 1};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        const struct space space = {.n = dims[d], .params = params};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            measure(&space, sizes[s]);
    }
    return 0;
}
