/* Relations between parameters: their grammar, their faults, their meaning. */
#include "proto/space/constraint.h"
#include "tests/check.h"

static const char *const optimisers[] = {"sgd", "adam", "adam-w", "la mb"};
static const double batches[] = {16, 32, 64};
static const struct value on_sgd[] = {{.whole = 0}};
static struct condition when_sgd = {.parent = 3, .n = 1, .values = on_sgd};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "layers",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 8,
     .int_step = 1},
    {.name = "opt",
     .type = PARAM_CATEGORICAL,
     .n_values = 4,
     .labels = optimisers},
    {.name = "batch",
     .type = PARAM_DISCRETE,
     .n_values = 3,
     .numbers = batches},
    {.name = "momentum", .type = PARAM_DOUBLE, .max = 1, .when = &when_sgd},
    {.name = "x-y", .type = PARAM_DOUBLE, .max = 1},
};
static const struct space space = {.n = 7, .params = params};

/* x 0.25, y 0.75, 4 layers, sgd, batch 32, momentum 0.9, x-y 0.125 */
static const struct value here[] = {
    {.real = 0.25}, {.real = 0.75}, {.whole = 4},    {.whole = 0},
    {.whole = 1},   {.real = 0.9},  {.real = 0.125},
};

static struct arena *arena;

static bool holds(const char *text, const struct value point[])
{
    struct constraint_set set;
    struct ht_error err = {.text = ""};
    arena_reset(arena);
    if (constraint_set_parse(arena, &space, 1, &text, &set, &err) != HT_OK) {
        CHECK_TEXT(err.text, "");
        return false;
    }
    CHECK((constraint_set_violation(&set, point) == 0) ==
          constraint_set_holds(&set, point));
    return constraint_set_holds(&set, point);
}

static void sums_products_and_brackets_are_computed(void)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"x + y <= 1", true},
        {"x + y < 1", false},
        {"x + 2*y <= 1", false},
        {"x + 2 * y >= 1.75", true},
        {"x < y", true},
        {"y<x", false},
        {"-x + y > 0.4", true},
        {"2 * (x + y) <= 2e0", true},
        {"layers * 16 <= batch * 2", true},
        {"layers * 16 <= batch * 1.5", false},
        {"batch / layers == 8", true},
        {"layers - 1 - 1 == 2", true},
        {"layers != 4", false},
        {"x-y < 0.2", true},
        {"x - y < 0.2 and x -y < 0", true},
        {"0.2 < x < y < 1", true},
        {"0.2 < y < x < 1", false},
        {"max(x, y) <= 0.8 and min(x, y) <= 0.3", true},
        {"log2(batch) <= 5", true},
        {"pow(layers, 2) <= 15", false},
        {"abs(x - y) >= 0.5", true},
        {"0.1 + 0.2 <= 0.3 + 0*x", true},
        {"sqrt(x - y) <= 1", false},
        {"not sqrt(x - y) <= 1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i].text, here) != cases[i].holds) {
            printf("# %s\n", cases[i].text);
            CHECK(false);
        }
}

static void combinations_are_forbidden(void)
{
    struct value point[7];
    memcpy(point, here, sizeof point);
    CHECK(!holds("not (opt == sgd and x > 0.1)", point));
    CHECK(!holds("opt != sgd or x <= 0.1", point));
    CHECK(!holds("opt == adam", point));
    point[3].whole = 1;
    CHECK(holds("not (opt == sgd and x > 0.1)", point));
    CHECK(holds("opt == 'adam' or x > 0.5", point));
    CHECK(holds("opt == adam and y > 0.5 or x > 0.5 and y > 0.9", point));
    CHECK(!holds("opt == adam and (y < 0.5 or x > 0.5)", point));
    point[3].whole = 2;
    CHECK(holds("opt == adam-w", point));
    CHECK(!holds("opt == adam", point));
    point[3].whole = 3;
    CHECK(holds("opt == \"la mb\"", point));
}

static void what_is_absent_violates_nothing(void)
{
    struct value point[7];
    memcpy(point, here, sizeof point);
    CHECK(!holds("momentum <= 0.5", point));
    point[3].whole = 1;
    point[5].absent = true;
    CHECK(holds("momentum <= 0.5", point));
    CHECK(holds("not momentum <= 0.5", point));
    CHECK(holds("not (x < y and momentum > 0.5)", point));
    CHECK(!holds("x > y and momentum > 0.5", point));
    CHECK(holds("x > y or momentum > 0.5", point));
}

static void a_violation_shrinks_on_the_way_back(void)
{
    struct constraint *constraint;
    struct value point[7];
    memcpy(point, here, sizeof point);
    CHECK(constraint_parse(arena, &space, "x + y <= 0.5", &constraint, NULL,
                           NULL) == HT_OK);
    double before = 2;
    for (int i = 0; i < 5; i++) {
        point[1].real = 0.75 - 0.1 * i;
        const double now = constraint_violation(&space, constraint, point);
        CHECK(now > 0 && now < before && now <= 1);
        before = now;
    }
    point[1].real = 0.25;
    CHECK(constraint_violation(&space, constraint, point) == 0);
}

