/* A space that changes keeps the values of earlier trials apart from values
 * that may be suggested. */
#include "tests/check.h"

#include <string.h>

#include "proto/space/space.h"

static const char *const colours[] = {"red", "green", "blue"};
static const char *const fewer[] = {"blue", "red"};
static const char *const others[] = {"pink", "green", "blue"};
static const double numbers[] = {1, 2, 4, 8};
static const double odd[] = {2, 3};

enum { REAL, STEPPED, WHOLE, LISTED, COLOUR, PARAMS };

static void fill(struct param params[PARAMS])
{
    params[REAL] = (struct param){
        .name = "x", .type = PARAM_DOUBLE, .max = 1, .int_step = 1};
    params[STEPPED] = (struct param){.name = "s",
                                     .type = PARAM_DOUBLE,
                                     .max = 1,
                                     .step = 0.25,
                                     .int_step = 1};
    params[WHOLE] = (struct param){.name = "n",
                                   .type = PARAM_INTEGER,
                                   .int_min = 2,
                                   .int_max = 9,
                                   .int_step = 1};
    params[LISTED] = (struct param){
        .name = "d", .type = PARAM_DISCRETE, .n_values = 4, .numbers = numbers};
    params[COLOUR] = (struct param){.name = "c",
                                    .type = PARAM_CATEGORICAL,
                                    .n_values = 3,
                                    .labels = colours};
}

static struct space of(struct param params[PARAMS])
{
    fill(params);
    return (struct space){.n = PARAMS, .params = params};
}

/* x in [0.5, 2], s in halves, n in 4, 7, 10, d in 2, 3, c blue or red. */
static struct space narrowed(struct param params[PARAMS])
{
    struct space space = of(params);
    params[REAL].min = 0.5;
    params[REAL].max = 2;
    params[STEPPED].step = 0.5;
    params[WHOLE].int_min = 4;
    params[WHOLE].int_max = 10;
    params[WHOLE].int_step = 3;
    params[LISTED].n_values = 2;
    params[LISTED].numbers = odd;
    params[COLOUR].n_values = 2;
    params[COLOUR].labels = fewer;
    return space;
}

static bool is_today(const struct space *space, const char *json)
{
    struct value point[PARAMS];
    CHECK(space_point_parse(space, json, point, NULL) == HT_OK);
    return space_has(space, point);
}

/* Whether a trial may have it, and a client may send it. */
static bool is_known(const struct space *space, const char *json)
{
    struct value point[PARAMS];
    return space_point_parse(space, json, point, NULL) == HT_OK;
}

static void trials_keep_their_values(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after);
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    CHECK(after[REAL].former.has_range == false); /* as the caller had it */
    static const char *const outside[] = {
        "{\"x\":0.1,\"s\":0.5,\"n\":7,\"d\":2,\"c\":\"red\"}",
        "{\"x\":1,\"s\":0.25,\"n\":7,\"d\":2,\"c\":\"red\"}",
        "{\"x\":1,\"s\":0.5,\"n\":2,\"d\":2,\"c\":\"red\"}",
        "{\"x\":1,\"s\":0.5,\"n\":5,\"d\":2,\"c\":\"red\"}",
        "{\"x\":1,\"s\":0.5,\"n\":7,\"d\":8,\"c\":\"red\"}",
        "{\"x\":1,\"s\":0.5,\"n\":7,\"d\":2,\"c\":\"green\"}"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        CHECK(!is_today(&to, outside[i]));
    CHECK(is_today(&to, "{\"x\":2,\"s\":0.5,\"n\":10,\"d\":3,\"c\":\"blue\"}"));
    CHECK(!is_known(&to, "{\"x\":-1,\"s\":0,\"n\":7,\"d\":2,\"c\":\"red\"}"));
    CHECK(!is_known(&to, "{\"x\":1,\"s\":0,\"n\":11,\"d\":2,\"c\":\"red\"}"));
    CHECK(!is_known(&to, "{\"x\":1,\"s\":0,\"n\":7,\"d\":5,\"c\":\"red\"}"));
    CHECK(!is_known(&to, "{\"x\":1,\"s\":0,\"n\":7,\"d\":2,\"c\":\"grey\"}"));
    arena_free(arena);
}

