/* What results of one study mean in the space of another. */
#include "proto/form/form.h"
#include "tuner/search/warm_start.h"

#include <math.h>
#include <string.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/search/trial_result.h"

/* A job of these metrics and parameters, as Vertex's JSON has them. */
static struct job *job_of(struct arena *arena, const char *metrics,
                          const char *parameters)
{
    struct job *job = NULL;
    struct ht_error err;
    const char *text = arena_printf(arena,
                                    "{\"displayName\": \"s\", \"studySpec\": "
                                    "{\"metrics\": [%s], \"parameters\": "
                                    "[%s]}}",
                                    metrics, parameters);
    if (vertex_parse(arena, text, &job, &err) != HT_OK)
        CHECK_TEXT(err.text, "no error");
    return job;
}

#define LOSS "{\"metricId\": \"loss\", \"goal\": \"MINIMIZE\"}"
#define GAIN "{\"metricId\": \"gain\", \"goal\": \"MAXIMIZE\"}"
#define REAL(name, low, high)                                                  \
    "{\"parameterId\": \"" name "\", \"doubleValueSpec\": {\"minValue\": " low \
    ", \"maxValue\": " high "}}"
#define WHOLE(name, low, high)                                                 \
    "{\"parameterId\": \"" name "\", \"integerValueSpec\": "                   \
    "{\"minValue\": " low ", \"maxValue\": " high "}}"
#define OF(name, values)                                                       \
    "{\"parameterId\": \"" name "\", \"categoricalValueSpec\": {\"values\": "  \
    "[" values "]}}"

static struct trial_row result(const char *params, double objective)
{
    return (struct trial_row){.state = TRIAL_SUCCEEDED,
                              .params = params,
                              .has_objective = true,
                              .objective = objective};
}

/* What the result of `old` is for `job`, and what it tells there. */
static enum warm_start_use judge(struct arena *arena, const struct job *old,
                                 const struct job *job,
                                 struct prior_trial *trial,
                                 struct observation *seen)
{
    const struct warm_start_match match = warm_start_match(arena, old, job);
    struct constraint_set constraints;
    CHECK(constraint_set_parse(arena, &job->space, job->constraints.n,
                               job->constraints.items, &constraints,
                               NULL) == HT_OK);
    return warm_start_classify(arena, &match, &constraints, trial, seen);
}

/* What is judged of a result of 1 at a point. */
static enum warm_start_use use_of(struct arena *arena, const struct job *old,
                                  const struct job *job, const char *params)
{
    struct prior_trial trial = {.trial = result(params, 1)};
    struct observation seen;
    return judge(arena, old, job, &trial, &seen);
}

static void names_and_kinds_tell_what_is_shared(void)
{
    struct arena *arena = arena_new();
    const struct job *old =
        job_of(arena, LOSS,
               REAL("x", "0", "1") ", " WHOLE("n", "1", "9") ", " OF(
                   "opt", "\"a\", \"b\"") ", " REAL("gone", "0", "1"));
    const struct job *job =
        job_of(arena, LOSS,
               WHOLE("x", "0", "5") ", " OF("n", "\"1\", \"2\"") ", " OF(
                   "opt", "\"b\", \"c\"") ", " REAL("new", "0", "1"));
    const struct warm_start_match match = warm_start_match(arena, old, job);
    static const bool shared[] = {true, false, true, false};
    CHECK(memcmp(match.shared, shared, sizeof shared) == 0);
    CHECK(match.n_shared == 2 && !match.same && !match.renamed);
    CHECK(warm_start_match(arena, job, job).same);
    arena_free(arena);
}

