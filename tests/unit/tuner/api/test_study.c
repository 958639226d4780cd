/* What people do to studies: create, pause, stop, change, continue, delete. */
#include "tests/lib/core_fixture.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 3\nparallel: 1\n"
                           "command: [./train]\n";

static const struct node *status_of(struct request *req)
{
    return node_find(fixture_reply(req), "hypertuneStatus");
}

static const char *state_of(struct request *req)
{
    return node_get_string(status_of(req), "state", "");
}

static void a_name_is_given_once(struct fixture *f)
{
    CHECK(fixture_submit(f, spec)->status == HT_OK);
    struct request *again = fixture_submit(f, spec);
    CHECK(again->status == HT_EXISTS);
    CHECK_TEXT(again->err.text, "the name s is taken");
}

static const char nameless[] =
    "{\"displayName\":\"%s\",\"maxTrialCount\":1,\"parallelTrialCount\":1,"
    "\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":\"MAXIMIZE\"}],"
    "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":"
    "{\"minValue\":0,\"maxValue\":1}}],\"algorithm\":\"RANDOM_SEARCH\"},"
    "\"trialJobSpec\":{\"workerPoolSpecs\":[{\"replicaCount\":1,"
    "\"containerSpec\":{\"imageUri\":\"i\"}}]}}";

static void nameless_studies_get_names_of_their_own(struct fixture *f)
{
    static const char *const displays[] = {"My run!", "My run!", "42"};
    static const char *const names[] = {"My-run-", "My-run--2", "study-3"};
    for (int i = 0; i < 3; i++) {
        char body[1024];
        snprintf(body, sizeof body, nameless, displays[i]);
        struct request *req = fixture_call(f, study_create, NULL, body);
        CHECK(req->status == HT_OK);
        CHECK_TEXT(node_get_string(status_of(req), "name", ""), names[i]);
        CHECK_TEXT(node_get_string(fixture_reply(req), "displayName", ""),
                   displays[i]);
    }
}

static void a_wrong_job_names_its_fields(struct fixture *f)
{
    struct request *req =
        fixture_call(f, study_create, NULL, "{\"displayName\":\"x\"}");
    CHECK(req->status == HT_INVALID);
    CHECK(req->diag != NULL && req->diag->errors > 0);
    CHECK(fixture_call(f, study_create, NULL, NULL)->status == HT_INVALID);
    struct db *db = fixture_db(f);
    static const struct study_scope anywhere = {0};
    struct study_list list = {0};
    CHECK(db_study_list(db, f->arena, &anywhere, 0, 10, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
    db_close(db);
}

static void a_grid_over_a_continuous_space_is_refused(struct fixture *f)
{
    char body[1024];
    snprintf(body, sizeof body, nameless, "g");
    char *name = strstr(body, "RANDOM_SEARCH");
    memmove(name + 11, name + 13, strlen(name + 13) + 1);
    memcpy(name, "GRID_SEARCH", 11);
    CHECK(fixture_call(f, study_create, NULL, body)->status == HT_INVALID);
}

static void a_drawn_seed_is_shown_and_kept(struct fixture *f)
{
    struct request *req = fixture_submit(f, spec);
    char seed[32];
    snprintf(seed, sizeof seed, "%lld", (long long)fixture_study(f, 1).seed);
    CHECK_TEXT(node_get_string(status_of(req), "seed", ""), seed);
}

static void a_paused_study_starts_nothing_new(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 2);
    struct leased leased = fixture_lease_one(f);
    struct request *req = fixture_call(f, study_pause, "s", NULL);
    CHECK_TEXT(state_of(req), "PAUSED");
    CHECK_TEXT(node_get_string(status_of(req), "reason", ""),
               "paused, 1 still run");
    fixture_succeed(f, &leased, "0.5");
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(!fixture_is_done(held));
    CHECK(fixture_study(f, 1).next_trial == 2);
    CHECK_TEXT(state_of(fixture_call(f, study_pause, "1", NULL)), "PAUSED");
    CHECK_TEXT(state_of(fixture_call(f, study_resume, "s", NULL)), "RUNNING");
    fixture_wait(f, held);
    CHECK(fixture_leased(held, &leased, 1) == 1 && leased.name.trial == 2);
}

static void stop_keeps_results_and_ends_when_all_have_ended(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    struct request *req = fixture_call(f, study_stop, "s", NULL);
    CHECK_TEXT(state_of(req), "STOPPING");
    CHECK(fixture_call(f, study_stop, "s", NULL)->status == HT_OK);
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_PRECONDITION);
    CHECK(fixture_call(f, study_delete, "s", NULL)->status == HT_PRECONDITION);
    fixture_end(f, &leased, "\"outcome\":\"failed\",\"signal\":15");
    const struct study_row study = fixture_study(f, 1);
    CHECK(study.state == STUDY_STOPPED && study.ended_ms > 0);
    CHECK_TEXT(study.reason, "stopped by user");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_STOPPED);
    CHECK(fixture_call(f, study_stop, "s", NULL)->status == HT_OK);
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_PRECONDITION);
}

