/* What a study does by itself: it says why it waits, asks for trials, and
 * leaves the database when it is deleted. */
#include "tuner/study/settle.h"

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"
#include "tuner/db/specs.h"
#include "tuner/search/study.h"
#include "tuner/study/trial.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: [1, 2]\n"
    "algorithm: grid\ntrials: 9\nparallel: 2\ncommand: [./train]\n";

static enum ht_status settle(struct core *core, struct request *req,
                             struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return study_settle(core, req->study[0] - '0', err);
}

static void the_reason_says_what_is_missing(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_reason(f, 1, "no runner is connected"));
    fixture_hello(f, 0);
    CHECK(fixture_await_reason(f, 1, "2 of 2 wait: 0 slots"));
}

static void settling_again_changes_nothing(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(fixture_call(f, settle, "1", NULL)->status == HT_OK);
    const int64_t revision = fixture_study(f, 1).revision;
    CHECK(fixture_call(f, settle, "1", NULL)->status == HT_OK);
    CHECK(fixture_study(f, 1).revision == revision);
    CHECK(fixture_call(f, settle, "7", NULL)->status == HT_NOT_FOUND);
}

static void a_space_without_a_further_point_is_exhausted(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    for (int i = 0; i < 2; i++) {
        const struct leased leased = fixture_lease_one(f);
        fixture_succeed(f, &leased, "0.5");
    }
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    const struct study_row row = fixture_study(f, 1);
    CHECK(row.exhausted);
    CHECK_TEXT(row.reason, "all 2 points of the space were tried");
}

static void a_deleted_study_leaves_the_database(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(fixture_call(f, study_cancel, "s", NULL)->status == HT_OK);
    CHECK(fixture_await_study(f, 1, STUDY_CANCELLED));
    CHECK(fixture_call(f, study_delete, "s", NULL)->status == HT_OK);
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (fixture_study(f, 1).name != NULL && clock_monotonic_ms() < end_ms)
        fixture_nap();
    CHECK(fixture_study(f, 1).name == NULL);
}

static enum ht_status recover(struct core *core, struct request *req,
                              struct ht_error *err)
{
    struct live_study *live = live_study(core_live(core), 1);
    live->look_at_ms = LIVE_NEVER;
    CHECK(study_recover(core, err) == HT_OK);
    CHECK(live->look_at_ms == core_now_ms(core));
    CHECK(study_deadline(core) == core_now_ms(core));
    live->look_at_ms = LIVE_NEVER;
    CHECK(study_deadline(core) == LIVE_NEVER);
    live->stale = true; /* slots have changed */
    CHECK(study_deadline(core) == 0);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void a_study_is_looked_at_after_a_start(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_call(f, recover, NULL, NULL)->status == HT_OK);
}

static int64_t next_trial(struct core *core, struct request *req,
                          struct study_row *row)
{
    CHECK(db_study_get(core_db(core), req->arena, 1, row, NULL) == HT_OK);
    return row->next_trial;
}

/* Makes room for a trial, and changes the study. A search that began before
 * ends after that. */
static enum ht_status answer_late(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    struct db *db = core_db(core);
    struct suggestion item = {.params = "{\"x\":0.125}", .why = ""};
    struct suggestions found = {.study = 1, .n = 1, .items = &item};
    struct study_row row;
    struct trial_row waiting;
    const struct job *job;
    const int64_t next = next_trial(core, req, &row);
    CHECK(live_job(core_live(core), &row, &job, NULL) == HT_OK);
    CHECK(db_trial_get(db, req->arena, 1, 2, &waiting, NULL) == HT_OK);
    CHECK(trial_delete(core, job, &waiting, "", NULL) == HT_OK);
    CHECK(db_spec_keep(db, 1, row.revision, row.spec, NULL) == HT_OK);
    found.revision = row.revision - 1;
    CHECK(study_suggestions_receiver.store(core, &found, err) == HT_OK);
    CHECK(next_trial(core, req, &row) == next);
    found.revision = row.revision;
    CHECK(study_suggestions_receiver.store(core, &found, err) == HT_OK);
    CHECK(next_trial(core, req, &row) == next + 1);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void an_answer_of_before_a_change_is_not_used(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  x: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 2\n"
                      "command: [./train]\n");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(fixture_call(f, answer_late, NULL, NULL)->status == HT_OK);
}

int main(void)
{
    RUN_ON_CORE(the_reason_says_what_is_missing);
    RUN_ON_CORE(settling_again_changes_nothing);
    RUN_ON_CORE(a_space_without_a_further_point_is_exhausted);
    RUN_ON_CORE(a_deleted_study_leaves_the_database);
    RUN_ON_CORE(a_study_is_looked_at_after_a_start);
    RUN_ON_CORE(an_answer_of_before_a_change_is_not_used);
    return check_done();
}