/* "x" below each of two values of "opt". */
static void a_name_that_stands_twice_is_not_shared(void)
{
    struct arena *arena = arena_new();
    const struct job *twice = job_of(
        arena, LOSS,
        "{\"parameterId\": \"opt\", \"categoricalValueSpec\": {\"values\": "
        "[\"a\", \"b\"]}, \"conditionalParameterSpecs\": ["
        "{\"parentCategoricalValues\": {\"values\": [\"a\"]}, "
        "\"parameterSpec\": " REAL(
            "x", "0",
            "1") "}, "
                 "{\"parentCategoricalValues\": {\"values\": [\"b\"]}, "
                 "\"parameterSpec\": " REAL("x", "5", "9") "}]}");
    const struct job *once =
        job_of(arena, LOSS, OF("opt", "\"a\", \"b\"") ", " REAL("x", "0", "1"));
    CHECK(twice->space.n == 3);
    CHECK(warm_start_match(arena, twice, twice).same);
    CHECK(use_of(arena, twice, twice, "{\"opt\":\"b\",\"x\":6}") == PRIOR_OWN);
    CHECK(warm_start_match(arena, twice, once).n_shared == 1);
    CHECK(warm_start_match(arena, once, twice).n_shared == 1);
    CHECK(warm_start_match(arena, once, once).n_shared == 2);
    arena_free(arena);
}

static void what_the_new_study_could_not_try_is_left_out(void)
{
    struct arena *arena = arena_new();
    const struct job *old =
        job_of(arena, LOSS, REAL("x", "0", "9") ", " OF("opt", "\"a\", \"b\""));
    const struct job *job =
        job_of(arena, LOSS,
               WHOLE("x", "0", "5") ", " OF("opt", "\"b\", \"c\"") ", " REAL(
                   "new", "2", "4"));
    struct prior_trial trial = {.trial = result("{\"x\":3,\"opt\":\"b\"}", 1)};
    struct observation seen;
    CHECK(judge(arena, old, job, &trial, &seen) == PRIOR_TRANSFERRED);
    CHECK(trial.point == NULL);
    CHECK(seen.values[0] == -1 && seen.feasible);
    CHECK(seen.point[0].whole == 3);
    CHECK(seen.point[1].whole == 0);
    CHECK(seen.point[2].real == 3); /* in the middle */
    static const char *const others[] = {"{\"x\":3.5,\"opt\":\"b\"}",
                                         "{\"x\":7,\"opt\":\"b\"}",
                                         "{\"x\":4,\"opt\":\"a\"}"};
    for (size_t i = 0; i < 3; i++)
        CHECK(use_of(arena, old, job, others[i]) == PRIOR_LEFT_OUT);
    arena_free(arena);
}

static void a_result_at_a_point_of_the_space_is_its_own(void)
{
    struct arena *arena = arena_new();
    const struct job *old =
        job_of(arena, LOSS, REAL("x", "0", "9") ", " WHOLE("n", "1", "9"));
    const struct job *turned =
        job_of(arena, LOSS, WHOLE("n", "1", "9") ", " REAL("x", "0", "9"));
    const struct job *narrow =
        job_of(arena, LOSS, REAL("x", "2", "5") ", " WHOLE("n", "1", "20"));
    struct prior_trial trial = {.trial = result("{\"x\":3,\"n\":4}", 8)};
    struct observation seen;
    CHECK(warm_start_match(arena, old, turned).same);
    CHECK(judge(arena, old, turned, &trial, &seen) == PRIOR_OWN);
    CHECK_TEXT(trial.point, "{\"n\":4,\"x\":3}");
    CHECK(seen.feasible && seen.values[0] == -8);
    CHECK(seen.point[0].whole == 4 && seen.point[1].real == 3);
    CHECK(use_of(arena, old, narrow, "{\"x\":3,\"n\":4}") == PRIOR_OWN);
    CHECK(use_of(arena, old, narrow, "{\"x\":1,\"n\":4}") == PRIOR_LEFT_OUT);
    arena_free(arena);
}

/* What was measured with another parameter beside, or without one. */
static void a_point_with_more_or_less_is_not_of_the_space(void)
{
    struct arena *arena = arena_new();
    const struct job *one = job_of(arena, LOSS, REAL("x", "0", "1"));
    const struct job *two =
        job_of(arena, LOSS, REAL("x", "0", "1") ", " REAL("y", "0", "1"));
    CHECK(use_of(arena, one, two, "{\"x\":0.5}") == PRIOR_TRANSFERRED);
    CHECK(use_of(arena, two, one, "{\"x\":0.5,\"y\":0.5}") ==
          PRIOR_TRANSFERRED);
    arena_free(arena);
}

