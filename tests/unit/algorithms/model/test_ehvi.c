#include <math.h>

#include "algorithms/base/normal.h"
#include "algorithms/model/ehvi.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

static const struct rng_place place = {11, 4, RNG_RAYS};

static void read_front(const cJSON *points, struct pareto *front)
{
    const cJSON *each;
    pareto_init(front, 2);
    cJSON_ArrayForEach(each, points)
    {
        const double values[] = {cJSON_GetArrayItem(each, 0)->valuedouble,
                                 cJSON_GetArrayItem(each, 1)->valuedouble};
        pareto_add(front, values, 0);
    }
}

/* Points that share a sphere, so that none dominates another. */
static void some_front(size_t m, size_t n, struct pareto *front)
{
    pareto_init(front, m);
    for (uint64_t i = 0; i < n; i++) {
        double values[SETTING_METRICS], squares = 0;
        for (size_t k = 0; k < m; k++) {
            values[k] = 0.05 + rng_unit(&place, 100 * i + k);
            squares += values[k] * values[k];
        }
        for (size_t k = 0; k < m; k++)
            values[k] /= sqrt(squares);
        pareto_add(front, values, (int64_t)i);
    }
}

/* What a point alone adds to the volume. */
static double added(const struct pareto *front, const double reference[],
                    const double y[])
{
    struct pareto with;
    pareto_init(&with, front->m);
    for (size_t i = 0; i < front->n; i++)
        pareto_add(&with, pareto_values(front, i), 0);
    for (size_t k = 0; k < front->m; k++)
        if (!(y[k] > reference[k])) {
            pareto_fini(&with);
            return 0;
        }
    pareto_add(&with, y, 0);
    const double gain =
        hypervolume(&with, reference) - hypervolume(front, reference);
    pareto_fini(&with);
    return gain;
}

static void the_volume_of_two_objectives_is_the_reference(void)
{
    cJSON *all;
    const cJSON *given = oracle("hv2", &all);
    struct pareto front;
    double reference[2];
    read_front(cJSON_GetObjectItem(given, "points"), &front);
    oracle_numbers(given, "ref", 2, reference);
    CHECK(oracle_near(hypervolume(&front, reference),
                      oracle_number(given, "hv"), 1e-12));
    pareto_fini(&front);
    cJSON_Delete(all);
}

/* Inclusion and exclusion of three boxes. */
static void the_volume_of_three_objectives_is_counted_once(void)
{
    static const double a[] = {3, 2, 1}, b[] = {1, 3, 2}, c[] = {2, 1, 3};
    static const double reference[] = {0, 0, 0};
    struct pareto front;
    pareto_init(&front, 3);
    CHECK(hypervolume(&front, reference) == 0);
    pareto_add(&front, a, 0);
    CHECK(oracle_near(hypervolume(&front, reference), 6, 1e-12));
    pareto_add(&front, b, 0);
    CHECK(oracle_near(hypervolume(&front, reference), 6 + 6 - 2, 1e-12));
    pareto_add(&front, c, 0);
    CHECK(
        oracle_near(hypervolume(&front, reference), 3 * 6 - 3 * 2 + 1, 1e-12));
    pareto_fini(&front);
}

static void points_below_the_reference_count_nothing(void)
{
    static const double a[] = {1, 1}, b[] = {2, -1}, reference[] = {0, 0};
    struct pareto front;
    struct boxes boxes;
    pareto_init(&front, 2);
    pareto_add(&front, a, 0);
    pareto_add(&front, b, 0);
    CHECK(hypervolume(&front, reference) == 1);
    CHECK(hypervolume_boxes_init(&boxes, &front, reference, 100));
    for (size_t i = 0; i < boxes.n; i++)
        CHECK(boxes.edges[1][boxes.items[i].low[1]] >= 0);
    hypervolume_boxes_fini(&boxes);
    pareto_fini(&front);
}

/* Every place above the reference is either covered or in just one box. */
static void boxes_are_the_rest_of_the_space(void)
{
    static const double reference[] = {0, 0, 0, 0};
    for (size_t m = 1; m <= 4; m++) {
        struct pareto front;
        struct boxes boxes;
        some_front(m, 9, &front);
        CHECK(hypervolume_boxes_init(&boxes, &front, reference, 2000));
        for (uint64_t i = 0; i < 2000; i++) {
            double y[4];
            size_t in = 0;
            for (size_t k = 0; k < m; k++)
                y[k] = 1.2 * rng_unit(&place, 100000 + 10 * i + k);
            for (size_t j = 0; j < boxes.n; j++) {
                const struct box *box = &boxes.items[j];
                bool inside = true;
                for (size_t k = 0; k < m; k++)
                    inside = inside && y[k] >= boxes.edges[k][box->low[k]] &&
                             (box->high[k] == boxes.n_edges[k] ||
                              y[k] < boxes.edges[k][box->high[k]]);
                in += inside;
            }
            CHECK(in == (pareto_has(&front, y) ? 0 : 1));
        }
        CHECK(m == 1 || boxes.n > 1);
        hypervolume_boxes_fini(&boxes);
        CHECK(hypervolume_boxes_init(&boxes, &front, reference, 1) == (m == 1));
        hypervolume_boxes_fini(&boxes);
        pareto_fini(&front);
    }
}

