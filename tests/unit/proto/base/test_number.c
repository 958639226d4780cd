#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/number.h"
#include "tests/check.h"

static void the_grammar_is_that_of_json(void)
{
    static const char *const right[] = {"0",   "-0",    "10",     "0.5",
                                        "1e5", "1E-05", "-1.5e+9"};
    static const char *const wrong[] = {"",   "-",   "+1",  ".5",   "5.",
                                        "01", "1e",  "1e+", "0x10", "1 ",
                                        " 1", "--1", "inf", "NaN",  "1.5.2"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        CHECK(number_is_json(right[i]));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!number_is_json(wrong[i]));
}

static void scanning_stops_behind_the_number(void)
{
    CHECK(number_scan("12,3", 4) == 2);
    CHECK(number_scan("012", 3) == 1);
    CHECK(number_scan("1.x", 3) == 1);
    CHECK(number_scan("1e+x", 4) == 1);
    CHECK(number_scan("125", 2) == 2);
    CHECK(number_scan("1e5", 2) == 1);
    CHECK(number_scan("-", 1) == 0);
}

static bool is_int(const char *text, int64_t want)
{
    int64_t value = 77;
    return number_int64(text, &value) && value == want;
}

static void integers_are_exact_to_the_last_digit(void)
{
    CHECK(is_int("9007199254740993", 9007199254740993));
    CHECK(is_int("9223372036854775807", INT64_MAX));
    CHECK(is_int("-9223372036854775808", INT64_MIN));
    CHECK(is_int("-0", 0));
    CHECK(is_int("5.0", 5));
    CHECK(is_int("5.000", 5));
    CHECK(is_int("1e3", 1000));
    CHECK(is_int("1.5e1", 15));
    CHECK(is_int("-1200E-2", -12));
    CHECK(is_int("9.223372036854775807e18", INT64_MAX));
    CHECK(is_int("0e999999999999999999", 0));
    CHECK(is_int("0.00", 0));
    CHECK(is_int("0.05e2", 5));
}

static void what_is_no_int64_is_refused_and_changes_nothing(void)
{
    static const char *const wrong[] = {
        "9223372036854775808",  "-9223372036854775809",  "0.5", "15e-1", "1e19",
        "1e999999999999999999", "1e-999999999999999999", "12x", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t value = 77;
        CHECK(!number_int64(wrong[i], &value) && value == 77);
    }
}

static void doubles_are_finite(void)
{
    double value = 7;
    CHECK(number_double("1e-5", &value) && value == 1e-5);
    CHECK(number_double("-0", &value) && value == 0 && signbit(value));
    value = 7;
    CHECK(!number_double("1e400", &value) && value == 7);
    CHECK(!number_double("0x1p3", &value) && value == 7);
    CHECK(!number_double("inf", &value) && value == 7);
    CHECK(!number_double("nan", &value) && value == 7);
}

static void sizes_have_units_of_both_kinds(void)
{
    static const struct {
        const char *text;
        int64_t bytes; /* -1: no size */
    } sizes[] = {{"0", 0},
                 {"1024", 1024},
                 {"9007199254740993", 9007199254740993},
                 {"64Mi", INT64_C(64) << 20},
                 {"2Gi", INT64_C(2) << 30},
                 {"1.5G", 1500000000},
                 {"1e3", 1000},
                 {"3k", 3000},
                 {"1Ti", INT64_C(1) << 40},
                 {"", -1},
                 {"Gi", -1},
                 {"-1", -1},
                 {"2 Gi", -1},
                 {"2GB", -1},
                 {"0x10", -1},
                 {"1e30", -1},
                 {"8000000Ti", -1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t bytes = -1;
        bool read = number_bytes(sizes[i].text, &bytes);
        CHECK(read == (sizes[i].bytes >= 0));
        CHECK(bytes == sizes[i].bytes);
    }
}

int main(void)
{
    RUN(the_grammar_is_that_of_json);
    RUN(scanning_stops_behind_the_number);
    RUN(integers_are_exact_to_the_last_digit);
    RUN(what_is_no_int64_is_refused_and_changes_nothing);
    RUN(doubles_are_finite);
    RUN(sizes_have_units_of_both_kinds);
    return check_done();
}
