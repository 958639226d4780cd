/* Scales, levels, points and their canonical text. */
#include <float.h>
#include <math.h>

#include "proto/space/space.h"
#include "tests/check.h"

static const struct param real = {
    .name = "lr", .type = PARAM_DOUBLE, .min = 1e-5, .max = 0.1};
static const struct param stepped = {
    .name = "x", .type = PARAM_DOUBLE, .min = 0.1, .max = 0.7, .step = 0.1};
static const struct param whole = {.name = "n",
                                   .type = PARAM_INTEGER,
                                   .int_min = 1,
                                   .int_max = 8,
                                   .int_step = 1};
static const struct param widest = {.name = "w",
                                    .type = PARAM_INTEGER,
                                    .int_min = INT64_MIN,
                                    .int_max = INT64_MAX,
                                    .int_step = 1};
static const double batches[] = {32, 64, 128};
static const struct param discrete = {
    .name = "batch", .type = PARAM_DISCRETE, .n_values = 3, .numbers = batches};
static const char *const names[] = {"adam", "s\"gd"};
static const struct param category = {
    .name = "opt", .type = PARAM_CATEGORICAL, .n_values = 2, .labels = names};

static double number(const struct param *param, struct value value)
{
    return param->type == PARAM_DOUBLE ? value.real : (double)value.whole;
}

/* Walks u from 0 to beyond 1: never outside the bounds, never backwards. */
static void check_walk(const struct param *param, double low, double high)
{
    double before = -INFINITY;
    for (int i = -5; i <= 2005; i++) {
        double x = number(param, space_param_from_unit(param, i / 2000.0));
        CHECK(x >= low && x <= high);
        CHECK(x >= before);
        before = x;
    }
    CHECK(number(param, space_param_from_unit(param, 0)) <=
          low + (high - low) / 9);
    CHECK(before >= high - (high - low) / 9);
}

static void every_scale_stays_in_bounds_and_is_monotone(void)
{
    for (int scale = SCALE_LINEAR; scale <= SCALE_REVERSE_LOG; scale++) {
        struct param param = real;
        param.scale = (enum param_scale)scale;
        check_walk(&param, 1e-5, 0.1);
        param = stepped;
        param.scale = (enum param_scale)scale;
        check_walk(&param, 0.1, 0.7);
        param = whole;
        param.scale = (enum param_scale)scale;
        check_walk(&param, 1, 8);
    }
    check_walk(&discrete, 0, 2);
    check_walk(&category, 0, 1);
}

static void the_ends_are_as_they_were_written(void)
{
    for (int scale = SCALE_LINEAR; scale <= SCALE_REVERSE_LOG; scale++) {
        struct param param = real;
        param.scale = (enum param_scale)scale;
        param.min = 0.1;
        param.max = 0.999;
        CHECK(space_param_from_unit(&param, 0).real == 0.1);
        CHECK(space_param_from_unit(&param, 1).real == 0.999);
    }
}

/* The ends of eight decades, none of whose logarithms is exact. */
static void round_numbers_between_are_met(void)
{
    struct param param = real;
    param.scale = SCALE_LOG;
    param.min = 1e-9;
    param.max = 0.1;
    static const double ends[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
    for (int i = 0; i < 7; i++)
        CHECK(space_param_from_unit(&param, (i + 1) / 8.0).real == ends[i]);
    /* What is no round number keeps all its digits, ... */
    const double x = space_param_from_unit(&param, 0.3).real;
    CHECK(fabs(x / pow(10, -9 + 0.3 * 8) - 1) < 1e-12);
    CHECK(x != 2.51189e-07);
    /* ... and a bound beside one is no more left for it. */
    param.scale = SCALE_LINEAR;
    param.min = nextafter(0.1, 1);
    param.max = nextafter(param.min, 1);
    CHECK(space_param_from_unit(&param, 0.5).real >= param.min);
}

static void log_scale_meets_its_middle(void)
{
    struct param param = real;
    param.scale = SCALE_LOG;
    CHECK(space_param_from_unit(&param, 0.5).real == 1e-3);
    CHECK(space_param_from_unit(&param, 0.25).real == 1e-4);
    param.scale = SCALE_REVERSE_LOG;
    CHECK(fabs(space_param_from_unit(&param, 0.5).real - (0.1 + 1e-5 - 1e-3)) <
          1e-12);
    param.scale = SCALE_LINEAR;
    CHECK(fabs(space_param_from_unit(&param, 0.5).real - 0.050005) < 1e-12);
}

/* Half-step margins: 1 of 1..8 owns ln(1.5/0.5)/ln(8.5/0.5) = 38.8 %. */
static void log_integers_have_half_step_margins(void)
{
    struct param param = whole;
    param.scale = SCALE_LOG;
    int first = 0, last = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t n = space_param_from_unit(&param, (i + 0.5) / 10000).whole;
        first += n == 1;
        last += n == 8;
    }
    CHECK(first > 3860 && first < 3900);
    CHECK(last > 430 && last < 450); /* ln(8.5/7.5)/ln(17) = 4.4 % */
    param.scale = SCALE_REVERSE_LOG;
    int mirrored = 0;
    for (int i = 0; i < 10000; i++)
        mirrored += space_param_from_unit(&param, (i + 0.5) / 10000).whole == 8;
    CHECK(mirrored == first);
}