static void the_gain_of_two_objectives_is_the_reference(void)
{
    cJSON *all;
    const cJSON *given = oracle("ehvi2", &all);
    struct pareto front;
    struct ehvi ehvi;
    double reference[2], mean[2], deviation[2];
    read_front(cJSON_GetObjectItem(given, "front"), &front);
    oracle_numbers(given, "ref", 2, reference);
    oracle_numbers(given, "mu", 2, mean);
    oracle_numbers(given, "sigma", 2, deviation);
    const double variance[] = {deviation[0] * deviation[0],
                               deviation[1] * deviation[1]};
    ehvi_init(&ehvi, &front, reference, &place);
    CHECK(oracle_near(exp(ehvi_log(&ehvi, mean, variance, NULL, NULL)),
                      oracle_number(given, "ehvi"), 1e-12));
    ehvi_fini(&ehvi);
    pareto_fini(&front);
    cJSON_Delete(all);
}

static void the_gain_of_one_objective_is_the_expected_improvement(void)
{
    static const double best[] = {0.7}, reference[] = {0};
    struct pareto front;
    struct ehvi ehvi;
    pareto_init(&front, 1);
    pareto_add(&front, best, 0);
    ehvi_init(&ehvi, &front, reference, &place);
    for (int i = 0; i < 50; i++) {
        const double mean = -40 + i, variance = 0.01 + 0.05 * i;
        double by_mean, by_variance, want_mean, want_variance;
        const double want = normal_log_excess(mean, variance, best[0],
                                              &want_mean, &want_variance);
        CHECK(ehvi_log(&ehvi, &mean, &variance, &by_mean, &by_variance) ==
              want);
        CHECK(oracle_near(by_mean, want_mean, 1e-12));
        CHECK(oracle_near(by_variance, want_variance, 1e-12));
    }
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

static const double some_reference[] = {0, 0, 0, 0, 0};
static const double some_mean[] = {0.6, 0.8, 0.5, 0.6};
static const double some_variance[] = {0.04, 0.01, 0.09, 0.04};

static void draw_result(size_t m, uint64_t i, double y[])
{
    const struct rng_place draw = {5, i, 0};
    for (size_t k = 0; k < m; k++)
        y[k] = some_mean[k] + sqrt(some_variance[k]) * rng_normal(&draw, k);
}

static void the_gain_of_two_objectives_is_that_of_drawn_results(void)
{
    enum { DRAWS = 20000 };
    struct pareto front;
    struct ehvi ehvi;
    double sum = 0;
    some_front(2, 6, &front);
    ehvi_init(&ehvi, &front, some_reference, &place);
    CHECK(ehvi.boxes.n == front.n + 1);
    for (uint64_t i = 0; i < DRAWS; i++) {
        double y[2];
        draw_result(2, i, y);
        sum += pareto_has(&front, y) ? 0 : added(&front, some_reference, y);
    }
    const double drawn = sum / DRAWS;
    CHECK(fabs(exp(ehvi_log(&ehvi, some_mean, some_variance, NULL, NULL)) -
               drawn) <= 0.03 * drawn);
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

/* Against what drawn results add there to the front's own reach. */
static void check_ray(size_t m, uint64_t ordinal)
{
    enum { DRAWS = 20000 };
    const struct rng_place at = {11, ordinal, RNG_RAYS};
    struct pareto front;
    struct ehvi ehvi;
    double sum = 0, end = 0;
    some_front(m, 6, &front);
    ehvi_init(&ehvi, &front, some_reference, &at);
    CHECK(ehvi.boxes.n == 0 && ehvi.n_corners > 0);
    for (size_t i = 0; i < front.n; i++)
        end = fmax(end, ehvi_reach(m, pareto_values(&front, i), some_reference,
                                   ehvi.direction));
    for (uint64_t i = 0; i < DRAWS; i++) {
        double y[4];
        draw_result(m, i, y);
        const double to = ehvi_reach(m, y, some_reference, ehvi.direction);
        sum += fmax(pow(to, (double)m) - pow(end, (double)m), 0);
    }
    const double drawn = sum / DRAWS;
    const double got =
        exp(ehvi_log(&ehvi, some_mean, some_variance, NULL, NULL));
    CHECK(fabs(got - drawn) <= 0.1 * drawn + 1e-4);
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

static void a_ray_gains_what_drawn_results_add_on_it(void)
{
    for (uint64_t ordinal = 1; ordinal < 12; ordinal += 2) {
        check_ray(2, ordinal);
        check_ray(3, ordinal);
        check_ray(4, ordinal + 1);
    }
}

static void each_suggestion_has_a_ray_of_its_own(void)
{
    struct pareto front;
    struct ehvi a, b;
    some_front(3, 6, &front);
    ehvi_init(&a, &front, some_reference, &(struct rng_place){11, 1, 5});
    ehvi_init(&b, &front, some_reference, &(struct rng_place){11, 2, 5});
    CHECK(a.direction[0] != b.direction[0]);
    CHECK(oracle_near(pow(a.direction[0], 2) + pow(a.direction[1], 2) +
                          pow(a.direction[2], 2),
                      1, 1e-12));
    ehvi_fini(&a);
    ehvi_fini(&b);
    pareto_fini(&front);
}

static void too_many_boxes_are_left_for_a_ray(void)
{
    struct pareto front;
    struct ehvi ehvi;
    some_front(2, 1000, &front);
    CHECK(front.n == 1000);
    ehvi_init(&ehvi, &front, some_reference, &place);
    CHECK(ehvi.boxes.n == 0 && ehvi.n_corners > 0);
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

static void a_reach_is_that_of_the_reference_scalarisation(void)
{
    cJSON *all;
    const cJSON *each, *cases = oracle("hv_scalarisation", &all);
    int n = 0;
    cJSON_ArrayForEach(each, cases)
    {
        double weights[2], y[2], reference[2];
        oracle_numbers(each, "weights", 2, weights);
        oracle_numbers(each, "y", 2, y);
        oracle_numbers(each, "ref", 2, reference);
        CHECK(oracle_near(pow(ehvi_reach(2, y, reference, weights), 2),
                          oracle_number(each, "value"), 1e-12));
        n++;
    }
    CHECK(n == 2);
    cJSON_Delete(all);
}

static void check_slopes(size_t m, size_t n)
{
    static const double reference[] = {0, 0, 0, 0, 0};
    struct pareto front;
    struct ehvi ehvi;
    some_front(m, n, &front);
    ehvi_init(&ehvi, &front, reference, &place);
    for (int i = 0; i < 40; i++) {
        double mean[5], variance[5], by_mean[5], by_variance[5];
        for (size_t k = 0; k < m; k++) {
            mean[k] = -1 + 0.05 * i + 0.3 * (double)k;
            variance[k] = pow(10, -2 + 0.05 * i - 0.4 * (double)k);
        }
        ehvi_log(&ehvi, mean, variance, by_mean, by_variance);
        for (size_t k = 0; k < 2 * m; k++) {
            double *at = k < m ? &mean[k] : &variance[k - m];
            const double slope = k < m ? by_mean[k] : by_variance[k - m];
            const double before = *at, h = 1e-5 * fmin(1, fabs(before) + 1e-3);
            *at = before + h;
            const double above = ehvi_log(&ehvi, mean, variance, NULL, NULL);
            *at = before - h;
            const double below = ehvi_log(&ehvi, mean, variance, NULL, NULL);
            *at = before;
            CHECK(oracle_near(slope, (above - below) / (2 * h), 1e-5));
        }
    }
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

static void slopes_are_those_of_differences(void)
{
    check_slopes(2, 12);
    check_slopes(3, 9);
    check_slopes(5, 9);
}

/* Far from every improvement, and where strips are narrower than rounding. */
static void the_logarithm_is_finite_everywhere(void)
{
    static const double reference[] = {0, 0};
    const double a[] = {1, 1}, b[] = {1 + 1e-15, 1 - 1e-15}, c[] = {0.5, 2};
    struct pareto front;
    struct ehvi ehvi;
    pareto_init(&front, 2);
    pareto_add(&front, a, 0);
    pareto_add(&front, b, 0);
    pareto_add(&front, c, 0);
    ehvi_init(&ehvi, &front, reference, &place);
    double last = -INFINITY;
    for (int i = 0; i <= 60; i++) {
        const double at = -1000 + pow(i, 1.7);
        const double mean[] = {at, at}, variance[] = {1e-4, 1};
        double by_mean[2], by_variance[2];
        const double log =
            ehvi_log(&ehvi, mean, variance, by_mean, by_variance);
        CHECK(isfinite(log) && log > last);
        CHECK(isfinite(by_mean[0]) && isfinite(by_mean[1]));
        CHECK(isfinite(by_variance[0]) && isfinite(by_variance[1]));
        last = log;
    }
    ehvi_fini(&ehvi);
    pareto_fini(&front);
}

int main(void)
{
    RUN(the_volume_of_two_objectives_is_the_reference);
    RUN(the_volume_of_three_objectives_is_counted_once);
    RUN(points_below_the_reference_count_nothing);
    RUN(boxes_are_the_rest_of_the_space);
    RUN(the_gain_of_two_objectives_is_the_reference);
    RUN(the_gain_of_one_objective_is_the_expected_improvement);
    RUN(the_gain_of_two_objectives_is_that_of_drawn_results);
    RUN(a_ray_gains_what_drawn_results_add_on_it);
    RUN(each_suggestion_has_a_ray_of_its_own);
    RUN(too_many_boxes_are_left_for_a_ray);
    RUN(a_reach_is_that_of_the_reference_scalarisation);
    RUN(slopes_are_those_of_differences);
    RUN(the_logarithm_is_finite_everywhere);
    return check_done();
}
