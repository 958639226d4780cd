#include <math.h>

#include "algorithms/base/lbfgs.h"
#include "tests/check.h"

static int calls;

static double rosenbrock(void *context, const double x[], double gradient[])
{
    (void)context;
    calls++;
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    gradient[0] = -2 * a - 400 * x[0] * b;
    gradient[1] = 200 * b;
    return a * a + 100 * b * b;
}

static struct lbfgs
problem_of(size_t n, const double low[], const double high[],
           double (*evaluate)(void *, const double[], double[]))
{
    return (struct lbfgs){.n = n,
                          .low = low,
                          .high = high,
                          .evaluate = evaluate,
                          .iterations = 200,
                          .gradient_tolerance = 1e-8};
}

static void a_bent_valley_is_followed_to_its_end(void)
{
    static const double low[] = {-5, -5}, high[] = {5, 5};
    const struct lbfgs problem = problem_of(2, low, high, rosenbrock);
    double x[] = {-1.2, 1};
    calls = 0;
    CHECK(lbfgs_minimise(&problem, x) < 1e-15);
    CHECK(fabs(x[0] - 1) < 1e-6 && fabs(x[1] - 1) < 1e-6);
    CHECK(calls < 80);
}

static void a_minimum_outside_ends_at_the_bound(void)
{
    static const double low[] = {-5, -5}, high[] = {0.5, 5};
    const struct lbfgs problem = problem_of(2, low, high, rosenbrock);
    double x[] = {-1.2, 4};
    CHECK(fabs(lbfgs_minimise(&problem, x) - 0.25) < 1e-9);
    CHECK(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-6);
}

/* A sum of parabolas, some 24 times as steep as others, around 1/2. */
static double bowls(void *context, const double x[], double gradient[])
{
    (void)context;
    double sum = 0, width = 1;
    for (size_t i = 0; i < LBFGS_MAX; i++, width *= 1.05) {
        gradient[i] = 2 * width * (x[i] - 0.5);
        sum += width * (x[i] - 0.5) * (x[i] - 0.5);
    }
    return sum;
}

static void as_many_coordinates_as_there_can_be_are_searched(void)
{
    double low[LBFGS_MAX], high[LBFGS_MAX], x[LBFGS_MAX];
    for (size_t i = 0; i < LBFGS_MAX; i++) {
        low[i] = i % 3 == 0 ? 0.75 : 0;
        high[i] = 1;
        x[i] = 1;
    }
    const struct lbfgs problem = problem_of(LBFGS_MAX, low, high, bowls);
    lbfgs_minimise(&problem, x);
    for (size_t i = 0; i < LBFGS_MAX; i++)
        CHECK(i % 3 == 0 ? x[i] == 0.75 : fabs(x[i] - 0.5) < 1e-4);
}

/* Has no value beyond 1. */
static double cliff(void *context, const double x[], double gradient[])
{
    (void)context;
    gradient[0] = -1;
    return x[0] > 1 ? NAN : -x[0];
}

static void a_place_without_a_value_is_stepped_back_from(void)
{
    static const double low[] = {0}, high[] = {100};
    const struct lbfgs problem = problem_of(1, low, high, cliff);
    double x[] = {0};
    CHECK(lbfgs_minimise(&problem, x) < -0.99);
    CHECK(x[0] <= 1);
    x[0] = 50;
    CHECK(isnan(lbfgs_minimise(&problem, x)));
    CHECK(x[0] == 50);
}

int main(void)
{
    RUN(a_bent_valley_is_followed_to_its_end);
    RUN(a_minimum_outside_ends_at_the_bound);
    RUN(as_many_coordinates_as_there_can_be_are_searched);
    RUN(a_place_without_a_value_is_stepped_back_from);
    return check_done();
}
