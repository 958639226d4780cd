#include "algorithms/pareto.h"
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

int main(void)
{
    RUN(one_point_dominates_another_if_better_somewhere);
    RUN(a_front_keeps_what_nothing_beats);
    RUN(an_equal_point_stays_beside_and_is_nothing_new);
    RUN(many_members_stay_in_their_order);
    return check_done();
}
