#include <math.h>
#include <stdlib.h>

#include "algorithms/base/rng.h"
#include "algorithms/space/encoding.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

static const char *const names[] = {"a", "b", "c"};

/* The coordinate of one value in a space of that parameter alone. */
static double encode_one(struct param param, struct value value)
{
    struct encoding encoding;
    const struct space space = {.n = 1, .params = &param};
    double x = NAN;
    param.name = "x";
    encoding_init(&encoding, &space);
    CHECK(encoding.dim == 1);
    encoding_encode(&encoding, &value, &x);
    encoding_fini(&encoding);
    return x;
}

static struct param scaled(enum param_type type, enum param_scale scale,
                           double low, double high)
{
    return (struct param){.type = type,
                          .scale = scale,
                          .min = low,
                          .max = high,
                          .int_min = (int64_t)low,
                          .int_max = (int64_t)high,
                          .int_step = 1};
}

static void scales_are_the_reference(void)
{
    static const struct {
        const char *kind;
        enum param_type type;
        enum param_scale scale;
    } kinds[] = {{"linear", PARAM_DOUBLE, SCALE_LINEAR},
                 {"log", PARAM_DOUBLE, SCALE_LOG},
                 {"reverse_log", PARAM_DOUBLE, SCALE_REVERSE_LOG},
                 {"int_linear", PARAM_INTEGER, SCALE_LINEAR},
                 {"int_log", PARAM_INTEGER, SCALE_LOG}};
    cJSON *all;
    const cJSON *each, *cases = oracle("scale", &all);
    int checked = 0;
    cJSON_ArrayForEach(each, cases)
    {
        const char *kind = cJSON_GetObjectItem(each, "kind")->valuestring;
        const double x = oracle_number(each, "x");
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (strcmp(kinds[k].kind, kind) != 0)
                continue;
            const struct param param =
                scaled(kinds[k].type, kinds[k].scale, oracle_number(each, "lo"),
                       oracle_number(each, "hi"));
            const struct value value = {.real = x, .whole = (int64_t)x};
            CHECK(oracle_near(encode_one(param, value),
                              oracle_number(each, "u"), 1e-12));
            checked++;
        }
    }
    CHECK(checked == 5);
    cJSON_Delete(all);
}

static void levels_stand_at_the_centres_of_their_cells(void)
{
    struct param param = scaled(PARAM_INTEGER, SCALE_LINEAR, -2, 2);
    CHECK(encode_one(param, (struct value){.whole = -2}) == 0.1);
    CHECK(encode_one(param, (struct value){.whole = 2}) == 0.9);
    param = scaled(PARAM_DOUBLE, SCALE_LINEAR, 0, 1);
    param.step = 0.25;
    CHECK(encode_one(param, (struct value){.real = 0.5}) == 0.5);
    CHECK(encode_one(param, (struct value){.real = 1}) == 0.9);
}

static void listed_numbers_stand_by_their_values(void)
{
    static const double near[] = {10, 20, 40, 50}, powers[] = {8, 16, 64, 128};
    struct param param = {
        .type = PARAM_DISCRETE, .n_values = 4, .numbers = near};
    CHECK(encode_one(param, (struct value){.whole = 0}) == 0.125);
    CHECK(oracle_near(encode_one(param, (struct value){.whole = 1}),
                      0.125 + 0.75 * 0.25, 1e-15));
    param.numbers = powers; /* their logarithms are more even */
    CHECK(oracle_near(encode_one(param, (struct value){.whole = 1}),
                      0.125 + 0.75 * 0.25, 1e-15));
    param.scale = SCALE_LOG;
    param.numbers = near; /* as it was told */
    CHECK(oracle_near(encode_one(param, (struct value){.whole = 1}),
                      0.125 + 0.75 * log(2) / log(5), 1e-15));
}

/* A switch, what depends on it, and a constant between. */
static const struct value on[] = {{.whole = 1}};
static struct condition when_on = {.parent = 0, .n = 1, .values = on};
static struct param nested_params[] = {
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 2, .labels = names},
    {.name = "one",
     .type = PARAM_INTEGER,
     .int_min = 7,
     .int_max = 7,
     .int_step = 1},
    {.name = "momentum", .type = PARAM_DOUBLE, .max = 1, .when = &when_on},
};
static const struct space nested = {.n = 3, .params = nested_params};