static void huge_ranges_do_not_overflow(void)
{
    CHECK(space_param_levels(&widest) == UINT64_MAX);
    CHECK(space_param_from_unit(&widest, 0).whole == INT64_MIN);
    CHECK(space_param_from_unit(&widest, 0.5).whole == 0);
    CHECK(space_param_from_unit(&widest, 1).whole > INT64_MAX - 4096);
    struct param param = {
        .type = PARAM_DOUBLE, .min = -DBL_MAX, .max = DBL_MAX};
    check_walk(&param, -DBL_MAX, DBL_MAX);
    CHECK(space_param_from_unit(&param, NAN).real == -DBL_MAX);
    struct param odd = {.type = PARAM_INTEGER,
                        .int_min = INT64_MIN,
                        .int_max = INT64_MAX,
                        .int_step = INT64_MAX};
    CHECK(space_param_levels(&odd) == 3);
    CHECK(space_param_level(&odd, 2).whole == INT64_MAX - 1);
}

static void levels_read_as_a_person_writes_them(void)
{
    CHECK(space_param_levels(&real) == 0);
    CHECK(space_param_levels(&stepped) == 7);
    struct text text = {0};
    for (uint64_t j = 0; j < 7; j++) {
        space_value_text(&stepped, space_param_level(&stepped, j), &text);
        text_puts(&text, " ");
    }
    CHECK_TEXT(text.data, "0.1 0.2 0.3 0.4 0.5 0.6 0.7 ");
    text_free(&text);
}

static void space_size_is_exact_or_zero(void)
{
    struct param params[] = {whole, discrete, category, stepped};
    struct space space = {.n = 4, .params = params};
    CHECK(space_size(&space) == 8 * 3 * 2 * 7);
    params[3] = real;
    CHECK(space_size(&space) == 0);
    params[3] = widest;
    CHECK(space_size(&space) == 0);
    CHECK(space_find(&space, "batch") == 1);
    CHECK(space_find(&space, "nothing") == -1);
}

static struct space all_kinds(struct param params[4])
{
    params[0] = real;
    params[1] = whole;
    params[2] = discrete;
    params[3] = category;
    return (struct space){.n = 4, .params = params};
}

static void point_text_reads_back_exactly(void)
{
    struct param params[4];
    struct space space = all_kinds(params);
    struct value point[4] = {
        {.real = 0.1 * 0.7}, {.whole = 8}, {.whole = 1}, {.whole = 1}};
    struct text text = {0};
    space_point_text(&space, point, &text);
    CHECK_TEXT(text.data, "{\"lr\":0.06999999999999999,\"n\":8,\"batch\":64,"
                          "\"opt\":\"s\\\"gd\"}");
    struct value back[4];
    CHECK(space_point_parse(&space, text.data, back, NULL) == HT_OK);
    for (int i = 0; i < 4; i++)
        CHECK(space_value_equal(&params[i], point[i], back[i]));
    text_free(&text);
}

static void minus_zero_is_zero(void)
{
    struct param param = {
        .name = "x", .type = PARAM_DOUBLE, .min = -1, .max = 1};
    struct text text = {0};
    space_value_text(&param, (struct value){.real = -0.0}, &text);
    CHECK_TEXT(text.data, "0");
    text_free(&text);
}

