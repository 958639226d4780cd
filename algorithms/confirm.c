#include "algorithms/confirm.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

/* Midpoints of the integral over one belief's quantiles. What is integrated
 * rises from 0 to 1, so the error is at most half a step. */
enum { STEPS = 4000 };

/* Student's t of a true mean. */
struct belief {
    double mean, scale, freedom; /* scale 0: certain */
};

static double mean_of(const struct confirm_runs *runs)
{
    double sum = 0;
    for (size_t i = 0; i < runs->n; i++)
        sum += runs->values[i];
    return sum / (double)runs->n;
}

static double deviation_of(const struct confirm_runs *runs, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < runs->n; i++)
        sum += (runs->values[i] - mean) * (runs->values[i] - mean);
    return sqrt(sum / ((double)runs->n - 1));
}

static struct belief belief_of(const struct confirm_runs *runs,
                               const struct confirm_standing *standing)
{
    return (struct belief){.mean = standing->mean,
                           .scale = standing->sd / sqrt((double)runs->n),
                           .freedom = (double)runs->n - 1};
}

static void describe(const struct confirm_runs *runs,
                     struct confirm_standing *standing)
{
    *standing = (struct confirm_standing){NAN, NAN, NAN, NAN, NAN};
    if (runs->n == 0)
        return;
    standing->mean = mean_of(runs);
    if (runs->n == 1)
        return;
    standing->sd = deviation_of(runs, standing->mean);
    const struct belief belief = belief_of(runs, standing);
    const double half =
        belief.scale * gsl_cdf_tdist_Pinv(0.975, belief.freedom);
    standing->low = standing->mean - half;
    standing->high = standing->mean + half;
}

/* The chance that the true mean is below x; half of one at a certain mean, as
 * equal ones share. */
static double chance_below(const struct belief *belief, double x)
{
    if (belief->scale > 0)
        return gsl_cdf_tdist_P((x - belief->mean) / belief->scale,
                               belief->freedom);
    return x > belief->mean ? 1 : x < belief->mean ? 0 : 0.5;
}

/* The chance that all others are below x. */
static double all_below(size_t n, const struct confirm_runs runs[],
                        const struct confirm_standing standings[], size_t but,
                        double x)
{
    double product = 1;
    for (size_t i = 0; i < n && product > 0; i++) {
        const struct belief belief = belief_of(&runs[i], &standings[i]);
        if (i != but && runs[i].n >= 2)
            product *= chance_below(&belief, x);
    }
    return product;
}

static double chance_of(size_t n, const struct confirm_runs runs[],
                        const struct confirm_standing standings[], size_t at)
{
    const struct belief own = belief_of(&runs[at], &standings[at]);
    if (!(own.scale > 0))
        return all_below(n, runs, standings, at, own.mean);
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        const double t = gsl_cdf_tdist_Pinv((i + 0.5) / STEPS, own.freedom);
        sum += all_below(n, runs, standings, at, own.mean + own.scale * t);
    }
    return sum / STEPS;
}

void confirm_judge(size_t n, const struct confirm_runs runs[],
                   struct confirm_standing standings[])
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        describe(&runs[i], &standings[i]);
    for (size_t i = 0; i < n; i++) {
        if (runs[i].n < 2)
            continue;
        standings[i].chance = chance_of(n, runs, standings, i);
        sum += standings[i].chance;
    }
    for (size_t i = 0; i < n; i++) /* rounding; several certain equal means */
        standings[i].chance /= sum;
}

/* What cannot be told yet is worse than anything. */
static double or_least(double figure)
{
    return isnan(figure) ? -INFINITY : figure;
}

static bool is_better(const struct confirm_standing *a,
                      const struct confirm_standing *b)
{
    const double left = or_least(a->chance), right = or_least(b->chance);
    return left != right ? left > right : or_least(a->mean) > or_least(b->mean);
}

void confirm_rank(size_t n, const struct confirm_standing standings[],
                  size_t order[])
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && is_better(&standings[i], &standings[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}