static void a_constant_has_no_coordinate_and_keeps_its_value(void)
{
    struct encoding encoding;
    struct value point[3];
    encoding_init(&encoding, &nested);
    CHECK(encoding.dim == 2);
    CHECK(!encoding.flat && encoding.continuous);
    const double x[] = {1, 0.25};
    encoding_decode(&encoding, x, point);
    CHECK(point[0].whole == 1 && point[1].whole == 7);
    CHECK(point[2].real == 0.25 && !point[2].absent);
    encoding_fini(&encoding);
}

static void what_has_no_place_is_absent_and_comes_back_as_filled(void)
{
    struct encoding encoding;
    struct value point[3];
    const double fill[] = {0, 0.75};
    double x[] = {0, 0.25}, again[2];
    encoding_init(&encoding, &nested);
    encoding_settle(&encoding, fill, x);
    CHECK(x[0] == 0 && x[1] == COORDINATE_ABSENT);
    encoding_decode(&encoding, x, point);
    CHECK(point[2].absent);
    encoding_encode(&encoding, point, again);
    CHECK(again[0] == 0 && again[1] == COORDINATE_ABSENT);
    x[0] = 1;
    encoding_settle(&encoding, fill, x);
    CHECK(x[1] == 0.75);
    x[1] = 0.5; /* what is present stays */
    encoding_settle(&encoding, fill, x);
    CHECK(x[1] == 0.5);
    encoding_fini(&encoding);
}

/* A rate of each of two optimisers, and a decay only of the second's when its
 * rate is the large one: three levels deep, two of one name. */
static const struct value first[] = {{.whole = 0}}, second[] = {{.whole = 1}};
static const struct value large[] = {{.whole = 2}};
static struct condition when_first = {.parent = 0, .n = 1, .values = first};
static struct condition when_second = {.parent = 0, .n = 1, .values = second};
static struct condition when_large = {.parent = 2, .n = 1, .values = large};
static struct param branch_params[] = {
    {.name = "optimiser",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = names},
    {.name = "rate", .type = PARAM_DOUBLE, .max = 1, .when = &when_first},
    {.name = "rate",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 2,
     .int_step = 1,
     .when = &when_second},
    {.name = "decay", .type = PARAM_DOUBLE, .max = 1, .when = &when_large},
};
static const struct space branches = {.n = 4, .params = branch_params};

static void children_of_one_name_are_coordinates_of_their_own(void)
{
    struct encoding encoding;
    struct value point[4];
    const double fill[] = {0, 0.3, 0.75, 0.9};
    encoding_init(&encoding, &branches);
    CHECK(encoding.dim == 4);
    double x[] = {0, 0.1, 0.25, 0.6};
    encoding_settle(&encoding, fill, x);
    CHECK(x[1] == 0.1);
    CHECK(x[2] == COORDINATE_ABSENT && x[3] == COORDINATE_ABSENT);
    x[0] = 1; /* the other branch: its own rate, and by that the decay */
    encoding_settle(&encoding, fill, x);
    CHECK(x[1] == COORDINATE_ABSENT && x[2] == 0.75 && x[3] == 0.9);
    encoding_decode(&encoding, x, point);
    CHECK(point[1].absent && point[2].whole == 2 && point[3].real == 0.9);
    x[2] = 0.25; /* the small rate has no decay */
    encoding_settle(&encoding, fill, x);
    CHECK(x[2] == 0.25 && x[3] == COORDINATE_ABSENT);
    encoding_fini(&encoding);
}