static void wrong_points_are_refused_and_leave_the_point_alone(void)
{
    static const struct {
        const char *json, *why;
    } wrong[] = {
        {"[]", "parameters must be an object"},
        {"{\"lr\":0.01,\"n\":3,\"batch\":64}", "parameter opt is missing"},
        {"{\"lr\":0.01,\"n\":3,\"batch\":64,\"opt\":\"adam\",\"q\":1}",
         "unknown parameter q"},
        {"{\"lr\":2,\"n\":3,\"batch\":64,\"opt\":\"adam\"}",
         "parameter lr: 2 is outside [1e-05, 0.1]"},
        {"{\"lr\":0.01,\"n\":9,\"batch\":64,\"opt\":\"adam\"}",
         "parameter n: 9 is outside [1, 8]"},
        {"{\"lr\":0.01,\"n\":2.5,\"batch\":64,\"opt\":\"adam\"}",
         "parameter n: needs a whole number"},
        {"{\"lr\":0.01,\"n\":3,\"batch\":65.3,\"opt\":\"adam\"}",
         "parameter batch: 65.3 is not one of its values"},
        {"{\"lr\":0.01,\"n\":3,\"batch\":64,\"opt\":\"lion\"}",
         "parameter opt: \"lion\" is not one of its values"}};
    struct param params[4];
    struct space space = all_kinds(params);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct value point[4] = {{.real = 7}};
        struct ht_error err = {0};
        CHECK(space_point_parse(&space, wrong[i].json, point, &err) ==
              HT_INVALID);
        CHECK_TEXT(err.text, wrong[i].why);
        CHECK(point[0].real == 7);
    }
}

static void points_between_steps_are_refused_and_near_ones_snap(void)
{
    struct param params[] = {stepped};
    struct space space = {.n = 1, .params = params};
    struct value point[1];
    CHECK(space_point_parse(&space, "{\"x\":0.30000000000000004}", point,
                            NULL) == HT_OK);
    CHECK(point[0].real == 0.3);
    struct ht_error err = {0};
    CHECK(space_point_parse(&space, "{\"x\":0.36}", point, &err) == HT_INVALID);
    CHECK_TEXT(err.text, "parameter x: 0.36 is between two steps");
}

/* ---- conditions ---- */

/* width exists for layers 2 and 3, layers for sgd; both stand before opt. */
static const struct value deep[] = {{.whole = 2}, {.whole = 3}};
static const struct value sgd[] = {{.whole = 1}};
static struct condition when_deep = {.parent = 1, .n = 2, .values = deep};
static struct condition when_sgd = {.parent = 2, .n = 1, .values = sgd};

static struct space conditional_space(struct param params[4])
{
    params[0] = discrete;
    params[0].name = "width";
    params[0].when = &when_deep;
    params[1] = whole;
    params[1].name = "layers";
    params[1].int_max = 3;
    params[1].when = &when_sgd;
    params[2] = category;
    params[3] = real;
    return (struct space){.n = 4, .params = params};
}

static void a_child_of_an_absent_parent_is_absent(void)
{
    struct param params[4];
    const struct space space = conditional_space(params);
    static const struct {
        int64_t layers, opt;
        bool width, has_layers;
    } cases[] = {{2, 1, true, true},
                 {1, 1, false, true},
                 {2, 0, false, false},
                 {1, 0, false, false}};
    CHECK(!space_is_flat(&space));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value point[4] = {{.whole = 1},
                                 {.whole = cases[i].layers},
                                 {.whole = cases[i].opt},
                                 {.real = 0.01}};
        CHECK(space_active(&space, point, 0) == cases[i].width);
        space_settle(&space, point);
        CHECK(point[0].absent == !cases[i].width);
        CHECK(point[1].absent == !cases[i].has_layers);
        CHECK(!point[2].absent && !point[3].absent);
    }
    params[0].when = params[1].when = NULL;
    CHECK(space_is_flat(&space));
}

