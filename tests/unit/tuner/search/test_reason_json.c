/* The stored reason of a suggestion: what it contains, and reading it again. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tuner/db/prior.h"
#include "tuner/search/reason_json.h"

static struct metric_goal goals[] = {{.name = "accuracy", .maximize = true},
                                     {.name = "loss"}};
static const struct job job = {.n_metrics = 2, .metrics = goals};
static const struct prior_list no_earlier = {0};

static void a_drawn_point_has_its_kind_and_its_origin_alone(void)
{
    struct arena *arena = arena_new();
    const struct reason reason = {.kind = REASON_DRAWN, .acquisition = NAN};
    const struct reason_json_origin origin = {
        .revision = 57, .ordinal = 14, .batch = 1, .earlier = &no_earlier};
    CHECK_TEXT(reason_json_text(arena, &job, &reason, &origin),
               "{\"kind\":\"DRAWN\",\"revision\":\"57\",\"ordinal\":\"14\","
               "\"batch\":1,\"trials\":\"0\",\"pending\":[]}");
    arena_free(arena);
}

/* A search maximises: the low end of a negated metric is its high one. */
static void predictions_are_in_the_users_units(void)
{
    struct arena *arena = arena_new();
    const struct reason reason = {
        .kind = REASON_EXPLOITS,
        .n_predicted = 2,
        .predicted = {{0.25, 0.5, 0.75}, {-3, -2, -1}},
        .acquisition = -2.5};
    const struct reason_json_origin origin = {.earlier = &no_earlier};
    const char *text = reason_json_text(arena, &job, &reason, &origin);
    CHECK(strstr(text, "\"predicted\":[{\"metric\":\"accuracy\",\"low\":0.25,"
                       "\"median\":0.5,\"high\":0.75},{\"metric\":\"loss\","
                       "\"low\":1,\"median\":2,\"high\":3}],"
                       "\"acquisition\":-2.5") != NULL);
    arena_free(arena);
}

static void the_nearest_trial_names_its_study_unless_it_is_the_same(void)
{
    struct arena *arena = arena_new();
    const struct reason reason = {.kind = REASON_REPEATS,
                                  .acquisition = NAN,
                                  .has_nearest = true,
                                  .distance = 0.5};
    struct reason_json_origin origin = {.nearest = 12, .earlier = &no_earlier};
    CHECK(strstr(reason_json_text(arena, &job, &reason, &origin),
                 "\"nearest\":{\"trial\":\"12\",\"distance\":0.5}") != NULL);
    origin.nearest_study = "digits";
    CHECK(strstr(reason_json_text(arena, &job, &reason, &origin),
                 "\"distance\":0.5,\"study\":\"digits\"}") != NULL);
    arena_free(arena);
}

static void earlier_studies_count_only_with_results_of_their_own(void)
{
    struct arena *arena = arena_new();
    struct prior_row rows[] = {{.name = "a"}, {.name = "b", .own = 43}};
    const struct prior_list earlier = {2, rows};
    const struct reason reason = {.kind = REASON_DESIGN, .acquisition = NAN};
    const struct reason_json_origin origin = {.earlier = &earlier};
    const char *text = reason_json_text(arena, &job, &reason, &origin);
    CHECK(strstr(text, "\"earlier\":[{\"study\":\"b\",\"trials\":43}]") !=
          NULL);
    arena_free(arena);
}

static void what_was_written_is_read_again(void)
{
    struct arena *arena = arena_new();
    static const int64_t pending[] = {3, 9007199254740993};
    const struct reason reason = {.kind = REASON_SEED, .acquisition = NAN};
    const struct reason_json_origin origin = {
        .revision = INT64_MAX,
        .ordinal = 14,
        .batch = 2,
        .max_trials = 60,
        .n_pending = 2,
        .pending = pending,
        .context = "{\"parameters\":{\"opt\":\"adam\"}}",
        .earlier = &no_earlier};
    struct reason_json_origin read;
    CHECK(reason_json_read(
        arena, reason_json_text(arena, &job, &reason, &origin), &read));
    CHECK(read.revision == INT64_MAX && read.ordinal == 14 && read.batch == 2);
    CHECK(read.max_trials == 60 && read.n_pending == 2);
    CHECK(read.pending[0] == 3 && read.pending[1] == 9007199254740993);
    CHECK_TEXT(read.context, origin.context);
    arena_free(arena);
}

static void without_its_origin_nothing_is_read(void)
{
    static const char *const texts[] = {
        NULL,
        "",
        "no JSON",
        "[]",
        "{\"kind\":\"DRAWN\"}",
        "{\"revision\":\"5\",\"ordinal\":\"1\",\"batch\":0}",
        "{\"revision\":\"x\",\"ordinal\":\"1\",\"batch\":0,\"trials\":\"0\"}"};
    struct arena *arena = arena_new();
    struct reason_json_origin read = {.ordinal = 7};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(!reason_json_read(arena, texts[i], &read));
    CHECK(read.ordinal == 7);
    arena_free(arena);
}

int main(void)
{
    RUN(a_drawn_point_has_its_kind_and_its_origin_alone);
    RUN(predictions_are_in_the_users_units);
    RUN(the_nearest_trial_names_its_study_unless_it_is_the_same);
    RUN(earlier_studies_count_only_with_results_of_their_own);
    RUN(what_was_written_is_read_again);
    RUN(without_its_origin_nothing_is_read);
    return check_done();
}
