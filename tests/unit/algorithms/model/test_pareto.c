#include "algorithms/model/pareto.h"
#include "tests/check.h"

static void one_point_dominates_another_if_better_somewhere(void)
{
    static const double a[] = {1, 2}, b[] = {1, 1}, c[] = {2, 0};
    CHECK(pareto_dominates(2, a, b));
    CHECK(!pareto_dominates(2, b, a));
    CHECK(!pareto_dominates(2, a, c));
    CHECK(!pareto_dominates(2, c, a));
    CHECK(!pareto_dominates(2, a, a));
    CHECK(pareto_covers(2, a, a));
    CHECK(pareto_covers(2, a, b));
    CHECK(!pareto_covers(2, a, c));
}

static void a_front_keeps_what_nothing_beats(void)
{
    static const double values[][2] = {{1, 1}, {3, 0}, {0, 3}, {2, 2},
                                       {2, 1}, {3, 0}, {-1, 9}};
    static const int64_t want[] = {1, 2, 3, 5, 6};
    struct pareto front;
    pareto_init(&front, 2);
    for (int64_t i = 0; i < 7; i++)
        CHECK(pareto_add(&front, values[i], i) == (i != 4));
    CHECK(front.n == 5);
    for (size_t i = 0; i < front.n && i < 5; i++)
        CHECK(front.ids[i] == want[i]);
    CHECK(pareto_values(&front, 2)[1] == 2);
    pareto_fini(&front);
}

static void an_equal_point_stays_beside_and_is_nothing_new(void)
{
    static const double a[] = {1, 2}, b[] = {1, 2}, c[] = {1, 3};
    struct pareto front;
    pareto_init(&front, 2);
    CHECK(!pareto_has(&front, a));
    CHECK(pareto_add(&front, a, 1));
    CHECK(pareto_has(&front, b));
    CHECK(!pareto_has(&front, c));
    CHECK(pareto_add(&front, b, 2));
    CHECK(front.n == 2);
    CHECK(pareto_add(&front, c, 3));
    CHECK(front.n == 1);
    pareto_fini(&front);
}

static void many_members_stay_in_their_order(void)
{
    struct pareto front;
    pareto_init(&front, 3);
    for (int64_t i = 0; i < 500; i++) {
        const double values[] = {(double)i, (double)-i, 1};
        CHECK(pareto_add(&front, values, i));
    }
    CHECK(front.n == 500);
    for (size_t i = 0; i < front.n; i++) {
        CHECK(front.ids[i] == (int64_t)i);
        CHECK(pareto_values(&front, i)[0] == (double)i);
    }
    pareto_fini(&front);
}

/* Few levels, so that many are equal in some objectives or in all. */
static void ranks_count_those_that_dominate(void)
{
    enum { ROWS = 150, WIDTH = 3 };
    double values[ROWS * WIDTH];
    size_t ranks[ROWS];
    for (size_t m = 1; m <= WIDTH; m++) {
        uint32_t state = 7;
        for (size_t i = 0; i < ROWS * m; i++) {
            state = state * 1664525 + 1013904223;
            values[i] = (double)(state >> 29);
        }
        pareto_ranks(m, ROWS, values, ranks);
        for (size_t i = 0; i < ROWS; i++) {
            size_t want = 0;
            for (size_t j = 0; j < ROWS; j++)
                want += pareto_dominates(m, &values[j * m], &values[i * m]);
            CHECK(ranks[i] == want);
        }
    }
    pareto_ranks(2, 0, values, ranks);
}

int main(void)
{
    RUN(one_point_dominates_another_if_better_somewhere);
    RUN(a_front_keeps_what_nothing_beats);
    RUN(an_equal_point_stays_beside_and_is_nothing_new);
    RUN(many_members_stay_in_their_order);
    RUN(ranks_count_those_that_dominate);
    return check_done();
}