#define UNDER_A(child)                                                         \
    "{\"parameterId\": \"opt\", \"categoricalValueSpec\": {\"values\": "       \
    "[\"a\", \"b\"]}, \"conditionalParameterSpecs\": "                         \
    "[{\"parentCategoricalValues\": {\"values\": [\"a\"]}, "                   \
    "\"parameterSpec\": " child "}]}"

static void a_condition_decides_point_by_point(void)
{
    struct arena *arena = arena_new();
    const struct job *flat =
        job_of(arena, LOSS, OF("opt", "\"a\", \"b\"") ", " REAL("x", "0", "1"));
    const struct job *nested =
        job_of(arena, LOSS, UNDER_A(REAL("x", "0", "1")));
    CHECK(use_of(arena, flat, nested, "{\"opt\":\"a\",\"x\":0.5}") ==
          PRIOR_OWN);
    CHECK(use_of(arena, flat, nested, "{\"opt\":\"b\",\"x\":0.5}") ==
          PRIOR_TRANSFERRED);
    CHECK(use_of(arena, nested, flat, "{\"opt\":\"b\"}") == PRIOR_LEFT_OUT);
    arena_free(arena);
}

static void what_a_constraint_forbids_is_left_out(void)
{
    struct arena *arena = arena_new();
    struct job *old = job_of(arena, LOSS, REAL("x", "0", "1"));
    struct job *job = job_of(arena, LOSS, REAL("x", "0", "1"));
    const char *below[] = {"x < 0.4"};
    job->constraints.n = 1;
    job->constraints.items = below;
    CHECK(use_of(arena, old, job, "{\"x\":0.3}") == PRIOR_OWN);
    CHECK(use_of(arena, old, job, "{\"x\":0.5}") == PRIOR_LEFT_OUT);
    arena_free(arena);
}

static void metrics_are_found_by_name(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, GAIN ", " LOSS, REAL("x", "0", "1"));
    const struct job *turned =
        job_of(arena, LOSS ", " GAIN, REAL("x", "0", "1"));
    struct prior_trial trial = {.trial = result("{\"x\":0.5}", 8)};
    struct observation seen;
    trial.trial.final_metrics = "{\"gain\":8,\"loss\":3}";
    CHECK(judge(arena, old, turned, &trial, &seen) == PRIOR_OWN);
    CHECK(seen.feasible && seen.values[0] == -3 && seen.values[1] == 8);
    /* Like a trial of the study itself, one without a metric is none. */
    trial.trial.final_metrics = "{\"loss\":3}";
    trial.trial.has_objective = false;
    CHECK(judge(arena, old, turned, &trial, &seen) == PRIOR_OWN);
    CHECK(!seen.feasible);
    arena_free(arena);
}

static void another_objective_stands_for_one_that_is_not_there(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, LOSS, REAL("x", "0", "1"));
    const struct job *job = job_of(arena, GAIN, REAL("x", "0", "1"));
    struct prior_trial trial = {.trial = result("{\"x\":0.5}", 8)};
    struct observation seen;
    const struct warm_start_match match = warm_start_match(arena, old, job);
    CHECK(match.renamed && !match.same && !match.same_goals);
    CHECK(judge(arena, old, job, &trial, &seen) == PRIOR_TRANSFERRED);
    CHECK(seen.values[0] == -8); /* less was better there */
    arena_free(arena);
}