/* What settling marked comes back when the parent does. */
static void settling_again_follows_the_parents(void)
{
    struct param params[4];
    const struct space space = conditional_space(params);
    struct value point[4] = {
        {.whole = 2}, {.whole = 3}, {.whole = 0}, {.real = 0.01}};
    space_settle(&space, point);
    CHECK(point[0].absent && point[1].absent);
    point[2].whole = 1;
    space_settle(&space, point);
    CHECK(!point[0].absent && !point[1].absent && point[0].whole == 2);
}

/* "layers" of sgd and, finer, of adam; "width" below each of them. */
static void children_that_share_a_name_are_told_apart(void)
{
    static const struct value adam[] = {{.whole = 0}}, one[] = {{.whole = 1}};
    struct condition when_adam = {.parent = 2, .n = 1, .values = adam};
    struct condition when_one = {.parent = 4, .n = 1, .values = one};
    struct param params[6];
    struct value point[6];
    (void)conditional_space(params);
    params[4] = whole;
    params[4].name = "layers";
    params[4].int_min = -9;
    params[4].when = &when_adam;
    params[5] = real;
    params[5].name = "width";
    params[5].when = &when_one;
    params[3].name = "rate";
    const struct space space = {.n = 6, .params = params};
    CHECK(space_shares_names(&space));
    CHECK(space_excludes(&space, 1, 4) && space_excludes(&space, 0, 5));
    CHECK(!space_excludes(&space, 0, 1) && !space_excludes(&space, 3, 4));
    CHECK(space_point_parse(&space,
                            "{\"width\":64,\"rate\":0.01,\"layers\":2,"
                            "\"opt\":\"s\\\"gd\"}",
                            point, NULL) == HT_OK);
    CHECK(point[0].whole == 1 && point[1].whole == 2);
    CHECK(point[4].absent && point[5].absent);
    CHECK(space_point_parse(&space,
                            "{\"width\":0.02,\"rate\":0.01,\"layers\":1,"
                            "\"opt\":\"adam\"}",
                            point, NULL) == HT_OK);
    CHECK(point[0].absent && point[1].absent);
    CHECK(point[4].whole == 1 && point[5].real == 0.02);
    CHECK(space_point_parse(&space,
                            "{\"width\":64,\"rate\":0.01,\"layers\":2,"
                            "\"opt\":\"adam\"}",
                            point, NULL) == HT_INVALID);
    CHECK(space_find_active(&space, point, "width") == 5);
    params[4].when = &when_sgd;
    CHECK(!space_excludes(&space, 1, 4));
}

static void all_conditions_of_a_parameter_must_hold(void)
{
    struct param params[4];
    const struct space space = conditional_space(params);
    struct condition both = when_deep;
    struct value point[4] = {
        {.whole = 0}, {.whole = 2}, {.whole = 0}, {.real = 0.01}};
    both.next = &when_sgd;
    params[0].when = &both;
    params[1].when = NULL;
    CHECK(!space_active(&space, point, 0));
    point[2].whole = 1;
    CHECK(space_active(&space, point, 0));
    point[1].whole = 1;
    CHECK(!space_active(&space, point, 0));
}

/* Every parameter decides over all that follow: 2^63 ways lead to the last. */
static void shared_ancestors_are_looked_at_once(void)
{
    enum { MANY = 64 };
    static struct condition conditions[MANY][MANY];
    static struct param params[MANY];
    const struct space space = {.n = MANY, .params = params};
    struct value point[MANY];
    for (size_t i = 0; i < MANY; i++) {
        params[i] = category;
        point[i] = sgd[0];
        for (size_t j = 0; j < i; j++) {
            conditions[i][j] = (struct condition){
                .parent = j, .n = 1, .values = sgd, .next = params[i].when};
            params[i].when = &conditions[i][j];
        }
    }
    space_settle(&space, point);
    CHECK(!point[MANY - 1].absent && space_active(&space, point, MANY - 1));
    point[1].whole = 0;
    space_settle(&space, point);
    CHECK(!point[1].absent && point[2].absent && point[MANY - 1].absent);
}