static void every_fault_has_its_words_and_its_place(void)
{
    static const struct {
        const char *text;
        size_t at;
        const char *words;
    } cases[] = {
        {"x + zeta <= 1", 4, "\"zeta\" is no parameter"},
        {"x + laysers <= 1", 4,
         "\"laysers\" is no parameter, is \"layers\" meant?"},
        {"x +", 3, "ends where a number or a name is missing"},
        {"", 0, "ends where a number or a name is missing"},
        {"x + y", 0, "needs a comparison here, such as x + y <= 1"},
        {"x = y", 2, "compares with ==, not with ="},
        {"x == y", 2, "continuous values are never equal: use <= and >="},
        {"x < y)", 5, "does not end before \")\""},
        {"(x < y", 6, "needs a ) here"},
        {"(x < y) + 1 < 2", 0, "needs a number here, not a comparison"},
        {"opt < 3", 0,
         "\"opt\" is text: compare it with == or != and one of its values"},
        {"1 + opt < 3", 4,
         "\"opt\" is text: compare it with == or != and one of its values"},
        {"opt == sdg", 7, "\"sdg\" is no value of \"opt\", is \"sgd\" meant?"},
        {"opt == 'sgd", 7, "needs a second quote"},
        {"x < 1e", 4, "\"1e\" is no number"},
        {"x < 1e999", 4, "\"1e999\" is no number"},
        {"max(x) < 1", 5, "max needs two numbers"},
        {"sqrt x < 1", 5, "needs a ( after sqrt"},
        {"x & y", 2, "does not end before \"& y\""},
        {"x < $", 4, "needs a number or a name, not \"$\""},
        {"x + y > 2", 0, "no values of the parameters satisfy it"},
        {"layers > 3 and batch < 16", 0,
         "no values of the parameters satisfy it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct constraint *constraint;
        struct ht_error err = {.text = ""};
        size_t at = 999;
        CHECK(constraint_parse(arena, &space, cases[i].text, &constraint, &at,
                               &err) == HT_INVALID);
        CHECK_TEXT(err.text, cases[i].words);
        if (at != cases[i].at) {
            printf("# %s: at %zu\n", cases[i].text, at);
            CHECK(at == cases[i].at);
        }
    }
}

static void the_fault_of_one_of_many_names_it(void)
{
    static const char *const texts[] = {"x < y", "x < zeta"};
    struct constraint_set set = {.n = 77};
    struct ht_error err;
    CHECK(constraint_set_parse(arena, &space, 2, texts, &set, &err) ==
          HT_INVALID);
    CHECK_TEXT(err.text, "constraint \"x < zeta\": \"zeta\" is no parameter");
    CHECK(set.n == 77);
}

static void deep_and_long_texts_are_refused(void)
{
    static char text[8192];
    struct constraint *constraint;
    struct ht_error err;
    memset(text, '(', sizeof text - 1);
    CHECK(constraint_parse(arena, &space, text, &constraint, NULL, &err) ==
          HT_INVALID);
    CHECK_TEXT(err.text, "is nested too deeply");
    memset(text, '-', sizeof text - 1);
    CHECK(constraint_parse(arena, &space, text, &constraint, NULL, &err) ==
          HT_INVALID);
    CHECK_TEXT(err.text, "is nested too deeply");
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "not "[i % 4];
    CHECK(constraint_parse(arena, &space, text, &constraint, NULL, &err) ==
          HT_INVALID);
    CHECK_TEXT(err.text, "is nested too deeply");
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "x+"[i % 2];
    CHECK(constraint_parse(arena, &space, text, &constraint, NULL, &err) ==
          HT_INVALID);
    CHECK_TEXT(err.text, "has more than 1000 parts");
}

static void a_name_of_several_parameters_is_refused(void)
{
    struct param twice[] = {params[0], params[0], params[1]};
    const struct space shared = {.n = 3, .params = twice};
    struct constraint *constraint;
    struct ht_error err;
    size_t at = 0;
    CHECK(constraint_parse(arena, &shared, "y < x", &constraint, &at, &err) ==
          HT_INVALID);
    CHECK(at == 4);
    CHECK_TEXT(err.text, "several parameters have the name \"x\"");
}

static void what_does_not_hold_is_told_with_its_values(void)
{
    static const char *const texts[] = {"x + y <= 1", "layers*10 <= batch or "
                                                      "opt == adam"};
    struct constraint_set set;
    struct text out = {0};
    arena_reset(arena);
    CHECK(constraint_set_parse(arena, &space, 2, texts, &set, NULL) == HT_OK);
    constraint_set_explain(&set, here, &out);
    CHECK_TEXT(out.data, "layers*10 <= batch or opt == adam does not hold for "
                         "layers=4, opt=sgd, batch=32");
    text_clear(&out);
    set.n = 1;
    constraint_set_explain(&set, here, &out);
    CHECK(out.len == 0);
    text_free(&out);
}

int main(void)
{
    arena = arena_new();
    RUN(sums_products_and_brackets_are_computed);
    RUN(combinations_are_forbidden);
    RUN(what_is_absent_violates_nothing);
    RUN(a_violation_shrinks_on_the_way_back);
    RUN(every_fault_has_its_words_and_its_place);
    RUN(the_fault_of_one_of_many_names_it);
    RUN(deep_and_long_texts_are_refused);
    RUN(a_name_of_several_parameters_is_refused);
    RUN(what_does_not_hold_is_told_with_its_values);
    arena_free(arena);
    return check_done();
}
