/* The set of points that were tried. */
#include "tests/check.h"
#include "tuner/search/points_taken.h"

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
    RUN(a_point_is_taken_once);
    RUN(the_text_is_a_copy);
    RUN(ten_thousand_are_found_again);
    RUN(after_a_clear_all_are_free_again);
    return check_done();
}
