/* What results of one study mean in the space of another. */
#include "tuner/prior.h"

#include <math.h>
#include <string.h>

#include "proto/json.h"
#include "tests/check.h"

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
    if (job_parse(arena, text, &job, &err) != HT_OK)
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

/* What n results of `old` are for `job`. */
static struct prior_study translate(struct arena *arena, const struct job *old,
                                    const struct job *job, size_t n,
                                    struct trial_row rows[])
{
    const struct prior_match match = prior_match(arena, old, job);
    return prior_translate(arena, &match, &(struct trial_list){n, rows});
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
    const struct prior_match match = prior_match(arena, old, job);
    static const bool shared[] = {true, false, true, false};
    CHECK(memcmp(match.shared, shared, sizeof shared) == 0);
    CHECK(match.n_shared == 2 && !match.same && !match.renamed);
    CHECK(prior_match(arena, job, job).same);
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
    CHECK(prior_match(arena, twice, once).n_shared == 1);
    CHECK(prior_match(arena, once, twice).n_shared == 1);
    CHECK(prior_match(arena, once, once).n_shared == 2);
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
    struct trial_row rows[] = {result("{\"x\":3,\"opt\":\"b\"}", 1),
                               result("{\"x\":3.5,\"opt\":\"b\"}", 2),
                               result("{\"x\":7,\"opt\":\"b\"}", 3),
                               result("{\"x\":4,\"opt\":\"a\"}", 4)};
    const struct prior_study study = translate(arena, old, job, 4, rows);
    CHECK(study.n == 1);
    CHECK(study.results[0].values[0] == -1 && study.results[0].feasible);
    CHECK(study.results[0].point[0].whole == 3);
    CHECK(study.results[0].point[1].whole == 0);
    CHECK(study.results[0].point[2].real == 3); /* in the middle */
    arena_free(arena);
}

static void metrics_are_found_by_name(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, GAIN ", " LOSS, REAL("x", "0", "1"));
    const struct job *turned =
        job_of(arena, LOSS ", " GAIN, REAL("x", "0", "1"));
    struct trial_row row = result("{\"x\":0.5}", 8);
    row.final_metrics = "{\"gain\":8,\"loss\":3}";
    const struct prior_study study = translate(arena, old, turned, 1, &row);
    CHECK(study.results[0].values[0] == -3);
    CHECK(study.results[0].values[1] == 8);
    arena_free(arena);
}

static void another_objective_stands_for_one_that_is_not_there(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, LOSS, REAL("x", "0", "1"));
    const struct job *job = job_of(arena, GAIN, REAL("x", "0", "1"));
    struct trial_row row = result("{\"x\":0.5}", 8);
    const struct prior_match match = prior_match(arena, old, job);
    CHECK(match.renamed && !match.same);
    const struct prior_study study = translate(arena, old, job, 1, &row);
    CHECK(study.results[0].values[0] == -8); /* less was better there */
    arena_free(arena);
}

static void a_trial_that_was_stopped_has_what_was_foretold_of_it(void)
{
    struct arena *arena = arena_new();
    const struct job *old = job_of(arena, GAIN ", " LOSS, REAL("x", "0", "1"));
    const struct job *turned =
        job_of(arena, LOSS ", " GAIN, REAL("x", "0", "1"));
    struct trial_row row = result("{\"x\":0.5}", 8);
    row.state = TRIAL_STOPPED;
    row.final_metrics = "{\"gain\":8,\"loss\":3}";
    row.final_step = 2;
    row.stop = "{\"end\":9,\"predicted\":["
               "{\"metric\":\"gain\",\"value\":9.5,\"deviation\":0.5},"
               "{\"metric\":\"loss\",\"value\":1.5,\"deviation\":2}]}";
    const struct observation same =
        translate(arena, old, old, 1, &row).results[0];
    CHECK(same.feasible && same.values[0] == 9.5 && same.values[1] == -1.5);
    CHECK(same.variance == 0.25);
    const struct observation other =
        translate(arena, old, turned, 1, &row).results[0];
    CHECK(other.values[0] == -1.5 && other.values[1] == 9.5);
    CHECK(other.variance == 0); /* known only of the old objective */
    arena_free(arena);
}

static void what_failed_stays_failed(void)
{
    struct arena *arena = arena_new();
    const struct job *job = job_of(arena, LOSS, REAL("x", "0", "1"));
    struct trial_row row = {.state = TRIAL_FAILED, .params = "{\"x\":0.5}"};
    const struct prior_study study = translate(arena, job, job, 1, &row);
    CHECK(study.n == 1 && !study.results[0].feasible);
    CHECK(isnan(study.results[0].values[0]));
    arena_free(arena);
}

int main(void)
{
    json_init();
    RUN(names_and_kinds_tell_what_is_shared);
    RUN(a_name_that_stands_twice_is_not_shared);
    RUN(what_the_new_study_could_not_try_is_left_out);
    RUN(metrics_are_found_by_name);
    RUN(another_objective_stands_for_one_that_is_not_there);
    RUN(a_trial_that_was_stopped_has_what_was_foretold_of_it);
    RUN(what_failed_stays_failed);
    return check_done();
}