static void a_point_of_a_trial_reads_back_as_it_was(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after);
    struct value point[PARAMS];
    struct text text = {0};
    static const char json[] =
        "{\"x\":0.1,\"s\":0.75,\"n\":3,\"d\":8,\"c\":\"green\"}";
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    CHECK(space_point_parse(&to, json, point, NULL) == HT_OK);
    space_point_text(&to, point, &text);
    CHECK(strcmp(text.data, json) == 0);
    text_free(&text);
    arena_free(arena);
}

static void levels_are_those_of_today(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after);
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    CHECK(space_param_levels(&to.params[WHOLE]) == 3);
    CHECK(space_param_levels(&to.params[LISTED]) == 2);
    CHECK(space_param_levels(&to.params[COLOUR]) == 2);
    CHECK(to.params[LISTED].n_former == 3 && to.params[COLOUR].n_former == 1);
    static const double all[] = {2, 3, 1, 4, 8};
    CHECK(memcmp(to.params[LISTED].numbers, all, sizeof all) == 0);
    CHECK(strcmp(to.params[COLOUR].labels[2], "green") == 0);
    for (int i = 0; i < 100; i++)
        CHECK(space_param_from_unit(&to.params[COLOUR], i / 100.).whole < 2);
    arena_free(arena);
}

static void what_returns_is_former_no_more(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS], again[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after), back = of(again);
    again[STEPPED].step = 0;
    again[COLOUR].labels = others;
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    back.params[REAL].max = 2;
    back.params[WHOLE].int_max = 10;
    CHECK(space_change(arena, &to, &back, NULL) == HT_OK);
    for (size_t i = 0; i < LISTED; i++)
        CHECK(!back.params[i].former.has_range);
    CHECK(back.params[LISTED].n_former == 1); /* 3 */
    CHECK(back.params[LISTED].numbers[4] == 3);
    CHECK(back.params[COLOUR].n_former == 1);
    CHECK(strcmp(back.params[COLOUR].labels[3], "red") == 0);
    arena_free(arena);
}

static void no_change_leaves_nothing_former(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = of(after);
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    for (size_t i = 0; i < PARAMS; i++)
        CHECK(!to.params[i].former.has_range && to.params[i].n_former == 0);
    arena_free(arena);
}

static void refuses(const struct space *to, const char *text)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS];
    const struct space from = of(before);
    struct space tried = *to;
    struct ht_error err = {0};
    CHECK(space_change(arena, &from, &tried, &err) == HT_CONFLICT);
    CHECK(strstr(err.text, text) == err.text);
    CHECK(strstr(err.text, "hypertune clone") != NULL);
    CHECK(tried.params == to->params);
    arena_free(arena);
}

static void another_parameter_type_or_scale_is_refused(void)
{
    struct param params[PARAMS + 1];
    struct space to = of(params);
    params[REAL].type = PARAM_INTEGER;
    refuses(&to, "parameters.x changes its type");
    to = of(params);
    params[REAL].scale = SCALE_LOG;
    refuses(&to, "parameters.x changes its scale");
    to = of(params);
    params[COLOUR].name = "colour";
    refuses(&to, "parameters.c is gone");
    to = of(params);
    params[PARAMS] = params[REAL];
    params[PARAMS].name = "y";
    to.n++;
    refuses(&to, "parameters.y is new");
    to = of(params);
    params[PARAMS] = params[0];
    params[0] = params[1];
    params[1] = params[PARAMS];
    refuses(&to, "parameters.s changes its place");
}

