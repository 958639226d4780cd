/* The points that are out, in the order of their trials, and the set of those
 * that were tried. */
#include "tests/check.h"
#include "tuner/search/points.h"

/* --- pending --- */

static void add(struct points_pending *pending, int64_t id)
{
    const struct value point[] = {{.real = (double)id}, {.whole = -id}};
    points_pending_add(pending, id, false, point, 2);
}

static void check_ids(const struct points_pending *pending, size_t n,
                      const int64_t ids[])
{
    CHECK(pending->n == n);
    for (size_t i = 0; i < n && i < pending->n; i++) {
        CHECK(pending->items[i].id == ids[i]);
        CHECK(pending->items[i].point[0].real == (double)ids[i]);
        CHECK(pending->items[i].point[1].whole == -ids[i]);
    }
}

/* So that a search sees the same however they came. */
static void they_stand_by_their_ids_in_whatever_order_they_come(void)
{
    static const int64_t came[] = {5, 2, 9, 1, 7}, want[] = {1, 2, 5, 7, 9};
    struct points_pending pending = {0};
    for (size_t i = 0; i < 5; i++)
        add(&pending, came[i]);
    check_ids(&pending, 5, want);
    points_pending_clear(&pending);
}

static void many_have_room(void)
{
    struct points_pending pending = {0};
    int64_t want[100];
    for (int64_t id = 100; id >= 1; id--) {
        add(&pending, id);
        want[id - 1] = id;
    }
    check_ids(&pending, 100, want);
    points_pending_clear(&pending);
}

static void the_point_is_a_copy(void)
{
    struct points_pending pending = {0};
    struct value point[] = {{.real = 0.5}};
    points_pending_add(&pending, 1, false, point, 1);
    point[0].real = 2;
    CHECK(pending.items[0].point[0].real == 0.5);
    points_pending_clear(&pending);
}

static void who_is_dropped_is_gone_and_the_others_stay(void)
{
    static const int64_t want[] = {1, 3};
    struct points_pending pending = {0};
    for (int64_t id = 1; id <= 3; id++)
        add(&pending, id);
    points_pending_drop(&pending, 4); /* is not there */
    CHECK(pending.n == 3);
    points_pending_drop(&pending, 2);
    check_ids(&pending, 2, want);
    points_pending_clear(&pending);
}

static void after_a_clear_there_is_nothing_and_it_can_begin_again(void)
{
    static const int64_t want[] = {8};
    struct points_pending pending = {0};
    add(&pending, 3);
    points_pending_clear(&pending);
    CHECK(pending.n == 0 && pending.items == NULL);
    points_pending_drop(&pending, 3);
    add(&pending, 8);
    check_ids(&pending, 1, want);
    points_pending_clear(&pending);
}

/* --- taken --- */

static void a_point_is_taken_once(void)
{
    struct points_taken set = {0};
    CHECK(!points_taken_has(&set, "{\"x\":1}"));
    CHECK(points_taken_add(&set, "{\"x\":1}"));
    CHECK(points_taken_has(&set, "{\"x\":1}"));
    CHECK(!points_taken_add(&set, "{\"x\":1}"));
    CHECK(set.n == 1);
    CHECK(!points_taken_has(&set, "{\"x\":10}"));
    points_taken_free(&set);
}

static void the_text_is_a_copy(void)
{
    struct points_taken set = {0};
    char point[] = "{\"x\":1}";
    CHECK(points_taken_add(&set, point));
    point[5] = '2';
    CHECK(points_taken_has(&set, "{\"x\":1}"));
    CHECK(!points_taken_has(&set, point));
    points_taken_free(&set);
}

static void ten_thousand_are_found_again(void)
{
    enum { MANY = 10000 };
    struct points_taken set = {0};
    char point[32];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(point, sizeof point, "{\"x\":%d}", i);
        CHECK(points_taken_add(&set, point));
    }
    CHECK(set.n == MANY);
    for (int i = 0; i < 2 * MANY; i++) {
        (void)snprintf(point, sizeof point, "{\"x\":%d}", i);
        CHECK(points_taken_has(&set, point) == (i < MANY));
    }
    points_taken_free(&set);
}

static void after_a_clear_all_are_free_again(void)
{
    struct points_taken set = {0};
    points_taken_clear(&set);
    CHECK(points_taken_add(&set, "a") && points_taken_add(&set, "b"));
    points_taken_clear(&set);
    CHECK(set.n == 0 && !points_taken_has(&set, "a"));
    CHECK(points_taken_add(&set, "a"));
    points_taken_free(&set);
    CHECK(set.n == 0 && set.slots == NULL);
}

int main(void)
{
    RUN(they_stand_by_their_ids_in_whatever_order_they_come);
    RUN(many_have_room);
    RUN(the_point_is_a_copy);
    RUN(who_is_dropped_is_gone_and_the_others_stay);
    RUN(after_a_clear_there_is_nothing_and_it_can_begin_again);
    RUN(a_point_is_taken_once);
    RUN(the_text_is_a_copy);
    RUN(ten_thousand_are_found_again);
    RUN(after_a_clear_all_are_free_again);
    return check_done();
}
