/* test_release.c - which releases work together. */
#include "proto/base/release.h"
#include "tests/check.h"

static void the_same_release_fits(void)
{
    CHECK(release_fits("1.4.2", "1.4.2"));
    CHECK(release_fits("1.4.2", "1.4.0"));
    CHECK(release_fits("1.4.2", "1.4.2-rc1 (Linux)"));
}

static void one_release_apart_fits_both_ways(void)
{
    CHECK(release_fits("1.4.2", "1.5.0"));
    CHECK(release_fits("1.5.0", "1.4.2"));
}

static void two_releases_apart_do_not(void)
{
    CHECK(!release_fits("1.4.2", "1.6.0"));
    CHECK(!release_fits("1.6.0", "1.4.2"));
    CHECK(release_fits("1.9.0", "1.10.5"));
    CHECK(!release_fits("1.9.0", "1.11.5"));
}

static void another_major_release_does_not(void)
{
    CHECK(!release_fits("1.0.0", "2.0.0"));
    CHECK(!release_fits("2.1.0", "1.1.0"));
}

static void what_is_no_release_is_not_judged(void)
{
    CHECK(release_fits("1.0.0", ""));
    CHECK(release_fits("1.0.0", "local"));
    CHECK(release_fits("1.0.0", "7"));
}

int main(void)
{
    RUN(the_same_release_fits);
    RUN(one_release_apart_fits_both_ways);
    RUN(two_releases_apart_do_not);
    RUN(another_major_release_does_not);
    RUN(what_is_no_release_is_not_judged);
    return check_done();
}
