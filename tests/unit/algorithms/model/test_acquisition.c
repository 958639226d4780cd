#include <math.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/acquisition.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

static const char *const names[] = {"a", "b", "c"};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "c", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space space = {.n = 3, .params = params};

static const double smooth[] = {0, 0.3, 1, 0, -4};
static const double rough[] = {-1.5, -1, 0, 0.5, -6};

static double rises(const double x[])
{
    return sin(5 * x[0]) + 0.3 * x[2] * x[1];
}

static double falls(const double x[])
{
    return cos(4 * x[0]) - x[1];
}

static double is_low(const double x[])
{
    return x[0] < 0.5 ? 1 : -1;
}

/* Owned by the case, which reads it through a const table. */
static struct gp *some_model(const struct encoding *encoding,
                             double of(const double x[]), const double theta[])
{
    struct gp *gp = gp_new(encoding, 24, false);
    for (size_t i = 0; i < 20; i++) {
        const double u = (double)i / 20;
        const double x[] = {u, fmod(7.7 * u, 1), (double)(i % 3)};
        gp_add(gp, x, of(x), 0);
    }
    CHECK(gp_condition(gp, theta));
    return gp;
}

static void add_outlook(struct acquisition *acquisition, size_t m,
                        const struct gp *const models[], double best)
{
    static const double reference[] = {-1, -1, -1, -1};
    const struct rng_place place = {3, 1, RNG_RAYS};
    const double values[] = {best, best / 2, best / 3, best};
    struct pareto front;
    pareto_init(&front, m);
    pareto_add(&front, values, 0);
    acquisition->guide = models[0];
    acquisition_add_outlook(acquisition, m, models, &front, reference, &place);
}

static double value_at(const struct acquisition *acquisition, const double x[])
{
    double value;
    acquisition_values(acquisition, 1, x, &value);
    return value;
}

/* One point as of many, and slopes as by differences. */
static void check_slopes(const struct acquisition *acquisition, double x[])
{
    double gradient[3], unused[3];
    CHECK(oracle_near(acquisition_value(acquisition, x, gradient),
                      value_at(acquisition, x), 1e-9));
    CHECK(gradient[2] == 0);
    for (size_t c = 0; c < 2; c++) {
        const double h = 1e-6, at = x[c];
        x[c] = at + h;
        const double above = acquisition_value(acquisition, x, unused);
        x[c] = at - h;
        const double below = acquisition_value(acquisition, x, unused);
        x[c] = at;
        CHECK(oracle_near(gradient[c], (above - below) / (2 * h), 1e-5));
    }
}

enum { PLACES = 30 };

static void some_place(size_t i, double x[])
{
    x[0] = 0.017 + 0.03 * (double)i;
    x[1] = 0.4;
    x[2] = (double)(i % 3);
}

static void two_models_are_averaged_in_the_improvement(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *a = some_model(&encoding, rises, smooth);
    struct gp *b = some_model(&encoding, rises, rough);
    const struct gp *const first[] = {a}, *const second[] = {b};
    struct acquisition one = {0}, other = {0}, both = {0};
    add_outlook(&one, 1, first, 0.9);
    add_outlook(&other, 1, second, 1.1);
    add_outlook(&both, 1, first, 0.9);
    add_outlook(&both, 1, second, 1.1);
    for (size_t i = 0; i < PLACES; i++) {
        double x[3];
        some_place(i, x);
        const double mean =
            (exp(value_at(&one, x)) + exp(value_at(&other, x))) / 2;
        CHECK(oracle_near(exp(value_at(&both, x)), mean, 1e-12));
        check_slopes(&both, x);
    }
    acquisition_fini(&one);
    acquisition_fini(&other);
    acquisition_fini(&both);
    gp_free(a);
    gp_free(b);
    encoding_fini(&encoding);
}

static void several_objectives_gain_volume_with_its_slopes(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *a = some_model(&encoding, rises, smooth);
    struct gp *b = some_model(&encoding, falls, rough);
    const struct gp *const models[] = {a, b, a, b};
    for (size_t m = 2; m <= 4; m++) {
        struct acquisition acquisition = {0};
        add_outlook(&acquisition, m, models, 0.7);
        for (size_t i = 0; i < PLACES; i++) {
            double x[3], mean[4], variance[4];
            some_place(i, x);
            for (size_t k = 0; k < m; k++)
                gp_predict(models[k], 1, x, &mean[k], &variance[k]);
            CHECK(oracle_near(value_at(&acquisition, x),
                              ehvi_log(&acquisition.outlooks[0].gain, mean,
                                       variance, NULL, NULL),
                              1e-9));
            check_slopes(&acquisition, x);
        }
        acquisition_fini(&acquisition);
    }
    gp_free(a);
    gp_free(b);
    encoding_fini(&encoding);
}