static void rows_of_a_part_have_its_values(void)
{
    const struct value branch[] = {{.whole = 1}};
    const struct value decay[] = {{.real = 0.7000000000000001}};
    struct narrowing at[] = {{1, branch}, {0}, {0}, {1, decay}};
    const struct subspace part = {&branches, at};
    struct encoding whole;
    struct value point[4];
    size_t list[4];
    const double fill[] = {0, 0.3, 0.75, 0.9};
    encoding_init(&whole, &branches);
    const struct encoding encoding = encoding_within(&whole, &part);
    CHECK(encoding_list_free(&whole, list) == 4);
    CHECK(encoding_list_free(&encoding, list) == 2);
    CHECK(list[0] == 1 && list[1] == 2);
    double x[] = {0, 0.1, COORDINATE_ABSENT, COORDINATE_ABSENT};
    double y[] = {0, 0.1, COORDINATE_ABSENT, COORDINATE_ABSENT};
    encoding_settle(&encoding, fill, x);
    CHECK(x[0] == 1 && x[1] == COORDINATE_ABSENT && x[2] == 0.75);
    CHECK(x[3] == 0.7000000000000001);
    encoding_enter(&encoding, y);
    CHECK(y[0] == 1 && y[2] == whole.at[2].usual);
    encoding_decode(&encoding, x, point);
    CHECK(point[0].whole == 1 && point[3].real == 0.7000000000000001);
    x[0] = 0;
    encoding_decode(&encoding, x, point);
    CHECK(point[0].whole == 1 && !point[2].absent);
    encoding_enter(&whole, x);
    CHECK(x[0] == 0);
    encoding_fini(&whole);
}

static void the_usual_place_is_the_default_or_the_middle(void)
{
    struct param params[] = {
        {.name = "a", .type = PARAM_DOUBLE, .max = 4},
        {.name = "b",
         .type = PARAM_DOUBLE,
         .max = 4,
         .has_default = true,
         .fallback = {.real = 1}},
        {.name = "c",
         .type = PARAM_INTEGER,
         .int_min = 1,
         .int_max = 5,
         .int_step = 1},
        {.name = "d",
         .type = PARAM_CATEGORICAL,
         .n_values = 3,
         .labels = names},
    };
    const struct space space = {.n = 4, .params = params};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    CHECK(encoding.at[0].usual == 0.5);
    CHECK(encoding.at[1].usual == 0.25);
    CHECK(encoding.at[2].usual == 0.5);
    CHECK(encoding.at[3].usual == 0);
    encoding_fini(&encoding);
}

static void a_default_comes_back_to_the_last_digit(void)
{
    struct param param = scaled(PARAM_DOUBLE, SCALE_LOG, 1e-5, 0.3);
    param.has_default = true;
    param.fallback = (struct value){.real = 0.0012345678};
    const struct space space = {.n = 1, .params = &param};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct value point;
    encoding_decode(&encoding, &encoding.at[0].usual, &point);
    CHECK(point.real == 0.0012345678);
    CHECK(space_param_from_unit(&param, encoding.at[0].usual).real !=
          0.0012345678);
    encoding_fini(&encoding);
}

/* Encoding and decoding what random search draws gives the same value. */
static void check_round_trip(const struct param *param, double tolerance)
{
    struct param copy = *param;
    const struct space space = {.n = 1, .params = &copy};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    for (uint64_t k = 0; k < 500; k++) {
        const struct rng_place place = {1, k, 0};
        struct value drawn = space_param_from_unit(param, rng_unit(&place, 0)),
                     back;
        double x;
        encoding_encode(&encoding, &drawn, &x);
        CHECK(x >= 0 && (param->type == PARAM_CATEGORICAL || x <= 1));
        encoding_decode(&encoding, &x, &back);
        if (tolerance == 0)
            CHECK(space_value_equal(param, drawn, back));
        else if (param->type == PARAM_DOUBLE)
            CHECK(oracle_near(back.real / drawn.real, 1, tolerance));
        else
            CHECK(fabs((double)back.whole - (double)drawn.whole) <=
                  tolerance * 0x1p64);
    }
    encoding_fini(&encoding);
}

