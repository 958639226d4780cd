/* The best that is known is of today's space, whatever earlier trials had. */
#include <math.h>
#include <string.h>

#include "algorithms/model/belief.h"
#include "proto/doc/json.h"
#include "tests/check.h"

enum { INSIDE = 4, OUTSIDE = 8 };

static struct param param = {.name = "x",
                             .type = PARAM_DOUBLE,
                             .min = 1,
                             .max = 2,
                             .former = {true, .min = 0, .max = 2}};
static const struct space space = {.n = 1, .params = &param};

struct known { /* read from a belief */
    struct candidates candidates;
    double fill, best; /* best: of the front */
    size_t n_front;
};

/* Earlier results are far better, at x below 1; inside values fall. */
static void learn(struct history *history, size_t n_inside)
{
    for (size_t i = 0; i < OUTSIDE + n_inside; i++) {
        const bool outside = i < OUTSIDE;
        const struct value point = {
            .real =
                outside ? 0.1 * (double)i : 1.1 + 0.2 * (double)(i - OUTSIDE)};
        const double value = outside ? 50 + point.real : -9 * point.real;
        history_add(history, &(struct observation){.point = &point,
                                                   .feasible = true,
                                                   .values = &value});
    }
}

/* What is known after those results and a pending point, which is outside. */
static void find_known(size_t n_inside, struct known *known)
{
    const struct setting setting = {.space = &space, .seed = 1, .n_goals = 1};
    const struct rng_place place = {1, 0, 0};
    const double pending = -0.3;
    struct acquisition acquisition;
    struct belief_hyper hyper;
    struct encoding encoding;
    struct history history;
    struct belief belief;
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    learn(&history, n_inside);
    belief_hyper_init(&hyper, NOISE_LOW);
    CHECK(belief_init(&belief, &setting, &history, &hyper, 1));
    belief_add(&belief, &pending, true);
    known->candidates = (struct candidates){.encoding = &encoding};
    belief_known(&belief, &place, &known->candidates, &known->fill);
    belief_promise(&belief, &encoding, &place, &acquisition);
    const struct pareto *front = &acquisition.outlooks[0].front;
    known->n_front = front->n;
    known->best = pareto_values(front, 0)[0];
    double most = -INFINITY;
    for (size_t k = 0; k < known->candidates.n_known; k++)
        most = fmax(most, gp_mean(belief.goals[0].models[0],
                                  known->candidates.known[k]));
    CHECK(fabs(known->best - most) < 1e-9);
    acquisition_fini(&acquisition);
    belief_fini(&belief);
    history_fini(&history);
    encoding_fini(&encoding);
}

static void the_best_known_is_inside(void)
{
    struct known known;
    find_known(INSIDE, &known);
    CHECK(known.candidates.n_known == INSIDE && known.n_front == 1);
    for (size_t k = 0; k < known.candidates.n_known; k++) {
        const double x = known.candidates.known[k][0];
        CHECK(x > 0.09 && x < 0.71); /* none is at the edge */
    }
    CHECK(known.fill > 0.09);
}

static void where_all_is_outside_the_nearest_points_count(void)
{
    struct known known;
    find_known(0, &known);
    CHECK(known.candidates.n_known == CANDIDATES_KNOWN && known.n_front == 1);
    for (size_t k = 0; k < known.candidates.n_known; k++)
        CHECK(known.candidates.known[k][0] == 0);
    CHECK(known.fill == 0);
}

int main(void)
{
    json_init();
    algorithm_init();
    RUN(the_best_known_is_inside);
    RUN(where_all_is_outside_the_nearest_points_count);
    return check_done();
}