static double chance_of(const struct gp *gp, double threshold, const double x[])
{
    double mean, variance;
    gp_predict(gp, 1, x, &mean, &variance);
    const double z = (mean - threshold) / sqrt(variance + gp->noise);
    return 0.5 * erfc(-z * M_SQRT1_2);
}

static void chances_multiply_the_improvement(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *gp = some_model(&encoding, rises, smooth);
    struct gp *low = some_model(&encoding, is_low, smooth);
    struct gp *a = some_model(&encoding, falls, smooth);
    struct gp *b = some_model(&encoding, falls, rough);
    const struct gp *const models[] = {gp};
    struct acquisition alone = {0}, with = {0};
    add_outlook(&alone, 1, models, 0.9);
    add_outlook(&with, 1, models, 0.9);
    with.n_chances = 2;
    with.chances[0] = (struct chance){.n = 1, .models = {low}};
    with.chances[1] =
        (struct chance){.n = 2, .models = {a, b}, .threshold = 0.2};
    for (size_t i = 0; i < PLACES; i++) {
        double x[3];
        some_place(i, x);
        const double both = (chance_of(a, 0.2, x) + chance_of(b, 0.2, x)) / 2;
        CHECK(oracle_near(value_at(&with, x) - value_at(&alone, x),
                          log(chance_of(low, 0, x) * both), 1e-9));
        check_slopes(&with, x);
    }
    acquisition_fini(&alone);
    acquisition_fini(&with);
    gp_free(gp);
    gp_free(low);
    gp_free(a);
    gp_free(b);
    encoding_fini(&encoding);
}

/* With nothing to improve on, or too little of a chance, the chance decides. */
static void a_chance_that_is_too_small_comes_last(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *gp = some_model(&encoding, rises, smooth);
    struct gp *low = some_model(&encoding, is_low, smooth);
    const struct gp *const models[] = {gp};
    const double safe[] = {0.05, 0.4, 0}, unsafe[] = {0.95, 0.4, 0};
    struct acquisition chances = {
        .guide = gp, .n_chances = 1, .chances = {{.n = 1, .models = {low}}}};
    CHECK(oracle_near(value_at(&chances, safe), log(chance_of(low, 0, safe)),
                      1e-9));
    struct acquisition bold = chances, careful = chances;
    add_outlook(&bold, 1, models, -3);
    add_outlook(&careful, 1, models, -3);
    careful.least_chance = 0.95;
    CHECK(chance_of(low, 0, unsafe) < 0.95);
    CHECK(chance_of(low, 0, safe) > 0.95);
    CHECK(value_at(&careful, safe) == value_at(&bold, safe));
    CHECK(value_at(&careful, unsafe) < value_at(&bold, unsafe) - 100);
    double x[3] = {0.6, 0.4, 0}, gradient[3];
    acquisition_value(&careful, x, gradient);
    CHECK(gradient[0] < -100);
    check_slopes(&careful, x);
    acquisition_fini(&bold);
    acquisition_fini(&careful);
    gp_free(gp);
    gp_free(low);
    encoding_fini(&encoding);
}

static void pending_points_keep_others_away(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *a = some_model(&encoding, rises, smooth);
    const struct gp *const models[] = {a};
    const double pending[] = {0.31, 0.42, 1},
                 again[] = {0.9, fmod(7.7 * 0.9, 1), 0};
    struct acquisition with = {0}, without = {0};
    gp_believe(a, pending);
    gp_believe(a, again); /* a result is there: it is measured once more */
    add_outlook(&with, 1, models, 0.9);
    add_outlook(&without, 1, models, 0.9);
    spacing_init(&with.spacing, with.guide);
    CHECK(with.spacing.n == 1);
    for (size_t i = 0; i < PLACES; i++) {
        double x[3];
        some_place(i, x);
        CHECK(value_at(&with, x) <= value_at(&without, x));
        check_slopes(&with, x);
    }
    const double close[] = {0.3101, 0.42, 1}, away[] = {0.9, 0.42, 1};
    CHECK(value_at(&with, pending) < value_at(&without, pending) - 100);
    CHECK(value_at(&with, close) < value_at(&without, close) - 5);
    CHECK(value_at(&with, away) == value_at(&without, away));
    CHECK(value_at(&with, again) == value_at(&without, again));
    acquisition_fini(&with);
    acquisition_fini(&without);
    gp_free(a);
    encoding_fini(&encoding);
}

int main(void)
{
    algorithm_init();
    RUN(two_models_are_averaged_in_the_improvement);
    RUN(several_objectives_gain_volume_with_its_slopes);
    RUN(chances_multiply_the_improvement);
    RUN(a_chance_that_is_too_small_comes_last);
    RUN(pending_points_keep_others_away);
    return check_done();
}
