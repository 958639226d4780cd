#include "tuner/view/view.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/db_place.h"

static struct arena *arena;
static struct db *db;
static struct text out;

static const char *shown(cJSON *item)
{
    text_clear(&out);
    json_print(item, &out);
    return out.data;
}

/* A study of every kind of parameter. */
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

static const struct study_row study = {
    .id = 7, .project = "p", .location = "l", .name = "s"};

/* What every trial below shares. */
static struct trial_row make_trial(void)
{
    return (struct trial_row){
        .study = 7,
        .id = 3,
        .state = TRIAL_SUCCEEDED,
        .params = "{\"lr\":0.30000000000000004,\"layers\":9007199254740993,"
                  "\"batch\":64.5,\"opt\":\"a \\\"b\\\"\"}",
        .client = "",
        .final_elapsed_ms = -1,
        .final_metrics = "{\"accuracy\":0.1,\"loss\":\"NaN\"}",
        .final_step = 9007199254740993,
        .has_objective = true,
        .objective = 0.1,
        .reason = "",
        .started_ms = 1000,
        .ended_ms = 3050,
    };
}

static const char *show_trial(const struct trial_row *trial)
{
    cJSON *item;
    static struct ht_error err;
    if (view_trial(db, arena, &study, make_job(), trial, false, &item, &err) !=
        HT_OK)
        return err.text;
    return shown(item);
}

static void numbers_of_a_trial_are_exact(void)
{
    struct trial_row trial = make_trial();
    const char *text = show_trial(&trial);
    CHECK(strstr(text, "{\"parameterId\":\"lr\",\"value\":"
                       "0.30000000000000004}") != NULL);
    CHECK(strstr(text, "{\"parameterId\":\"layers\",\"value\":"
                       "9007199254740993}") != NULL);
    CHECK(strstr(text, "{\"parameterId\":\"batch\",\"value\":64.5}") != NULL);
    CHECK(strstr(text, "{\"parameterId\":\"opt\",\"value\":"
                       "\"a \\\"b\\\"\"}") != NULL);
    CHECK(strstr(text, "\"args\":[\"--lr=0.30000000000000004\","
                       "\"--layers=9007199254740993\",\"--batch=64.5\","
                       "\"--opt=a \\\"b\\\"\"]") != NULL);
}

static void a_final_measurement_is_vertex_json(void)
{
    struct trial_row trial = make_trial();
    const char *text = show_trial(&trial);
    CHECK(strstr(text, "\"finalMeasurement\":{\"elapsedDuration\":\"2.050s\","
                       "\"stepCount\":\"9007199254740993\",\"metrics\":["
                       "{\"metricId\":\"accuracy\",\"value\":0.1},"
                       "{\"metricId\":\"loss\",\"value\":\"NaN\"}]}") != NULL);
    CHECK(strstr(text, "\"startTime\":\"1970-01-01T00:00:01.000Z\"") != NULL);
    CHECK(strstr(text, "\"name\":\"projects/p/locations/l/studies/7/"
                       "trials/3\"") != NULL);
    CHECK(strstr(text, "infeasibleReason") == NULL);
}

static void what_failed_is_infeasible_towards_vertex_and_says_why(void)
{
    struct trial_row trial = make_trial();
    trial.state = TRIAL_FAILED;
    trial.reason = "exit 3";
    trial.final_metrics = NULL;
    trial.has_objective = false;
    const char *text = show_trial(&trial);
    CHECK(strstr(text, "\"state\":\"INFEASIBLE\"") != NULL);
    CHECK(strstr(text, "\"infeasibleReason\":\"exit 3\"") != NULL);
    CHECK(strstr(text, "\"hypertune\":{\"state\":\"FAILED\"") != NULL);
    CHECK(strstr(text, "finalMeasurement") == NULL);
    CHECK(strstr(text, "objective") == NULL);
}

static void a_damaged_point_is_an_error_not_a_guess(void)
{
    struct trial_row trial = make_trial();
    cJSON *item = NULL;
    trial.params = "{\"lr\":0.5}";
    CHECK(view_trial(NULL, arena, &study, make_job(), &trial, false, &item,
                     NULL) == HT_CORRUPT);
    CHECK(item == NULL);
}

static void events_leave_out_what_they_do_not_have(void)
{
    const struct event_row plain = {.revision = 1,
                                    .time_ms = 5,
                                    .actor = "admin",
                                    .kind = "study.created",
                                    .from = "",
                                    .to = "RUNNING",
                                    .reason = "submitted",
                                    .data = ""};
    CHECK_TEXT(shown(view_event(&plain)),
               "{\"revision\":1,\"timeMs\":5,\"kind\":\"study.created\","
               "\"actor\":\"admin\","
               "\"to\":\"RUNNING\",\"reason\":\"submitted\"}");
    const struct event_row full = {.revision = 2,
                                   .time_ms = 6,
                                   .actor = "runner r",
                                   .kind = "attempt.moved",
                                   .trial = 3,
                                   .attempt = 1,
                                   .from = "STARTING",
                                   .to = "RUNNING",
                                   .reason = "\x1b",
                                   .data = "{\"a\":1}"};
    CHECK_TEXT(shown(view_event(&full)),
               "{\"revision\":2,\"timeMs\":6,\"kind\":\"attempt.moved\","
               "\"actor\":\"runner r\","
               "\"trial\":3,\"attempt\":1,\"from\":\"STARTING\","
               "\"to\":\"RUNNING\",\"reason\":\"\\u001b\","
               "\"data\":{\"a\":1}}");
}

static void measurements_and_runners_have_their_documented_members(void)
{
    const struct measurement_row row = {.trial = 3,
                                        .attempt = 1,
                                        .replica = "master-0",
                                        .step = 4,
                                        .time_ms = 9,
                                        .metrics = "{\"accuracy\":0.9}",
                                        .checkpoint = ""};
    CHECK_TEXT(shown(view_measurement(&row)),
               "{\"trial\":3,\"attempt\":1,\"replica\":\"master-0\","
               "\"step\":\"4\",\"timeMs\":9,\"metrics\":{\"accuracy\":0.9}}");
    const struct runner_row runner = {.id = "a",
                                      .engine = "process",
                                      .host = "h",
                                      .slots = 2,
                                      .seen_ms = 9,
                                      .online = false,
                                      .rules = "{\"images\":true}"};
    CHECK_TEXT(shown(view_runner(&runner, 1)),
               "{\"runner\":\"a\",\"engine\":\"process\",\"host\":\"h\","
               "\"slots\":2,\"busy\":1,\"state\":\"LOST\",\"lastSeenMs\":9,"
               "\"drain\":\"SERVES\",\"rules\":{\"images\":true},"
               "\"trials\":[]}");
}

int main(void)
{
    struct db_place place;
    json_init();
    arena = arena_new();
    db_place_open(&place);
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    RUN(numbers_of_a_trial_are_exact);
    RUN(a_final_measurement_is_vertex_json);
    RUN(what_failed_is_infeasible_towards_vertex_and_says_why);
    RUN(a_damaged_point_is_an_error_not_a_guess);
    RUN(events_leave_out_what_they_do_not_have);
    RUN(measurements_and_runners_have_their_documented_members);
    db_close(db);
    db_place_close(&place);
    arena_free(arena);
    text_free(&out);
    return check_done();
}
