#include <stdint.h>

#include "proto/base/clock.h"
#include "tests/check.h"

static void stamps_have_one_width(void)
{
    char b[CLOCK_STAMP_BYTES];
    CHECK_TEXT(clock_stamp(b, 0), "1970-01-01T00:00:00.000Z");
    CHECK_TEXT(clock_stamp(b, 1795231102123), "2026-11-21T03:18:22.123Z");
    CHECK_TEXT(clock_stamp(b, -1), "1969-12-31T23:59:59.999Z");
    CHECK_TEXT(clock_stamp(b, 951782400000), "2000-02-29T00:00:00.000Z");
    CHECK_TEXT(clock_stamp(b, INT64_MAX), "9999-12-31T23:59:59.999Z");
    CHECK_TEXT(clock_stamp(b, INT64_MIN), "1000-01-01T00:00:00.000Z");
}

static void stamps_are_read_back(void)
{
    char b[CLOCK_STAMP_BYTES];
    for (int64_t ms = -5000000000123; ms < 5000000000000; ms += 99999999977) {
        int64_t back = 0;
        CHECK(clock_read_stamp(clock_stamp(b, ms), &back));
        CHECK(back == ms);
    }
}

static void stamps_of_entries_have_nine_digits(void)
{
    char b[CLOCK_STAMP_BYTES];
    CHECK_TEXT(clock_stamp_us(b, 0), "1970-01-01T00:00:00.000000000Z");
    CHECK_TEXT(clock_stamp_us(b, 1795231102123456),
               "2026-11-21T03:18:22.123456000Z");
    CHECK_TEXT(clock_stamp_us(b, -1), "1969-12-31T23:59:59.999999000Z");
}

static int64_t stamp_ns(const char *text)
{
    int64_t ns = 7;
    return clock_read_stamp_ns(text, &ns) ? ns : 7;
}

static void stamps_are_read_to_the_nanosecond(void)
{
    CHECK(stamp_ns("1970-01-01T00:00:01.123456789Z") == 1123456789);
    CHECK(stamp_ns("1970-01-01T00:00:01.1234567899Z") == 1123456789);
    CHECK(stamp_ns("1970-01-01T01:00:00.5+01:00") == 500000000);
    CHECK(stamp_ns("1969-12-31T23:59:59.9Z") == -100000000);
    CHECK(stamp_ns("1677-01-01T00:00:00Z") == INT64_MIN);
    CHECK(stamp_ns("2263-01-01T00:00:00Z") == INT64_MAX);
    CHECK(stamp_ns("noon") == 7);
}

static int64_t stamp(const char *text)
{
    int64_t ms = INT64_MIN;
    return clock_read_stamp(text, &ms) ? ms : INT64_MIN;
}

static void stamps_may_have_an_offset_or_no_fraction(void)
{
    CHECK(stamp("1970-01-01T00:00:01Z") == 1000);
    CHECK(stamp("1970-01-01t01:00:00+01:00") == 0);
    CHECK(stamp("1969-12-31T18:30:00-05:30") == 0);
    CHECK(stamp("1970-01-01T00:00:00.5z") == 500);
    CHECK(stamp("1970-01-01T00:00:00.123456789Z") == 123);
    CHECK(stamp("2016-12-31T23:59:60Z") == stamp("2017-01-01T00:00:00Z"));
}

