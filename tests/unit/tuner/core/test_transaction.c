/* What a transaction will do to memory, and what a savepoint takes back. */
#include "tests/check.h"
#include "tuner/core/transaction.h"

static void do_nothing(struct core *core, const void *data)
{
    (void)core;
    (void)data;
}

static void add_number(struct transaction *group, int64_t number)
{
    transaction_add_step(group, do_nothing, &number, sizeof number);
}

static int64_t number_of(const struct transaction *group, size_t i)
{
    CHECK(group->steps[i].apply == do_nothing);
    return *(const int64_t *)group->steps[i].data;
}

static void steps_keep_their_order_and_a_copy_of_their_data(void)
{
    struct transaction group;
    transaction_init(&group);
    for (int64_t n = 1; n <= 100; n++)
        add_number(&group, n); /* each from the same place */
    CHECK(group.n_steps == 100);
    for (size_t i = 0; i < group.n_steps; i++)
        CHECK(number_of(&group, i) == (int64_t)i + 1);
    transaction_fini(&group);
}

static void a_step_may_have_no_data(void)
{
    struct transaction group;
    transaction_init(&group);
    transaction_add_step(&group, do_nothing, NULL, 0);
    CHECK(group.n_steps == 1 && group.steps[0].data != NULL);
    transaction_fini(&group);
}

static void what_follows_a_mark_is_taken_back(void)
{
    struct transaction group;
    transaction_init(&group);
    add_number(&group, 1);
    transaction_add_revision(&group, 7, 40);
    const struct transaction_mark mark = transaction_mark(&group);
    for (int64_t n = 2; n <= 9; n++) {
        add_number(&group, n);
        transaction_add_revision(&group, 8, n);
    }
    transaction_back_to(&group, mark);
    CHECK(group.n_steps == 1 && group.n_revisions == 1);
    CHECK(number_of(&group, 0) == 1);
    CHECK(group.revisions[0].study == 7 && group.revisions[0].revision == 40);
    transaction_fini(&group);
}

/* Its arrays are made again there, at any number of members. */
static void what_is_added_after_a_step_back_overwrites_nothing(void)
{
    for (size_t kept = 0; kept <= 9; kept++) {
        struct transaction group;
        transaction_init(&group);
        for (size_t n = 0; n < kept; n++)
            add_number(&group, (int64_t)n);
        const struct transaction_mark mark = transaction_mark(&group);
        for (int64_t n = 100; n < 109; n++)
            add_number(&group, n);
        transaction_back_to(&group, mark);
        for (int64_t n = 200; n < 209; n++)
            add_number(&group, n);
        CHECK(group.n_steps == kept + 9);
        for (size_t i = 0; i < group.n_steps; i++)
            CHECK(number_of(&group, i) ==
                  (int64_t)(i < kept ? i : 200 + i - kept));
        transaction_fini(&group);
    }
}

/* Whatever a request that failed has touched is settled all the same. */
static void a_study_is_touched_once_and_for_good(void)
{
    struct transaction group;
    transaction_init(&group);
    const struct transaction_mark mark = transaction_mark(&group);
    for (int64_t round = 0; round < 3; round++)
        for (int64_t study = 1; study <= 5; study++)
            transaction_add_touched(&group, study);
    transaction_back_to(&group, mark);
    CHECK(group.n_touched == 5);
    for (size_t i = 0; i < group.n_touched; i++)
        CHECK(group.touched[i] == (int64_t)i + 1);
    transaction_fini(&group);
}

static void news_wakes_the_requests_that_wait_for_it(void)
{
    struct transaction group;
    const struct request poll = {.held_until_ms = 1};
    const struct request client = {.held_until_ms = 1, .held_for = 2};
    transaction_init(&group);
    CHECK(!transaction_wakes(&group, &poll));
    transaction_add_wake(&group, false, 1);
    CHECK(!transaction_wakes(&group, &poll));
    CHECK(!transaction_wakes(&group, &client));
    transaction_add_wake(&group, false, 2);
    CHECK(!transaction_wakes(&group, &poll));
    CHECK(transaction_wakes(&group, &client));
    transaction_add_wake(&group, true, 0);
    CHECK(transaction_wakes(&group, &poll));
    transaction_fini(&group);
}

static void a_reset_forgets_all_of_it(void)
{
    struct transaction group;
    transaction_init(&group);
    add_number(&group, 1);
    transaction_add_revision(&group, 1, 1);
    transaction_add_touched(&group, 1);
    transaction_add_wake(&group, true, 1);
    transaction_reset(&group);
    CHECK(group.n_steps == 0 && group.n_revisions == 0 && !group.wake_polls);
    CHECK(group.n_woken == 0);
    CHECK(group.n_touched == 0);
    add_number(&group, 2);
    CHECK(group.n_steps == 1 && number_of(&group, 0) == 2);
    transaction_fini(&group);
}

int main(void)
{
    RUN(steps_keep_their_order_and_a_copy_of_their_data);
    RUN(a_step_may_have_no_data);
    RUN(what_follows_a_mark_is_taken_back);
    RUN(what_is_added_after_a_step_back_overwrites_nothing);
    RUN(a_study_is_touched_once_and_for_good);
    RUN(news_wakes_the_requests_that_wait_for_it);
    RUN(a_reset_forgets_all_of_it);
    return check_done();
}