static void stop_with_nothing_running_ends_at_once(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK_TEXT(state_of(fixture_call(f, study_stop, "s", NULL)), "STOPPED");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_CANCELLED);
}

static void cancel_discards_what_runs(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    struct request *req = fixture_call(f, study_cancel, "s", NULL);
    CHECK_TEXT(req->reply.data, "{}");
    CHECK(fixture_study(f, 1).state == STUDY_CANCELLING);
    fixture_end(f, &leased, "\"outcome\":\"stopped\"");
    CHECK(fixture_study(f, 1).state == STUDY_CANCELLED);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_CANCELLED && !trial.has_objective);
    CHECK(fixture_call(f, study_cancel, "s", NULL)->status == HT_OK);
    CHECK(fixture_call(f, study_change, "s", "{\"maxTrialCount\":9}")->status ==
          HT_PRECONDITION);
}

static int64_t deleted_study;

static void note_deleted(void *context, int64_t study)
{
    (void)context;
    __atomic_store_n(&deleted_study, study, __ATOMIC_SEQ_CST);
}

static void a_deleted_study_leaves_nothing(struct fixture *f)
{
    fixture_stop(f);
    f->options.on_deleted = note_deleted;
    CHECK(fixture_start(f));
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    struct text records = {0};
    for (int i = 1; i <= 2500; i++) /* several slices */
        text_printf(&records, "%s%s", i == 1 ? "" : ",",
                    fixture_record(f, i, i, "0.5"));
    CHECK(fixture_report(f, leased.token, records.data)->status == HT_OK);
    text_free(&records);
    fixture_call(f, study_stop, "s", NULL);
    fixture_end(f, &leased, "\"outcome\":\"stopped\"");
    struct request *req = fixture_call(f, study_delete, "s", NULL);
    CHECK(req->status == HT_OK);
    CHECK(node_get_bool(fixture_reply(req), "done", false));
    CHECK(fixture_call(f, study_stop, "s", NULL)->status == HT_NOT_FOUND);
    CHECK(fixture_submit(f, spec)->status == HT_OK); /* the name is free */
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (__atomic_load_n(&deleted_study, __ATOMIC_SEQ_CST) != 1 &&
           clock_monotonic_ms() < end_ms)
        fixture_nap();
    CHECK(deleted_study == 1);
    CHECK(fixture_study(f, 1).id == 0);
    CHECK(fixture_trial(f, 1, 1).id == 0);
    struct db *db = fixture_db(f);
    struct measurement_list list = {0};
    struct event_list events = {0};
    CHECK(db_measurement_list(db, f->arena, 1, 1, 10, &list, NULL) == HT_OK);
    CHECK(db_event_list(db, f->arena, 1, 0, 10, &events, NULL) == HT_OK);
    CHECK(list.n == 0 && events.n == 0);
    db_close(db);
    CHECK(fixture_study(f, 2).id == 2);
}

int main(void)
{
    RUN_ON_CORE(a_name_is_given_once);
    RUN_ON_CORE(nameless_studies_get_names_of_their_own);
    RUN_ON_CORE(a_wrong_job_names_its_fields);
    RUN_ON_CORE(a_grid_over_a_continuous_space_is_refused);
    RUN_ON_CORE(a_drawn_seed_is_shown_and_kept);
    RUN_ON_CORE(a_paused_study_starts_nothing_new);
    RUN_ON_CORE(stop_keeps_results_and_ends_when_all_have_ended);
    RUN_ON_CORE(stop_with_nothing_running_ends_at_once);
    RUN_ON_CORE(cancel_discards_what_runs);
    RUN_ON_CORE(a_deleted_study_leaves_nothing);
    return check_done();
}