static void what_is_no_stamp_is_refused(void)
{
    static const char *const wrong[] = {"",
                                        "now",
                                        "2026-11-21",
                                        "2026-11-21 03:10:02Z",
                                        "2026-11-21T03:10:02",
                                        "2026-11-21T03:10Z",
                                        "2026-13-01T00:00:00Z",
                                        "2026-00-01T00:00:00Z",
                                        "2026-02-29T00:00:00Z",
                                        "1900-02-29T00:00:00Z",
                                        "2026-11-31T00:00:00Z",
                                        "2026-11-21T24:00:00Z",
                                        "2026-11-21T00:60:00Z",
                                        "2026-11-21T00:00:61Z",
                                        "2026-11-21T00:00:00.Z",
                                        "2026-11-21T00:00:00Zx",
                                        "2026-11-21T00:00:00+1:00",
                                        "2026-11-21T00:00:00+24:00",
                                        "26-11-21T00:00:00Z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(stamp(wrong[i]) == INT64_MIN);
}

static int64_t duration(const char *text)
{
    int64_t ms = -1;
    return clock_read_duration(text, &ms) ? ms : -1;
}

static void durations_have_units(void)
{
    CHECK(duration("90") == 90000);
    CHECK(duration("90s") == 90000);
    CHECK(duration("1.5h") == 5400000);
    CHECK(duration("2h30m") == 9000000);
    CHECK(duration("250ms") == 250);
    CHECK(duration("3.5s") == 3500);
    CHECK(duration("1d") == 86400000);
    CHECK(duration("1d2h3m4s5ms") == 93784005);
    CHECK(duration("0") == 0);
    CHECK(duration("0.0015s") == 2);
    CHECK(duration("3.000000001s") == 3000);
    CHECK(duration("315576000000s") == 315576000000000);
}

static void what_is_no_duration_is_refused(void)
{
    static const char *const wrong[] = {"",
                                        "-1s",
                                        "1x",
                                        "nan",
                                        "inf",
                                        "s",
                                        "1.s",
                                        ".5s",
                                        "1e3",
                                        "1 s",
                                        "2h30",
                                        "1h1h",
                                        "30m2h",
                                        "1ms1s",
                                        "+1s",
                                        "1S",
                                        "1h ",
                                        "1min",
                                        "0x10",
                                        "1,5s",
                                        "1.5.2s",
                                        "99999999999999999999",
                                        "9223372036854775807s",
                                        "106751991168d"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(duration(wrong[i]) == -1);
}

static void a_refusal_leaves_the_value_alone(void)
{
    int64_t ms = 7;
    CHECK(!clock_read_duration("1h1x", &ms) && ms == 7);
    CHECK(!clock_read_stamp("2026", &ms) && ms == 7);
}

static void durations_show_two_units_at_most(void)
{
    char b[CLOCK_DURATION_BYTES];
    CHECK_TEXT(clock_duration(b, 250), "250ms");
    CHECK_TEXT(clock_duration(b, 4200), "4.2s");
    CHECK_TEXT(clock_duration(b, 4000), "4s");
    CHECK_TEXT(clock_duration(b, 59999), "59.9s");
    CHECK_TEXT(clock_duration(b, 438000), "7m18s");
    CHECK_TEXT(clock_duration(b, 420000), "7m");
    CHECK_TEXT(clock_duration(b, 8040000), "2h14m");
    CHECK_TEXT(clock_duration(b, 7205000), "2h");
    CHECK_TEXT(clock_duration(b, 273600000), "3d4h");
    CHECK_TEXT(clock_duration(b, 0), "0s");
    CHECK_TEXT(clock_duration(b, -5), "0s");
    CHECK_TEXT(clock_duration(b, INT64_MAX), "106751991167d7h");
}

static void shown_durations_can_be_read(void)
{
    char b[CLOCK_DURATION_BYTES];
    for (int64_t ms = 1; ms < 1000000000; ms = ms * 3 + 1) {
        int64_t back = duration(clock_duration(b, ms));
        CHECK(back >= 0 && back <= ms && ms - back <= ms / 24 + 100);
    }
}

static void clocks_go_forward(void)
{
    int64_t first = clock_monotonic_ms();
    CHECK(clock_monotonic_ms() >= first && first > 0);
    CHECK(clock_wall_ms() > 1600000000000);
}

static void a_moment_in_a_while_is_on_the_clock_of_waits(void)
{
    static const int64_t whiles[] = {0, 1, 999, 1000, 90061};
    for (size_t i = 0; i < sizeof whiles / sizeof *whiles; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        const struct timespec at = clock_in_ms(whiles[i]);
        clock_gettime(CLOCK_MONOTONIC, &after);
        const int64_t ns =
            (int64_t)at.tv_sec * 1000000000 + at.tv_nsec - whiles[i] * 1000000;
        CHECK(at.tv_nsec >= 0 && at.tv_nsec < 1000000000);
        CHECK(ns >= (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
        CHECK(ns <= (int64_t)after.tv_sec * 1000000000 + after.tv_nsec);
    }
}

int main(void)
{
    RUN(stamps_have_one_width);
    RUN(stamps_are_read_back);
    RUN(stamps_of_entries_have_nine_digits);
    RUN(stamps_are_read_to_the_nanosecond);
    RUN(stamps_may_have_an_offset_or_no_fraction);
    RUN(what_is_no_stamp_is_refused);
    RUN(durations_have_units);
    RUN(what_is_no_duration_is_refused);
    RUN(a_refusal_leaves_the_value_alone);
    RUN(durations_show_two_units_at_most);
    RUN(shown_durations_can_be_read);
    RUN(clocks_go_forward);
    RUN(a_moment_in_a_while_is_on_the_clock_of_waits);
    return check_done();
}