static void absent_values_are_left_out_of_the_text(void)
{
    struct param params[4];
    const struct space space = conditional_space(params);
    struct value point[4] = {
        {.whole = 1}, {.whole = 3}, {.whole = 0}, {.real = 0.01}};
    struct text text = {0};
    space_settle(&space, point);
    space_point_text(&space, point, &text);
    CHECK_TEXT(text.data, "{\"opt\":\"adam\",\"lr\":0.01}");
    struct value back[4] = {{0}};
    CHECK(space_point_parse(&space, text.data, back, NULL) == HT_OK);
    for (size_t i = 0; i < 4; i++)
        CHECK(space_value_equal(&params[i], point[i], back[i]));
    text_free(&text);
}

static void values_stand_where_the_conditions_hold_and_only_there(void)
{
    static const struct {
        const char *json, *fault; /* NULL: it is a good point */
    } cases[] = {
        {"{\"lr\":0.01,\"opt\":\"adam\"}", NULL},
        {"{\"lr\":0.01,\"opt\":\"s\\\"gd\",\"layers\":1}", NULL},
        {"{\"lr\":0.01,\"opt\":\"s\\\"gd\",\"layers\":2,\"width\":64}", NULL},
        {"{\"lr\":0.01}", "parameter opt is missing"},
        {"{\"lr\":0.01,\"opt\":\"s\\\"gd\"}", "parameter layers is missing"},
        {"{\"lr\":0.01,\"opt\":\"s\\\"gd\",\"layers\":2}",
         "parameter width is missing"},
        {"{\"lr\":0.01,\"opt\":\"adam\",\"layers\":2}",
         "parameter layers has a value although"},
        {"{\"lr\":0.01,\"opt\":\"s\\\"gd\",\"layers\":1,\"width\":64}",
         "parameter width has a value although"},
        {"{\"lr\":0.01,\"opt\":\"adam\",\"width\":64}",
         "parameter width has a value although"}};
    struct param params[4];
    const struct space space = conditional_space(params);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value point[4] = {{.whole = 7}};
        struct ht_error err = {0};
        const enum ht_status status =
            space_point_parse(&space, cases[i].json, point, &err);
        CHECK(status == (cases[i].fault ? HT_INVALID : HT_OK));
        if (cases[i].fault) {
            CHECK(strstr(err.text, cases[i].fault) != NULL);
            CHECK(point[0].whole == 7 && !point[0].absent);
        }
    }
}

/* Combinations are counted with the levels of absent parameters. */
static void the_size_of_a_conditional_space_counts_every_level(void)
{
    struct param params[4];
    struct space space = conditional_space(params);
    CHECK(space_size(&space) == 0);
    space.n = 3;
    CHECK(space_size(&space) == 3 * 3 * 2);
}

static void values_go_into_json_as_their_kind(void)
{
    const struct value two = {.whole = 1}, some = {.real = 0.5};
    cJSON *array = cJSON_CreateArray();
    space_value_push_json(&real, some, array);
    space_value_push_json(&whole, two, array);
    space_value_push_json(&discrete, two, array);
    space_value_push_json(&category, two, array);
    char *printed = cJSON_PrintUnformatted(array);
    CHECK_TEXT(printed, "[0.5,1,64,\"s\\\"gd\"]");
    cJSON_free(printed);
    cJSON_Delete(array);
}

int main(void)
{
    RUN(every_scale_stays_in_bounds_and_is_monotone);
    RUN(the_ends_are_as_they_were_written);
    RUN(round_numbers_between_are_met);
    RUN(log_scale_meets_its_middle);
    RUN(log_integers_have_half_step_margins);
    RUN(huge_ranges_do_not_overflow);
    RUN(levels_read_as_a_person_writes_them);
    RUN(space_size_is_exact_or_zero);
    RUN(point_text_reads_back_exactly);
    RUN(minus_zero_is_zero);
    RUN(wrong_points_are_refused_and_leave_the_point_alone);
    RUN(points_between_steps_are_refused_and_near_ones_snap);
    RUN(a_child_of_an_absent_parent_is_absent);
    RUN(settling_again_follows_the_parents);
    RUN(children_that_share_a_name_are_told_apart);
    RUN(all_conditions_of_a_parameter_must_hold);
    RUN(shared_ancestors_are_looked_at_once);
    RUN(absent_values_are_left_out_of_the_text);
    RUN(values_stand_where_the_conditions_hold_and_only_there);
    RUN(the_size_of_a_conditional_space_counts_every_level);
    RUN(values_go_into_json_as_their_kind);
    return check_done();
}
