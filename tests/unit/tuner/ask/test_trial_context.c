/* What a client asks of a suggestion: values and words, as one text. */
#include "tuner/ask/trial_context.h"

#include "proto/base/limits.h"
#include "proto/doc/node.h"
#include "tests/check.h"

static const char *const names[] = {"sgd", "adam"};
static struct param params[] = {
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 2, .labels = names},
    {.name = "lr", .type = PARAM_DOUBLE, .max = 1},
};
enum { OPT, LR, N };
static const struct space space = {.n = N, .params = params};

struct reading {
    struct arena *arena;
    struct diag diag;
    struct trial_context context;
    bool good;
};

/* Reads the JSON of a TrialContext of a study with `lr <= 0.5`. */
static struct reading read_json(const char *json)
{
    static const char *const rule = "lr <= 0.5";
    struct reading reading = {.arena = arena_new()};
    struct constraint_set constraints;
    CHECK(constraint_set_parse(reading.arena, &space, 1, &rule, &constraints,
                               NULL) == HT_OK);
    diag_init(&reading.diag, reading.arena, "", NULL, 0);
    const struct field_reader reader = {.diag = &reading.diag,
                                        .arena = reading.arena};
    const struct place at = {.node = node_read_stored(reading.arena, json),
                             .path = "context"};
    CHECK(at.node != NULL);
    reading.good =
        trial_context_read(&reader, at, &constraints, &reading.context);
    return reading;
}

static void values_and_words_become_one_text(void)
{
    struct reading reading =
        read_json("{\"description\": \"night shift\", \"parameters\": "
                  "[{\"parameterId\": \"opt\", \"value\": \"adam\"}]}");
    CHECK(reading.good && !reading.context.untried);
    CHECK_TEXT(reading.context.text, "{\"description\":\"night shift\","
                                     "\"parameters\":{\"opt\":\"adam\"}}");
    CHECK(reading.context.part.at[OPT].n == 1);
    CHECK(reading.context.part.at[LR].n == 0);
    arena_free(reading.arena);
}

static void an_empty_context_asks_for_nothing(void)
{
    struct reading reading = read_json("{}");
    CHECK(reading.good);
    CHECK_TEXT(reading.context.text, "{}");
    arena_free(reading.arena);
}

static void values_that_no_point_can_have_are_faults(void)
{
    struct reading reading = read_json(
        "{\"parameters\": [{\"parameterId\": \"lr\", \"value\": 0.75}]}");
    CHECK(!reading.good && reading.diag.errors == 1);
    arena_free(reading.arena);
    reading = read_json(
        "{\"parameters\": [{\"parameterId\": \"opt\", \"value\": \"lion\"}]}");
    CHECK(!reading.good && reading.diag.errors == 1);
    arena_free(reading.arena);
}

static void a_text_is_read_back(void)
{
    struct arena *arena = arena_new();
    struct trial_context context;
    struct value given[HT_MAX_PARAMETERS] = {{.absent = true}, {.real = 0.25}};
    const struct trial_context_words words = {.untried = true};
    const char *text = trial_context_text(arena, &space, given, &words);
    CHECK_TEXT(text, "{\"parameters\":{\"lr\":0.25},\"untried\":true}");
    CHECK(trial_context_parse(arena, &space, text, &context, NULL) == HT_OK);
    CHECK(context.untried && context.part.at[LR].n == 1 &&
          context.part.at[OPT].n == 0);
    CHECK_TEXT(context.text, text);
    CHECK(trial_context_parse(arena, &space, "{\"untried\"", &context, NULL) ==
          HT_INVALID);
    arena_free(arena);
}

static void texts_are_compared_also_with_none(void)
{
    CHECK(trial_context_is(NULL, NULL));
    CHECK(trial_context_is("{\"untried\":true}", "{\"untried\":true}"));
    CHECK(!trial_context_is("{\"untried\":true}", NULL));
    CHECK(!trial_context_is(NULL, "{\"description\":\"a\"}"));
    CHECK(!trial_context_is("{\"description\":\"a\"}",
                            "{\"description\":\"b\"}"));
}

int main(void)
{
    RUN(values_and_words_become_one_text);
    RUN(an_empty_context_asks_for_nothing);
    RUN(values_that_no_point_can_have_are_faults);
    RUN(a_text_is_read_back);
    RUN(texts_are_compared_also_with_none);
    return check_done();
}
