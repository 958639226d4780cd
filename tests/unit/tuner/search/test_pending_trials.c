/* Points whose results are out, in the order of their trials. */
#include "tests/check.h"
#include "tuner/search/pending_trials.h"

static void add(struct pending_trials *pending, int64_t id)
{
    const struct value point[] = {{.real = (double)id}, {.whole = -id}};
    pending_trials_add(pending, id, point, 2);
}

static void check_ids(const struct pending_trials *pending, size_t n,
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
    struct pending_trials pending = {0};
    for (size_t i = 0; i < 5; i++)
        add(&pending, came[i]);
    check_ids(&pending, 5, want);
    pending_trials_clear(&pending);
}

static void many_have_room(void)
{
    struct pending_trials pending = {0};
    int64_t want[100];
    for (int64_t id = 100; id >= 1; id--) {
        add(&pending, id);
        want[id - 1] = id;
    }
    check_ids(&pending, 100, want);
    pending_trials_clear(&pending);
}

static void the_point_is_a_copy(void)
{
    struct pending_trials pending = {0};
    struct value point[] = {{.real = 0.5}};
    pending_trials_add(&pending, 1, point, 1);
    point[0].real = 2;
    CHECK(pending.items[0].point[0].real == 0.5);
    pending_trials_clear(&pending);
}

static void who_is_dropped_is_gone_and_the_others_stay(void)
{
    static const int64_t want[] = {1, 3};
    struct pending_trials pending = {0};
    for (int64_t id = 1; id <= 3; id++)
        add(&pending, id);
    pending_trials_drop(&pending, 4); /* is not there */
    CHECK(pending.n == 3);
    pending_trials_drop(&pending, 2);
    check_ids(&pending, 2, want);
    pending_trials_clear(&pending);
}

static void after_a_clear_there_is_nothing_and_it_can_begin_again(void)
{
    static const int64_t want[] = {8};
    struct pending_trials pending = {0};
    add(&pending, 3);
    pending_trials_clear(&pending);
    CHECK(pending.n == 0 && pending.items == NULL);
    pending_trials_drop(&pending, 3);
    add(&pending, 8);
    check_ids(&pending, 1, want);
    pending_trials_clear(&pending);
}

int main(void)
{
    RUN(they_stand_by_their_ids_in_whatever_order_they_come);
    RUN(many_have_room);
    RUN(the_point_is_a_copy);
    RUN(who_is_dropped_is_gone_and_the_others_stay);
    RUN(after_a_clear_there_is_nothing_and_it_can_begin_again);
    return check_done();
}
