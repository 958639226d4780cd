/* Bodies that clients send about trials. */
#include "tuner/ask/trial_body.h"

#include <math.h>

#include "proto/doc/node.h"
#include "tests/check.h"
#include "tuner/ask/faults.h"

static struct param params[] = {
    {.name = "lr", .type = PARAM_DOUBLE, .max = 1},
    {.name = "layers",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 4,
     .int_step = 1},
};
static const struct space space = {.n = 2, .params = params};
static const struct metric_goal metrics[] = {{.name = "loss"},
                                             {.name = "size"}};
static const struct job job = {.n_metrics = 2, .metrics = metrics};

static struct request *req;
static struct field_reader reader;

/* A request with that body; its place. */
static struct place body(const char *json)
{
    request_free(req);
    req = request_new();
    req->body = node_read_stored(req->arena, json);
    CHECK(req->body != NULL);
    reader = trial_body_reader(req);
    return (struct place){.node = req->body, .path = ""};
}

static void first_fault_is(const char *path, const char *text)
{
    CHECK(req->diag != NULL && req->diag->errors > 0);
    if (req->diag == NULL || req->diag->first == NULL)
        return;
    CHECK_TEXT(req->diag->first->path, path);
    CHECK_TEXT(req->diag->first->text, text);
}

static void a_point_has_each_parameter_once(void)
{
    struct value point[2];
    CHECK(trial_body_point(&reader,
                           body("[{\"parameterId\": \"lr\", \"value\""
                                ": 0.5}, {\"parameterId\": \"layers\","
                                " \"value\": 3}]"),
                           &space, point));
    CHECK(point[0].real == 0.5 && point[1].whole == 3);
    CHECK(!trial_body_point(&reader,
                            body("[{\"parameterId\": \"lr\", \"value\": 0.5}]"),
                            &space, point));
    CHECK(!trial_body_point(&reader,
                            body("[{\"parameterId\": \"lr\", \"value\""
                                 ": 0.5}, {\"parameterId\": \"lr\","
                                 " \"value\": 0.25}]"),
                            &space, point));
}

static void a_measurement_has_metrics_of_the_study(void)
{
    struct measurement found;
    CHECK(trial_body_measurement(
        &reader,
        body("{\"stepCount\": \"7\", \"elapsedDuration\": \"1.5s\", "
             "\"metrics\": [{\"metricId\": \"size\", \"value\": 3}, "
             "{\"metricId\": \"loss\", \"value\": 0.25}]}"),
        &job, &found));
    CHECK(found.step == 7 && found.elapsed_ms == 1500 && found.n_metrics == 2);
    const double *objective = trial_body_objective(&found, &job);
    CHECK(objective != NULL && *objective == 0.25);
    CHECK(!trial_body_measurement(
        &reader, body("{\"metrics\": [{\"metricId\": \"los\", \"value\": 1}]}"),
        &job, &found));
    CHECK(req->diag->errors == 1);
    CHECK_TEXT(req->diag->first->path, "metrics[0].metricId");
}

static void a_measurement_without_a_time_or_step_is_one(void)
{
    struct measurement found;
    CHECK(trial_body_measurement(
        &reader,
        body("{\"metrics\": [{\"metricId\": \"size\", \"value\": "
             "3}]}"),
        &job, &found));
    CHECK(found.step == 0 && found.elapsed_ms == MEASUREMENT_UNSAID);
    CHECK(trial_body_objective(&found, &job) == NULL);
}

static void numbers_may_be_what_protobuf_writes_for_none(void)
{
    double value = 0;
    CHECK(trial_body_number(&reader, body("\"NaN\""), &value) && isnan(value));
    CHECK(trial_body_number(&reader, body("\"-Infinity\""), &value) &&
          value == -HUGE_VAL);
    CHECK(trial_body_number(&reader, body("2.5"), &value) && value == 2.5);
    CHECK(!trial_body_number(&reader, body("\"many\""), &value));
    CHECK(req->diag->errors == 1);
}

static void only_members_of_the_method_are_taken(void)
{
    struct ht_error err;
    (void)body("{}");
    CHECK(trial_body_none(req, &err) == HT_OK);
    (void)body("{\"trial\": 1}");
    CHECK(trial_body_none(req, &err) == HT_INVALID);
    first_fault_is("trial", "unknown field \"trial\"");
}

int main(void)
{
    RUN(a_point_has_each_parameter_once);
    RUN(a_measurement_has_metrics_of_the_study);
    RUN(a_measurement_without_a_time_or_step_is_one);
    RUN(numbers_may_be_what_protobuf_writes_for_none);
    RUN(only_members_of_the_method_are_taken);
    request_free(req);
    return check_done();
}
