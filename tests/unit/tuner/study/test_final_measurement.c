/* The record that counts when a trial ends, and what its end writes. */
#include "tuner/study/final_measurement.h"

#include "tests/lib/core_fixture.h"

#define SPEC(more)                                                             \
    "spec: 1\nname: s\ngoal: maximize accuracy\n"                              \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\nalgorithm: random\n"   \
    "trials: 4\nparallel: 1\ncommand: [./train]\n" more

static struct final_measurement seen;
static char seen_why[200];

static enum ht_status read_rows(struct core *core, struct request *req,
                                struct trial_row *trial,
                                struct attempt_row *attempt,
                                struct ht_error *err)
{
    const struct trial_name name = {1, 1, 1};
    const enum ht_status status =
        db_trial_get(core_db(core), req->arena, 1, 1, trial, err);
    return status == HT_OK
               ? db_attempt_get(core_db(core), req->arena, &name, attempt, err)
               : status;
}

static enum ht_status prepare(struct core *core, struct request *req,
                              struct ht_error *err)
{
    struct trial_row trial;
    struct attempt_row attempt;
    struct deciding deciding = {.core = core,
                                .arena = req->arena,
                                .trial = &trial,
                                .attempt = &attempt};
    enum ht_status status = read_rows(core, req, &trial, &attempt, err);
    if (status == HT_OK)
        status = final_measurement_prepare(&deciding, err);
    seen = deciding.final;
    snprintf(seen_why, sizeof seen_why, "%s", seen.why == NULL ? "" : seen.why);
    CHECK(!trial.has_objective && !attempt.winner); /* nothing is decided */
    text_puts(&req->reply, "{}");
    return status;
}

static void report(struct fixture *f, const char *spec, int n,
                   const char *const values[])
{
    CHECK(fixture_submit(f, spec)->status == HT_OK);
    fixture_hello(f, 1);
    const struct leased leased = fixture_begin(f);
    for (int i = 0; i < n; i++)
        fixture_report(f, leased.token,
                       fixture_record(f, i + 1, i + 1, values[i]));
    CHECK(fixture_call(f, prepare, NULL, NULL)->status == HT_OK);
}

static void the_last_record_counts(struct fixture *f)
{
    report(f, SPEC(""), 2, (const char *const[]){"0.75", "0.5"});
    CHECK(seen.found && seen.objective == 0.5 && seen.step == 2);
}

static void or_the_best_where_the_job_says_so(struct fixture *f)
{
    report(f, SPEC("selection: best\n"), 2,
           (const char *const[]){"0.75", "0.5"});
    CHECK(seen.found && seen.objective == 0.75 && seen.step == 1);
}

static void a_value_that_is_not_finite_is_no_result(struct fixture *f)
{
    report(f, SPEC(""), 1, (const char *const[]){"\"NaN\""});
    CHECK(!seen.found);
    CHECK_TEXT(seen_why, "accuracy was NaN at step 1");
}

static void a_metric_that_did_not_come_is_explained(struct fixture *f)
{
    report(f, SPEC(""), 0, NULL);
    CHECK(!seen.found && seen.doctor != NULL);
    CHECK_TEXT(seen_why, "ended without reporting accuracy");
}

static enum ht_status end_trial(struct core *core, struct request *req,
                                struct ht_error *err)
{
    struct trial_row trial;
    struct attempt_row attempt;
    struct deciding deciding = {.core = core,
                                .arena = req->arena,
                                .trial = &trial,
                                .attempt = &attempt};
    enum ht_status status = read_rows(core, req, &trial, &attempt, err);
    if (status == HT_OK)
        status = final_measurement_prepare(&deciding, err);
    if (status == HT_OK)
        status = final_measurement_end_trial(&deciding, TRIAL_STOPPED, "enough",
                                             err);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.5);
    CHECK(attempt.winner);
    text_puts(&req->reply, "{}");
    return status;
}

static void the_end_changes_the_rows_and_saves_them(struct fixture *f)
{
    report(f, SPEC(""), 1, (const char *const[]){"0.5"});
    CHECK(fixture_call(f, end_trial, NULL, NULL)->status == HT_OK);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPED && trial.has_objective);
    CHECK(trial.objective == 0.5 && trial.final_step == 1);
    CHECK_TEXT(trial.final_metrics, "{\"accuracy\":0.5}");
    CHECK_TEXT(trial.reason, "enough");
    CHECK(fixture_study(f, 1).stale_trials == 0);
}

/* Many trainers write one metric a record. */
static void what_the_record_lacks_comes_from_those_beside_it(struct fixture *f)
{
    static const char *const metrics[] = {
        "\"early\":1,\"late\":1", "\"late\":2", "\"accuracy\":0.5,\"own\":1",
        "\"own\":2,\"bad\":\"NaN\",\"after\":4", "\"after\":5"};
    CHECK(fixture_submit(f, SPEC(""))->status == HT_OK);
    fixture_hello(f, 1);
    const struct leased leased = fixture_begin(f);
    for (int i = 0; i < 5; i++)
        fixture_report(
            f, leased.token,
            arena_printf(f->arena,
                         "{\"w\":\"0000000000000001\",\"n\":%d,\"t\":%d,"
                         "\"s\":%d,\"m\":{%s},\"c\":\"\"}",
                         i + 1, 1000 + i, i + 1, metrics[i]));
    CHECK(fixture_call(f, prepare, NULL, NULL)->status == HT_OK);
    CHECK(seen.found && seen.step == 3);
    CHECK_TEXT(seen.metrics, "{\"accuracy\":0.5,\"own\":1,\"late\":2,"
                             "\"early\":1,\"after\":4}");
}

int main(void)
{
    RUN_ON_CORE(the_last_record_counts);
    RUN_ON_CORE(or_the_best_where_the_job_says_so);
    RUN_ON_CORE(a_value_that_is_not_finite_is_no_result);
    RUN_ON_CORE(a_metric_that_did_not_come_is_explained);
    RUN_ON_CORE(what_the_record_lacks_comes_from_those_beside_it);
    RUN_ON_CORE(the_end_changes_the_rows_and_saves_them);
    return check_done();
}