static void values_survive_the_way_there_and_back(void)
{
    static const double list[] = {8, 16, 32, 64, 128, 4096};
    static const double odd[] = {-3, -1, 0, 2, 50};
    struct param param = scaled(PARAM_DOUBLE, SCALE_LINEAR, 1, 3);
    check_round_trip(&param, 1e-12);
    param = scaled(PARAM_DOUBLE, SCALE_LOG, 1e-6, 1);
    check_round_trip(&param, 1e-12);
    param = scaled(PARAM_DOUBLE, SCALE_REVERSE_LOG, 0.9, 0.9999);
    check_round_trip(&param, 1e-12);
    param.step = 0.001;
    check_round_trip(&param, 0);
    param = scaled(PARAM_DOUBLE, SCALE_LINEAR, -1e308, 1e308);
    check_round_trip(&param, 1e-9);
    param = scaled(PARAM_INTEGER, SCALE_LOG, 1, 1000);
    check_round_trip(&param, 0);
    param = scaled(PARAM_INTEGER, SCALE_REVERSE_LOG, 3, 900);
    check_round_trip(&param, 0);
    param = scaled(PARAM_INTEGER, SCALE_LINEAR, -70000, 70000);
    check_round_trip(&param, 0);
    param.int_min = INT64_MIN;
    param.int_max = INT64_MAX;
    check_round_trip(&param, 1e-15);
    param =
        (struct param){.type = PARAM_DISCRETE, .n_values = 6, .numbers = list};
    check_round_trip(&param, 0);
    param.numbers = odd;
    param.n_values = 5;
    check_round_trip(&param, 0);
    param = (struct param){
        .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names};
    check_round_trip(&param, 0);
}

/* ---- after a change ---- */

/* Where x of a trial made before the change is. */
static double place_of(const struct param *param, struct value value)
{
    struct param copy = *param;
    const struct space space = {.n = 1, .params = &copy};
    struct encoding encoding;
    double x;
    encoding_init(&encoding, &space);
    CHECK(encoding.dim == 1);
    encoding_encode(&encoding, &value, &x);
    encoding_fini(&encoding);
    return x;
}

static double place_of_real(const struct param *param, double real)
{
    return place_of(param, (struct value){.real = real});
}

static void former_numbers_keep_their_place_on_the_scale(void)
{
    struct param param = {.name = "x",
                          .type = PARAM_DOUBLE,
                          .min = 1,
                          .max = 10,
                          .former = {true, .min = 0.001, .max = 1000}};
    CHECK(fabs(place_of_real(&param, 19) - 2) < 1e-12);
    param.scale = SCALE_LOG;
    CHECK(fabs(place_of_real(&param, 1000) - 3) < 1e-12);
    CHECK(fabs(place_of_real(&param, 0.01) + 2) < 1e-12);
    CHECK(fabs(place_of_real(&param, 10) - 1) < 1e-12);
    param.scale = SCALE_REVERSE_LOG; /* 1000 has no mirror above 0 */
    const double near = place_of_real(&param, 10.5);
    const double far = place_of_real(&param, 1000);
    CHECK(near > 1 && far > near && isfinite(far));
    CHECK(place_of_real(&param, 0.01) < 0);
}

static void a_former_number_is_never_taken_for_an_absent_one(void)
{
    const struct param param = {.name = "x",
                                .type = PARAM_DOUBLE,
                                .min = 1,
                                .max = 2,
                                .former = {true, .min = 0, .max = 2}};
    const double x = place_of_real(&param, 0);
    CHECK(x != COORDINATE_ABSENT && fabs(x - COORDINATE_ABSENT) < 1e-12);
}

static void former_steps_keep_their_place(void)
{
    const struct former wide = {true, .min = 0, .max = 9, 0, 9};
    const struct param real = {.name = "x",
                               .type = PARAM_DOUBLE,
                               .min = 2,
                               .max = 6,
                               .step = 2,
                               .former = wide};
    const struct param whole = {.name = "x",
                                .type = PARAM_INTEGER,
                                .int_min = 2,
                                .int_max = 6,
                                .int_step = 2,
                                .former = wide};
    /* Levels 2, 4, 6 are at 1/6, 3/6, 5/6. */
    CHECK(fabs(place_of_real(&real, 3) - 2. / 6) < 1e-12);
    CHECK(fabs(place_of_real(&real, 4) - 3. / 6) < 1e-12);
    CHECK(fabs(place_of_real(&real, 0) + 1. / 6) < 1e-12);
    CHECK(fabs(place_of(&whole, (struct value){.whole = 5}) - 4. / 6) < 1e-12);
    CHECK(fabs(place_of(&whole, (struct value){.whole = 0}) + 1. / 6) < 1e-12);
}

