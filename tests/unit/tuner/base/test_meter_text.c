/* Prometheus' text format, with foreign text in the labels. */
#include <math.h>

#include "tests/check.h"
#include "tuner/base/meter.h"

static void a_family_names_its_type_before_its_samples(void)
{
    struct text out = {0};
    meter_single(&out, "up_seconds", "gauge", "Since the start.", 12.5);
    CHECK_TEXT(out.data, "# HELP up_seconds Since the start.\n"
                         "# TYPE up_seconds gauge\n"
                         "up_seconds 12.5\n");
    text_free(&out);
}

static void labels_are_quoted(void)
{
    const struct meter_label labels[] = {{"study", "a\"b\\c\nd"},
                                         {"state", "\xc3\xa4"}};
    struct text out = {0};
    meter_sample(&out, "trials", 2, labels, 3);
    CHECK_TEXT(out.data,
               "trials{study=\"a\\\"b\\\\c\\nd\",state=\"\xc3\xa4\"} 3\n");
    text_free(&out);
}

static void numbers_are_exact_or_have_their_names(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "n 0\n"},
                 {9007199254740992.0, "n 9.00719925474099e+15\n"},
                 {123456789012345.0, "n 123456789012345\n"},
                 {0.1, "n 0.1\n"},
                 {NAN, "n NaN\n"},
                 {INFINITY, "n +Inf\n"},
                 {-INFINITY, "n -Inf\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        meter_sample(&out, "n", 0, NULL, cases[i].value);
        CHECK_TEXT(out.data, cases[i].text);
        text_free(&out);
    }
}

int main(void)
{
    RUN(a_family_names_its_type_before_its_samples);
    RUN(labels_are_quoted);
    RUN(numbers_are_exact_or_have_their_names);
    return check_done();
}
