#include "proto/base/pace.h"

#include "tests/check.h"

#define KIB ((size_t)1024)
#define MOST (256 * KIB)
enum { SOON = 10 };

/* The sizes of the next messages when each is full and answered in time. */
static void expect(struct pace *pace, const size_t sizes[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(pace->batch == sizes[i]);
        pace_answered(pace, pace->batch, false, SOON);
    }
}

static void messages_double_up_to_the_most(void)
{
    struct pace pace;
    pace_init(&pace, MOST);
    expect(&pace, (const size_t[]){16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB}, 4);
    expect(&pace, (const size_t[]){MOST, MOST}, 2);
}

static void a_size_that_was_not_tried_is_kept(void)
{
    struct pace pace;
    pace_init(&pace, MOST);
    pace_answered(&pace, 100, false, SOON);
    CHECK(pace.batch == 16 * KIB);
}

static void after_a_failure_half_is_reached_and_then_steps(void)
{
    struct pace pace;
    pace_init(&pace, MOST);
    pace_failed(&pace, 8 * KIB);
    CHECK(pace.batch == 0);
    pace_failed(&pace, 500); /* as much as one record has */
    pace_answered(&pace, 500, false, SOON);
    expect(&pace, (const size_t[]){1000, 2000, 4000, 8000, 8000 + KIB}, 5);
    pace_failed(&pace, pace.batch); /* 10 KB: what half is has changed */
    pace_answered(&pace, 2 * KIB, false, SOON);
    expect(&pace, (const size_t[]){4 * KIB, 8 * KIB, 9 * KIB}, 3);
}

static void a_message_whose_answer_alone_was_lost_was_not_too_long(void)
{
    struct pace pace;
    pace_init(&pace, MOST);
    pace_failed(&pace, 8 * KIB);
    pace_answered(&pace, 500, true, SOON);
    expect(&pace, (const size_t[]){16 * KIB, 32 * KIB}, 2);
}

static void a_slow_answer_ends_doubling_and_then_halves(void)
{
    struct pace pace;
    pace_init(&pace, MOST);
    pace_answered(&pace, 16 * KIB, false, 2000);
    CHECK(pace.batch == 17 * KIB);
    pace_answered(&pace, 17 * KIB, false, 5000);
    CHECK(pace.batch == 17 * KIB / 2);
    pace_answered(&pace, pace.batch, false, SOON);
    CHECK(pace.batch == 17 * KIB);
}

int main(void)
{
    RUN(messages_double_up_to_the_most);
    RUN(a_size_that_was_not_tried_is_kept);
    RUN(after_a_failure_half_is_reached_and_then_steps);
    RUN(a_message_whose_answer_alone_was_lost_was_not_too_long);
    RUN(a_slow_answer_ends_doubling_and_then_halves);
    return check_done();
}