static void former_values_of_lists_have_places(void)
{
    static const double numbers[] = {2, 4, 8, 0, 16}; /* 0 and 16 before */
    static const char *const texts[] = {"a", "b", "was"};
    const struct param listed = {.name = "x",
                                 .type = PARAM_DISCRETE,
                                 .n_values = 3,
                                 .n_former = 2,
                                 .numbers = numbers};
    const struct param named = {.name = "x",
                                .type = PARAM_CATEGORICAL,
                                .n_values = 2,
                                .n_former = 1,
                                .labels = texts};
    CHECK(place_of(&listed, (struct value){.whole = 3}) < 0);
    CHECK(isfinite(place_of(&listed, (struct value){.whole = 3})));
    CHECK(place_of(&listed, (struct value){.whole = 4}) > 1);
    CHECK(place_of(&named, (struct value){.whole = 2}) == 2);
}

static void what_became_constant_still_tells_trials_apart(void)
{
    const struct param fixed = {.name = "x",
                                .type = PARAM_DOUBLE,
                                .min = 3,
                                .max = 3,
                                .former = {true, .min = 2, .max = 6}};
    CHECK(place_of_real(&fixed, 3) == 0.5);
    CHECK(fabs(place_of_real(&fixed, 6) - 1.25) < 1e-12);
    CHECK(fabs(place_of_real(&fixed, 2) - 0.25) < 1e-12);
}

static void what_is_decoded_is_of_today(void)
{
    static const char *const texts[] = {"a", "b", "was"};
    struct param params[] = {{.name = "x",
                              .type = PARAM_DOUBLE,
                              .min = 1,
                              .max = 2,
                              .former = {true, .min = 0, .max = 9}},
                             {.name = "c",
                              .type = PARAM_CATEGORICAL,
                              .n_values = 2,
                              .n_former = 1,
                              .labels = texts},
                             {.name = "n",
                              .type = PARAM_INTEGER,
                              .int_min = 4,
                              .int_max = 4,
                              .int_step = 1,
                              .former = {true, .int_min = 0, .int_max = 9}}};
    const struct space space = {.n = 3, .params = params};
    const struct value trial[] = {{.real = 9}, {.whole = 2}, {.whole = 9}};
    struct value point[3];
    struct encoding encoding;
    double x[3];
    size_t list[3];
    encoding_init(&encoding, &space);
    encoding_encode(&encoding, trial, x);
    CHECK(!space_has(&space, trial));
    encoding_decode(&encoding, x, point);
    CHECK(space_has(&space, point));
    CHECK(point[0].real == 2 && point[2].whole == 4);
    encoding_return(&encoding, x);
    CHECK(x[0] == 1 && x[1] < 2 && x[2] == 0.5);
    CHECK(encoding_list_free(&encoding, list) == 2 && list[1] == 1);
    encoding_fini(&encoding);
}

int main(void)
{
    RUN(scales_are_the_reference);
    RUN(levels_stand_at_the_centres_of_their_cells);
    RUN(listed_numbers_stand_by_their_values);
    RUN(a_constant_has_no_coordinate_and_keeps_its_value);
    RUN(what_has_no_place_is_absent_and_comes_back_as_filled);
    RUN(children_of_one_name_are_coordinates_of_their_own);
    RUN(rows_of_a_part_have_its_values);
    RUN(the_usual_place_is_the_default_or_the_middle);
    RUN(a_default_comes_back_to_the_last_digit);
    RUN(values_survive_the_way_there_and_back);
    RUN(former_numbers_keep_their_place_on_the_scale);
    RUN(a_former_number_is_never_taken_for_an_absent_one);
    RUN(former_steps_keep_their_place);
    RUN(former_values_of_lists_have_places);
    RUN(what_became_constant_still_tells_trials_apart);
    RUN(what_is_decoded_is_of_today);
    return check_done();
}
