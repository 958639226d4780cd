#include "algorithms/base/lbfgs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MEMORY = 8, BACKTRACKS = 20 };

/* Of curvature to squared change, below which a pair says nothing. */
#define FLATTEST 1e-10

struct pair { /* of a step and the change of the gradient along it */
    double step[LBFGS_MAX], change[LBFGS_MAX];
};

struct search {
    const struct lbfgs *problem;
    double x[LBFGS_MAX], gradient[LBFGS_MAX], value;
    double direction[LBFGS_MAX];
    bool free[LBFGS_MAX]; /* not held by a bound */
    struct pair pairs[MEMORY];
    size_t n_pairs, newest;
};

static double dot(size_t n, const double a[], const double b[])
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* A bound holds a coordinate when the value falls beyond it. Returns the
 * largest slope among the free ones. */
static double find_free(struct search *search)
{
    const struct lbfgs *problem = search->problem;
    double largest = 0;
    for (size_t i = 0; i < problem->n; i++) {
        const double x = search->x[i], slope = search->gradient[i];
        search->free[i] = !((x <= problem->low[i] && slope > 0) ||
                            (x >= problem->high[i] && slope < 0));
        if (search->free[i])
            largest = fmax(largest, fabs(slope));
    }
    return largest;
}

static const struct pair *pair_back(const struct search *search, size_t age)
{
    return &search->pairs[(search->newest + MEMORY - age) % MEMORY];
}

static double dot_free(const struct search *search, const double a[],
                       const double b[])
{
    double sum = 0;
    for (size_t i = 0; i < search->problem->n; i++)
        sum += search->free[i] ? a[i] * b[i] : 0;
    return sum;
}

static void add_free(const struct search *search, double factor,
                     const double a[], double to[])
{
    for (size_t i = 0; i < search->problem->n; i++)
        to[i] += search->free[i] ? factor * a[i] : 0;
}

/* The two-loop recursion in the subspace of the free coordinates, with those
 * pairs that still have a positive curvature there. */
static void quasi_newton(struct search *search)
{
    double *d = search->direction, along[MEMORY] = {0}, curvature[MEMORY];
    double scale = 1;
    for (size_t age = search->n_pairs; age-- > 0;) {
        const struct pair *pair = pair_back(search, age);
        const double size = dot_free(search, pair->change, pair->change);
        curvature[age] = dot_free(search, pair->step, pair->change);
        if (!(curvature[age] > FLATTEST * size))
            curvature[age] = 0;
        else
            scale = curvature[age] / size;
    }
    for (size_t age = 0; age < search->n_pairs; age++) {
        const struct pair *pair = pair_back(search, age);
        if (curvature[age] == 0)
            continue;
        along[age] = dot_free(search, pair->step, d) / curvature[age];
        add_free(search, -along[age], pair->change, d);
    }
    for (size_t i = 0; i < search->problem->n; i++)
        d[i] *= scale;
    for (size_t age = search->n_pairs; age-- > 0;) {
        const struct pair *pair = pair_back(search, age);
        if (curvature[age] == 0)
            continue;
        const double back = dot_free(search, pair->change, d) / curvature[age];
        add_free(search, along[age] - back, pair->step, d);
    }
}

static void steepest(struct search *search)
{
    for (size_t i = 0; i < search->problem->n; i++)
        search->direction[i] = search->free[i] ? -search->gradient[i] : 0;
}

/* Writes a direction that leads down; returns the length to try first. */
static double find_direction(struct search *search)
{
    const size_t n = search->problem->n;
    steepest(search);
    if (search->n_pairs > 0) {
        quasi_newton(search);
        if (dot(n, search->direction, search->gradient) < 0)
            return 1;
        search->n_pairs = 0;
        steepest(search);
    }
    const double length = sqrt(dot(n, search->direction, search->direction));
    return fmin(1, 0.2 / length);
}

static void remember(struct search *search, const double x[],
                     const double gradient[])
{
    const size_t n = search->problem->n;
    const size_t slot = (search->newest + 1) % MEMORY;
    struct pair pair = {0};
    for (size_t i = 0; i < n; i++) {
        pair.step[i] = x[i] - search->x[i];
        pair.change[i] = gradient[i] - search->gradient[i];
    }
    if (!(dot(n, pair.step, pair.change) >
          FLATTEST * dot(n, pair.change, pair.change)))
        return; /* would make the metric indefinite */
    search->pairs[slot] = pair;
    search->newest = slot;
    if (search->n_pairs < MEMORY)
        search->n_pairs++;
}

/* The minimum of the parabola through the value, its slope and the value at
 * `length`, kept in (0.1, 0.5) of that length. */
static double shorter(double length, double value, double slope, double there)
{
    if (!isfinite(there))
        return 0.1 * length;
    const double best =
        -slope * length * length / (2 * (there - value - slope * length));
    return fmin(fmax(best, 0.1 * length), 0.5 * length);
}

static void project(const struct lbfgs *problem, const double from[],
                    const double direction[], double length, double x[])
{
    for (size_t i = 0; i < problem->n; i++)
        x[i] = fmin(fmax(from[i] + length * direction[i], problem->low[i]),
                    problem->high[i]);
}

/* One step down along the projected direction; false when there is none. */
static bool line_search(struct search *search, double length)
{
    const struct lbfgs *problem = search->problem;
    const size_t n = problem->n;
    double x[LBFGS_MAX], gradient[LBFGS_MAX];
    const double slope = dot(n, search->direction, search->gradient);
    for (int tries = 0; tries <= BACKTRACKS; tries++) {
        project(problem, search->x, search->direction, length, x);
        double gain = 0; /* expected, along the projected path */
        for (size_t i = 0; i < n; i++)
            gain += search->gradient[i] * (x[i] - search->x[i]);
        const double value = problem->evaluate(problem->context, x, gradient);
        if (isfinite(value) && value <= search->value + 1e-4 * gain) {
            remember(search, x, gradient);
            memcpy(search->x, x, n * sizeof *x);
            memcpy(search->gradient, gradient, n * sizeof *gradient);
            search->value = value;
            return true;
        }
        length = shorter(length, search->value, slope, value);
    }
    return false;
}

double lbfgs_minimise(const struct lbfgs *problem, double x[])
{
    struct search search = {.problem = problem};
    memcpy(search.x, x, problem->n * sizeof *x);
    search.value =
        problem->evaluate(problem->context, search.x, search.gradient);
    if (!isfinite(search.value))
        return search.value;
    for (size_t k = 0; k < problem->iterations; k++) {
        if (find_free(&search) <= problem->gradient_tolerance)
            break;
        const double before = search.value;
        if (!line_search(&search, find_direction(&search)))
            break;
        const double scale = fmax(1, fmax(fabs(before), fabs(search.value)));
        if (before - search.value <= problem->value_tolerance * scale)
            break;
    }
    memcpy(x, search.x, problem->n * sizeof *x);
    return search.value;
}
