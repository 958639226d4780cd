/* Trials and labels as AI Platform's clients read them. */
#include "tuner/view/aip.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tests/check.h"

static struct arena *arena;
static struct text out;

static struct job *make_job(void)
{
    static const double numbers[] = {32, 64.5};
    static const char *const labels[] = {"adam", "a \"b\""};
    static struct param params[] = {
        {.name = "lr", .type = PARAM_DOUBLE, .min = 0, .max = 1},
        {.name = "layers",
         .type = PARAM_INTEGER,
         .int_min = 1,
         .int_max = INT64_MAX,
         .int_step = 1},
        {.name = "batch",
         .type = PARAM_DISCRETE,
         .n_values = 2,
         .numbers = numbers},
        {.name = "opt",
         .type = PARAM_CATEGORICAL,
         .n_values = 2,
         .labels = labels},
    };
    static struct job job = {.space = {4, params}};
    return &job;
}

/* Its attempts are looked up only while it is open, so no query is made. */
static struct trial_row make_trial(void)
{
    return (struct trial_row){
        .study = 7,
        .id = 3,
        .state = TRIAL_SUCCEEDED,
        .params = "{\"lr\":0.30000000000000004,\"layers\":9007199254740993,"
                  "\"batch\":64.5,\"opt\":\"a \\\"b\\\"\"}",
        .has_objective = true,
        .objective = 0.1,
        .final_step = 9007199254740993,
        .stop = "",
        .started_ms = 1000,
        .ended_ms = 3050,
    };
}

static const char *show(const struct trial_row *trial)
{
    static struct ht_error err;
    cJSON *item;
    if (view_aip_trial(NULL, arena, make_job(), trial, &item, &err) != HT_OK)
        return err.text;
    text_clear(&out);
    json_print(item, &out);
    return out.data;
}

static bool shows(const struct trial_row *trial, const char *piece)
{
    return strstr(show(trial), piece) != NULL;
}

static void values_are_texts_as_the_trainer_gets_them(void)
{
    const struct trial_row trial = make_trial();
    CHECK_TEXT(show(&trial),
               "{\"trialId\":\"3\",\"state\":\"SUCCEEDED\","
               "\"startTime\":\"1970-01-01T00:00:01.000Z\","
               "\"endTime\":\"1970-01-01T00:00:03.050Z\","
               "\"hyperparameters\":{\"lr\":\"0.30000000000000004\","
               "\"layers\":\"9007199254740993\",\"batch\":\"64.5\","
               "\"opt\":\"a \\\"b\\\"\"},"
               "\"finalMetric\":{\"objectiveValue\":0.1,"
               "\"trainingStep\":\"9007199254740993\"}}");
}

static void states_have_the_names_of_job_states(void)
{
    static const struct {
        enum trial_state state;
        const char *name;
    } all[] = {
        {TRIAL_REQUESTED, "\"state\":\"QUEUED\""},
        {TRIAL_PAUSED, "\"state\":\"QUEUED\""},
        {TRIAL_STOPPED, "\"state\":\"SUCCEEDED\""},
        {TRIAL_FAILED, "\"state\":\"FAILED\""},
        {TRIAL_INFEASIBLE, "\"state\":\"FAILED\""},
        {TRIAL_CANCELLED, "\"state\":\"CANCELLED\""},
    };
    struct trial_row trial = make_trial();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        trial.state = all[i].state;
        CHECK(shows(&trial, all[i].name));
    }
}

static void what_has_not_happened_is_left_out(void)
{
    struct trial_row trial = make_trial();
    trial.state = TRIAL_REQUESTED;
    trial.started_ms = trial.ended_ms = 0;
    trial.has_objective = false;
    CHECK(!shows(&trial, "Time"));
    CHECK(!shows(&trial, "finalMetric"));
}

/* A trial that waits at a rung has a record of its rule, too. */
static void only_what_a_rule_ended_was_stopped_early(void)
{
    static const char early[] = "\"isTrialStoppedEarly\":true";
    struct trial_row trial = make_trial();
    trial.state = TRIAL_STOPPED;
    CHECK(!shows(&trial, early));
    trial.stop = "{\"rule\":\"median\"}";
    CHECK(shows(&trial, early));
    trial.state = TRIAL_PAUSED;
    CHECK(!shows(&trial, early));
    trial.state = TRIAL_SUCCEEDED;
    CHECK(!shows(&trial, early));
}

static void parameters_without_a_value_are_left_out(void)
{
    static const char *const labels[] = {"adam", "sgd"};
    static const struct value sgd[] = {{.whole = 1}};
    static struct condition when = {.parent = 0, .n = 1, .values = sgd};
    static struct param params[] = {
        {.name = "opt",
         .type = PARAM_CATEGORICAL,
         .n_values = 2,
         .labels = labels},
        {.name = "momentum", .type = PARAM_DOUBLE, .max = 1, .when = &when},
    };
    const struct job job = {.space = {2, params}};
    struct trial_row trial = make_trial();
    cJSON *item = NULL;
    trial.params = "{\"opt\":\"adam\"}";
    CHECK(view_aip_trial(NULL, arena, &job, &trial, &item, NULL) == HT_OK);
    text_clear(&out);
    json_print(item, &out);
    CHECK(strstr(out.data, "\"hyperparameters\":{\"opt\":\"adam\"}") != NULL);
}

static void a_damaged_point_is_an_error_not_a_guess(void)
{
    struct trial_row trial = make_trial();
    cJSON *item = NULL;
    trial.params = "{\"lr\":0.5}";
    CHECK(view_aip_trial(NULL, arena, make_job(), &trial, &item, NULL) ==
          HT_CORRUPT);
    CHECK(item == NULL);
}

static const char *etag_of(size_t n, const struct pair labels[])
{
    const struct job job = {.labels = {n, labels}};
    return view_aip_etag(arena, &job);
}

static void an_etag_follows_the_labels_in_any_order(void)
{
    const struct pair ab[] = {{"a", "1"}, {"b", "2"}};
    const struct pair ba[] = {{"b", "2"}, {"a", "1"}};
    const struct pair swapped[] = {{"a", "2"}, {"b", "1"}};
    const struct pair moved[] = {{"a", ""}, {"1b", "2"}};
    const char *etag = etag_of(2, ab);
    CHECK_TEXT(etag_of(2, ba), etag);
    CHECK(strcmp(etag_of(2, swapped), etag) != 0);
    CHECK(strcmp(etag_of(2, moved), etag) != 0);
    CHECK(strcmp(etag_of(1, ab), etag) != 0);
    CHECK(strcmp(etag_of(0, NULL), etag) != 0);
    CHECK(ab[0].name[0] == 'a' && ba[0].name[0] == 'b');
}

/* Of whole groups of four letters, and the same in base64url. */
static void an_etag_is_base64_of_either_kind(void)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789";
    for (int i = 0; i < 100; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        const struct pair label = {"n", value};
        const char *etag = etag_of(1, &label);
        CHECK(strlen(etag) == 12);
        CHECK(strspn(etag, letters) == 12);
    }
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(values_are_texts_as_the_trainer_gets_them);
    RUN(states_have_the_names_of_job_states);
    RUN(what_has_not_happened_is_left_out);
    RUN(only_what_a_rule_ended_was_stopped_early);
    RUN(parameters_without_a_value_are_left_out);
    RUN(a_damaged_point_is_an_error_not_a_guess);
    RUN(an_etag_follows_the_labels_in_any_order);
    RUN(an_etag_is_base64_of_either_kind);
    arena_free(arena);
    text_free(&out);
    return check_done();
}