static void a_trial_that_was_stopped_has_what_was_foretold_of_it(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, GAIN ", " LOSS, REAL("x", "0", "1"));
    const struct job *turned =
        job_of(arena, LOSS ", " GAIN, REAL("x", "0", "1"));
    struct prior_trial trial = {.trial = result("{\"x\":0.5}", 8)};
    struct trial_row *row = &trial.trial;
    row->state = TRIAL_STOPPED;
    row->final_metrics = "{\"gain\":8,\"loss\":3}";
    row->final_step = 2;
    row->stop = "{\"end\":9,\"predicted\":["
                "{\"metric\":\"gain\",\"value\":9.5,\"deviation\":0.5},"
                "{\"metric\":\"loss\",\"value\":1.5,\"deviation\":2}]}";
    struct observation same, other;
    CHECK(judge(arena, old, old, &trial, &same) == PRIOR_OWN);
    CHECK(same.feasible && same.values[0] == 9.5 && same.values[1] == -1.5);
    CHECK(same.variance == 0.25);
    CHECK(judge(arena, old, turned, &trial, &other) == PRIOR_OWN);
    CHECK(other.values[0] == -1.5 && other.values[1] == 9.5);
    CHECK(other.variance == 0); /* known only of the old objective */
    /* Paused, it counts for what is foretold, and otherwise is still out. */
    row->state = TRIAL_PAUSED;
    row->has_objective = false;
    row->final_metrics = NULL;
    CHECK(judge(arena, old, old, &trial, &same) == PRIOR_OWN);
    CHECK(same.feasible && same.values[0] == 9.5 && same.variance == 0.25);
    row->stop = "";
    CHECK(judge(arena, old, old, &trial, &same) == PRIOR_LEFT_OUT);
    arena_free(arena);
}

/* What the study makes of the result as one of its own trials. */
static void an_own_result_is_read_as_a_trial_of_the_study_is(void)
{
    struct arena *arena = arena_new();
    const struct job *job = job_of(arena, LOSS ", " GAIN, REAL("x", "0", "1"));
    static const enum trial_state states[] = {TRIAL_SUCCEEDED, TRIAL_FAILED,
                                              TRIAL_STOPPED, TRIAL_INFEASIBLE};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct prior_trial trial = {.trial = result("{\"x\":0.25}", 8)};
        double values[SETTING_METRICS];
        struct observation seen;
        trial.trial.state = states[i];
        trial.trial.has_objective = states[i] != TRIAL_FAILED;
        trial.trial.final_metrics =
            states[i] == TRIAL_INFEASIBLE ? NULL : "{\"gain\":1}";
        CHECK(judge(arena, job, job, &trial, &seen) == PRIOR_OWN);
        const struct observation own =
            trial_result_read(job, &trial.trial, seen.point, values);
        CHECK(seen.feasible == own.feasible && seen.variance == own.variance);
        for (size_t k = 0; k < 2; k++)
            CHECK(seen.values[k] == values[k] ||
                  (isnan(seen.values[k]) && isnan(values[k])));
    }
    arena_free(arena);
}

static void what_failed_stays_failed(void)
{
    struct arena *arena = arena_new();
    const struct job *job = job_of(arena, LOSS, REAL("x", "0", "1"));
    struct prior_trial trial = {
        .trial = {.state = TRIAL_FAILED, .params = "{\"x\":0.5}"}};
    struct observation seen;
    CHECK(judge(arena, job, job, &trial, &seen) == PRIOR_OWN);
    CHECK(!seen.feasible && isnan(seen.values[0]));
    arena_free(arena);
}

int main(void)
{
    json_init();
    RUN(names_and_kinds_tell_what_is_shared);
    RUN(a_name_that_stands_twice_is_not_shared);
    RUN(what_the_new_study_could_not_try_is_left_out);
    RUN(a_result_at_a_point_of_the_space_is_its_own);
    RUN(a_point_with_more_or_less_is_not_of_the_space);
    RUN(a_condition_decides_point_by_point);
    RUN(what_a_constraint_forbids_is_left_out);
    RUN(metrics_are_found_by_name);
    RUN(another_objective_stands_for_one_that_is_not_there);
    RUN(a_trial_that_was_stopped_has_what_was_foretold_of_it);
    RUN(an_own_result_is_read_as_a_trial_of_the_study_is);
    RUN(what_failed_stays_failed);
    return check_done();
}
