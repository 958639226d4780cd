#include <math.h>

#include "algorithms/model/tpe.h"
#include "tests/check.h"

static const char *const names[] = {"a", "b", "c"};
static const struct value on_a[] = {{.whole = 0}}, on_b[] = {{.whole = 1}};
static struct condition when_a = {.parent = 1, .n = 1, .values = on_a};
static struct condition when_b = {.parent = 1, .n = 1, .values = on_b};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "kind", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "of_a", .type = PARAM_DOUBLE, .max = 1, .when = &when_a},
    {.name = "of_b", .type = PARAM_DOUBLE, .max = 1, .when = &when_b},
};
static const struct space space = {.n = 4, .params = params};

enum { X, KIND, OF_A, OF_B, DIM, N = 60, PENDING = 10, ROUNDS = 20 };

static struct encoding encoding;
static double rows[(N + PENDING) * DIM], values[N + PENDING];
static bool outside[N + PENDING];
static double fill[DIM] = {0.5, 0, 0.5, 0.5};

/* Good: x near 0.8, kind b and its own number near 0.2; kind a has numbers
 * near 0.9 among its better ones, all worse than b's. */
static double value_at(const double x[])
{
    const double off = x[X] - 0.8;
    if (x[KIND] == 1)
        return 1 - off * off - 2 * (x[OF_B] - 0.2) * (x[OF_B] - 0.2);
    return x[KIND] == 0 ? -1 - off * off - (x[OF_A] - 0.9) * (x[OF_A] - 0.9)
                        : -3;
}

static struct sample scatter(void)
{
    encoding_init(&encoding, &space);
    for (size_t i = 0; i < N + PENDING; i++) {
        double *row = rows + i * DIM;
        row[X] = fmod(0.5 + 0.8191725134 * (double)i, 1);
        row[KIND] = (double)(i % 3);
        row[OF_A] = fmod(0.5 + 0.6710436067 * (double)i, 1);
        row[OF_B] = fmod(0.5 + 0.5497004779 * (double)i, 1);
        encoding_settle(&encoding, fill, row);
        values[i] = value_at(row);
    }
    return (struct sample){&encoding, N, N, rows, values, outside};
}

struct found {
    size_t n, best;
    double x[TPE_CANDIDATES * DIM], likeness[TPE_CANDIDATES];
};

static const double *find_from(const struct candidates *start,
                               const struct sample *sample, struct found *found)
{
    found->n = tpe_candidates(sample, start, found->x, found->likeness);
    found->best = 0;
    for (size_t j = 1; j < found->n; j++)
        if (found->likeness[j] > found->likeness[found->best])
            found->best = j;
    return found->x + found->best * DIM;
}

static const double *find(const struct sample *sample, uint64_t ordinal,
                          const struct constraint_set *constraints,
                          struct found *found)
{
    const struct candidates start = {.encoding = &encoding,
                                     .seed = 5,
                                     .ordinal = ordinal,
                                     .fill = fill,
                                     .constraints = constraints};
    return find_from(&start, sample, found);
}

static void candidates_are_of_the_part_that_is_asked_for(void)
{
    const struct value given = {.whole = 2};
    struct narrowing at[DIM] = {[KIND] = {1, &given}};
    const struct sample sample = scatter();
    const struct subspace part = {&space, at};
    const struct encoding within = encoding_within(&encoding, &part);
    const struct candidates start = {
        .encoding = &within, .seed = 5, .ordinal = 1, .fill = fill};
    struct found found;
    find_from(&start, &sample, &found);
    CHECK(found.n == TPE_CANDIDATES);
    for (size_t j = 0; j < found.n; j++)
        CHECK(found.x[j * DIM + KIND] == 2);
    encoding_fini(&encoding);
}

static bool same_candidates(const struct found *a, const struct found *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n * DIM; i++)
        same = a->x[i] == b->x[i];
    return same;
}

static void it_goes_where_good_results_are(void)
{
    const struct sample sample = scatter();
    struct found found;
    int good = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const double *x = find(&sample, i, NULL, &found);
        CHECK(found.likeness[found.best] > 0);
        good += x[KIND] == 1 && fabs(x[X] - 0.8) < 0.25 &&
                fabs(x[OF_B] - 0.2) < 0.3;
    }
    CHECK(good >= ROUNDS * 3 / 4);
    encoding_fini(&encoding);
}

static void candidates_are_settled(void)
{
    const struct sample sample = scatter();
    struct found found;
    find(&sample, 1, NULL, &found);
    CHECK(found.n == TPE_CANDIDATES);
    for (size_t j = 0; j < found.n; j++) {
        const double *x = found.x + j * DIM;
        CHECK((x[OF_A] == COORDINATE_ABSENT) == (x[KIND] != 0));
        CHECK((x[OF_B] == COORDINATE_ABSENT) == (x[KIND] != 1));
    }
    encoding_fini(&encoding);
}

/* Ten are out at the best place, whatever is believed of them: the good
 * results are the same as before, but all that is there looks worse. */
static void pending_points_are_not_good_ones(void)
{
    struct sample sample = scatter();
    struct found free, busy;
    for (size_t i = N; i < N + PENDING; i++) {
        double *row = rows + i * DIM;
        row[X] = 0.8;
        row[KIND] = 1;
        row[OF_A] = COORDINATE_ABSENT;
        row[OF_B] = 0.2;
        values[i] = 100;
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        sample.n = N;
        find(&sample, i, NULL, &free);
        sample.n = N + PENDING;
        find(&sample, i, NULL, &busy);
        CHECK(same_candidates(&free, &busy));
        CHECK(busy.likeness[busy.best] < free.likeness[free.best]);
    }
    encoding_fini(&encoding);
}

static void constraints_are_kept(void)
{
    static const char *const texts[] = {"x <= 0.5"};
    const struct sample sample = scatter();
    struct arena *arena = arena_new();
    struct constraint_set set;
    struct found found;
    CHECK(constraint_set_parse(arena, &space, 1, texts, &set, NULL) == HT_OK);
    find(&sample, 3, &set, &found);
    CHECK(found.n > 0);
    for (size_t j = 0; j < found.n; j++)
        CHECK(found.x[j * DIM + X] <= 0.5);
    arena_free(arena);
    encoding_fini(&encoding);
}

static void an_ordinal_has_its_candidates(void)
{
    const struct sample sample = scatter();
    struct found one, same, other;
    find(&sample, 1, NULL, &one);
    find(&sample, 1, NULL, &same);
    find(&sample, 2, NULL, &other);
    CHECK(same_candidates(&one, &same));
    CHECK(!same_candidates(&one, &other));
    encoding_fini(&encoding);
}

/* A better one far outside has no density in today's space. */
static void results_outside_say_nothing(void)
{
    const struct sample sample = scatter();
    struct sample fewer = sample;
    struct found found, without;
    const size_t last = N - 1;
    fewer.n = fewer.n_seen = last;
    rows[last * DIM + X] = -700;
    values[last] = 100;
    outside[last] = true;
    find(&sample, 1, NULL, &found);
    find(&fewer, 1, NULL, &without);
    CHECK(same_candidates(&found, &without));
    outside[last] = false;
    encoding_fini(&encoding);
}

int main(void)
{
    RUN(candidates_are_of_the_part_that_is_asked_for);
    RUN(it_goes_where_good_results_are);
    RUN(candidates_are_settled);
    RUN(pending_points_are_not_good_ones);
    RUN(constraints_are_kept);
    RUN(an_ordinal_has_its_candidates);
    RUN(results_outside_say_nothing);
    return check_done();
}
