/* Metrics read from printed lines. */
#include <stdlib.h>

#include "proto/job/pattern.h"
#include "tests/check.h"

static struct arena *arena;

static bool match(const char *text, const char *line, struct report *report)
{
    struct pattern *pattern = NULL;
    *report = (struct report){0};
    return pattern_compile(arena, text, &pattern, NULL) == HT_OK &&
           pattern_match(arena, pattern, line, strlen(line), report);
}

static void lines_match_or_not(void)
{
    static const struct {
        const char *pattern, *line, *want; /* want NULL: no match */
    } cases[] = {{"acc={a}", "epoch 3 acc=0.93 ok", "0.93"},
                 {"acc={a}", "acc=", NULL},
                 {"acc={a}", "acc=x acc=0.5", "0.5"},
                 {"acc={a}", "acc=-1.5e-3,", "-0.0015"},
                 {"acc={a}", "acc=0.93.", "0.93"},
                 {"acc={a}", "acc=.5", "0.5"},
                 {"acc={a}", "acc=1e", "1"},
                 {"acc={a}", "acc=1e400", "Infinity"},
                 {"acc={a}", "acc=nan", "NaN"},
                 {"acc={a}", "acc=-Infinity", "-Infinity"},
                 {"acc={a}", "acc=information", NULL},
                 {"loss={a}", "val_loss=0.3", NULL},
                 {"loss={a}", "val_loss=0.3 loss=0.2", "0.2"},
                 {"loss={a}", "val-loss=0.3 loss=0.2", "0.2"},
                 {"loss={a}", "val-loss=0.3", NULL},
                 {"loss={a}", "12-loss=0.3", "0.3"},
                 {"loss={a}", "--loss=0.3", "0.3"},
                 {"acc = {a}", "acc \t=   7", "7"},
                 {"acc = {a}", "acc=7", NULL},
                 {"{a}%", "x 12 at 93.5% done", "93.5"},
                 {"{a} done", "-3 done", "-3"},
                 {"{a} s", "took 10x 4 s", "4"},
                 {"a={a}{*}", "a=1", "1"},
                 {"{step}{*}l={a}", "3foo l=2", "2"},
                 {"{step} {*}l={a} s", "3 foo l=x l=2 s", "2"},
                 {"epoch {step}.*acc={a}", "epoch 1 of 2 acc=0.5", "0.5"},
                 {"t.*: {a}", "time: 3", "3"},
                 {"a.b={a}", "a.b=4 axb=5", "4"},
                 {"[{*}] acc={a}", "[12:03] acc=1 acc=2", "1"},
                 {"loss {*} acc {a};", "loss acc acc 1 acc 2;", "2"},
                 {"{a}{{x}}", "5{x}", "5"},
                 {"{{\"acc\": {a}}}", "{\"acc\": 0.25}", "0.25"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report report;
        char value[TEXT_DOUBLE_BYTES];
        bool found = match(cases[i].pattern, cases[i].line, &report);
        if (!found || cases[i].want == NULL)
            CHECK_TEXT(found ? cases[i].line : "no match",
                       cases[i].want ? cases[i].line : "no match");
        else
            CHECK_TEXT(text_of_double(value, report.metrics[0].value),
                       cases[i].want);
    }
}

static void steps_and_names_are_told_apart(void)
{
    struct report report;
    CHECK(match("epoch {step}/{*} loss={loss} val/acc={val/acc}",
                "epoch 12/90 - loss=0.5 val/acc=7e-1", &report));
    CHECK(report.has_step && report.step == 12);
    CHECK(report.n_metrics == 2);
    CHECK_TEXT(report.metrics[0].name, "loss");
    CHECK_TEXT(report.metrics[1].name, "val/acc");
    CHECK(report.metrics[1].value == 0.7);
    CHECK(!match("step {step} a={a}", "step 1.5 a=2", &report));
    CHECK(!match("step {step} a={a}", "step nan a=2", &report));
    CHECK(!match("step {step} a={a}", "step -1 a=2", &report));
    CHECK(!match("step {step} a={a}", "step 1e300 a=2", &report));
    CHECK(match("a={a}", "a=1", &report) && !report.has_step);
}

static void the_line_ends_where_it_is_said_to_end(void)
{
    struct pattern *pattern;
    struct report report;
    CHECK(pattern_compile(arena, "acc={a}", &pattern, NULL) == HT_OK);
    CHECK(pattern_match(arena, pattern, "acc=12345", 6, &report));
    CHECK(report.metrics[0].value == 12);
    CHECK(!pattern_match(arena, pattern, "acc=1", 4, &report));
}

static void wrong_patterns_are_refused_with_the_reason(void)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {{"", "has no {name} of a metric"},
                 {"step {step} {*}", "has no {name} of a metric"},
                 {"acc={acc", "a brace is not closed"},
                 {"{a}{b}", "two fields side by side need text between them"},
                 {"{*}.*{b}", "two fields side by side need text between them"},
                 {"{*}{b}", "two fields side by side need text between them"},
                 {"{}", "{} names no metric"},
                 {"{a b}", "{a b} names no metric"},
                 {"{a} {a}", "{a} is there twice"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pattern *pattern = NULL;
        struct ht_error err = {0};
        CHECK(pattern_compile(arena, wrong[i].text, &pattern, &err) ==
              HT_INVALID);
        CHECK_TEXT(err.text, wrong[i].why);
        CHECK(pattern == NULL);
    }
}

static void names_leave_out_step_and_any(void)
{
    struct pattern *pattern;
    size_t n = 0;
    CHECK(pattern_compile(arena, "{step} {*}: {a} {b}", &pattern, NULL) ==
          HT_OK);
    const char *const *names = pattern_names(pattern, &n);
    CHECK(n == 2);
    CHECK_TEXT(names[0], "a");
    CHECK_TEXT(names[1], "b");
}

/* 200 stars in the way of a line of 40,000 bytes must not explode. */
static void hostile_lines_take_linear_time(void)
{
    struct text pattern = {0}, line = {0};
    for (int i = 0; i < 200; i++)
        text_puts(&pattern, "a{*}");
    text_puts(&pattern, "b={x}");
    for (int i = 0; i < 20000; i++)
        text_puts(&line, "a ");
    struct report report;
    CHECK(!match(pattern.data, line.data, &report));
    text_puts(&line, "b=4");
    CHECK(match(pattern.data, line.data, &report));
    text_free(&pattern);
    text_free(&line);
}

int main(void)
{
    arena = arena_new();
    RUN(lines_match_or_not);
    RUN(steps_and_names_are_told_apart);
    RUN(the_line_ends_where_it_is_said_to_end);
    RUN(wrong_patterns_are_refused_with_the_reason);
    RUN(names_leave_out_step_and_any);
    RUN(hostile_lines_take_linear_time);
    arena_free(arena);
    return check_done();
}