/* In a spec a constant has another type: a text, or a list of one number. */
static void a_range_may_become_a_constant(void)
{
    static const char *const half[] = {"0.5"}, *const word[] = {"half"};
    static const double seven[] = {7}, eight[] = {8};
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = of(after);
    after[REAL] = (struct param){
        .name = "x", .type = PARAM_CATEGORICAL, .n_values = 1, .labels = half};
    after[WHOLE] = (struct param){
        .name = "n", .type = PARAM_DISCRETE, .n_values = 1, .numbers = seven};
    after[LISTED].n_values = 1;
    after[LISTED].numbers = eight;
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    CHECK(to.params[REAL].type == PARAM_DOUBLE && to.params[REAL].min == 0.5);
    CHECK(to.params[REAL].former.max == 1 && to.params[REAL].max == 0.5);
    CHECK(to.params[WHOLE].type == PARAM_INTEGER);
    CHECK(to.params[WHOLE].int_min == 7 && to.params[WHOLE].int_max == 7);
    CHECK(to.params[LISTED].n_former == 3);
    CHECK(is_today(&to, "{\"x\":0.5,\"s\":0,\"n\":7,\"d\":8,\"c\":\"red\"}"));
    CHECK(!is_today(&to, "{\"x\":0.4,\"s\":0,\"n\":7,\"d\":8,\"c\":\"red\"}"));
    struct space another = of(after);
    after[REAL].type = PARAM_CATEGORICAL;
    after[REAL].n_values = 1;
    after[REAL].labels = word;
    refuses(&another, "parameters.x changes its type");
    arena_free(arena);
}

static void what_shares_its_name_loses_no_value(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after);
    struct ht_error err = {0};
    before[STEPPED].name = after[STEPPED].name = "x";
    CHECK(space_change(arena, &from, &to, &err) == HT_CONFLICT);
    CHECK(strstr(err.text, "parameters.x is the name of several") == err.text);
    arena_free(arena);
}

static void conditions_are_compared_by_value(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct value blue = {.whole = 2}, blue_now = {.whole = 0};
    const struct value red_now = {.whole = 1};
    struct condition old = {.parent = COLOUR, .n = 1, .values = &blue};
    struct condition new = {.parent = COLOUR, .n = 1, .values = &blue_now};
    const struct space from = of(before);
    struct space to = narrowed(after);
    before[REAL].when = &old;
    after[REAL].when = &new;
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    struct ht_error err = {0};
    new.values = &red_now;
    CHECK(space_change(arena, &from, &to, &err) == HT_CONFLICT);
    CHECK(strstr(err.text, "parameters.x changes its condition") == err.text);
    to.params[REAL].when = NULL;
    CHECK(space_change(arena, &from, &to, NULL) == HT_CONFLICT);
    arena_free(arena);
}

static void an_open_space_loses_no_value(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    struct space from = of(before), to = of(after);
    struct ht_error err = {0};
    from.open = to.open = true;
    after[REAL].max = 2;
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    to = of(after);
    to.open = true;
    after[WHOLE].int_max = 3;
    CHECK(space_change(arena, &from, &to, &err) == HT_CONFLICT);
    CHECK(strstr(err.text, "parameters.n ") == err.text);
    arena_free(arena);
}

/* What clients send is checked against today's space. */
static void a_client_may_send_no_former_value(void)
{
    struct arena *arena = arena_new();
    struct param before[PARAMS], after[PARAMS];
    const struct space from = of(before);
    struct space to = narrowed(after);
    struct value value;
    const struct node number = {.kind = NODE_NUMBER, .text = "0.1"};
    const struct node colour = {.kind = NODE_STRING, .text = "green"};
    CHECK(space_change(arena, &from, &to, NULL) == HT_OK);
    CHECK(space_param_read(&from.params[REAL], &number, &value, NULL) == HT_OK);
    CHECK(space_param_read(&to.params[REAL], &number, &value, NULL) ==
          HT_INVALID);
    struct node map = {.kind = NODE_MAP, .count = 1};
    struct node member = colour;
    member.key = "c";
    map.first = &member;
    const struct space one = {.n = 1, .params = &to.params[COLOUR]};
    CHECK(space_point_read(&one, &map, &value, NULL) == HT_INVALID);
    CHECK(space_point_restore(&one, &map, &value, NULL) == HT_OK);
    CHECK(value.whole == 2);
    arena_free(arena);
}

int main(void)
{
    RUN(trials_keep_their_values);
    RUN(a_point_of_a_trial_reads_back_as_it_was);
    RUN(levels_are_those_of_today);
    RUN(what_returns_is_former_no_more);
    RUN(no_change_leaves_nothing_former);
    RUN(another_parameter_type_or_scale_is_refused);
    RUN(a_range_may_become_a_constant);
    RUN(what_shares_its_name_loses_no_value);
    RUN(conditions_are_compared_by_value);
    RUN(an_open_space_loses_no_value);
    RUN(a_client_may_send_no_former_value);
    return check_done();
}
