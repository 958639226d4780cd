/* Changes of a study: more or fewer trials, or another spec. */
#include "proto/form/form.h"
#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"

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

static void run_all(struct fixture *fixture, int n)
{
    for (int i = 0; i < n; i++) {
        struct leased leased = {0};
        leased = fixture_lease_one(fixture);
        fixture_succeed(fixture, &leased, "0.5");
    }
}

static void more_trials_reopen_a_finished_study(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    run_all(f, 3);
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    struct request *req = fixture_call(
        f, study_change, "s", "{\"maxTrialCount\":4,\"parallelTrialCount\":2}");
    CHECK(req->status == HT_OK);
    CHECK_TEXT(state_of(req), "RUNNING");
    CHECK_TEXT(node_get_string(fixture_reply(req), "displayName", ""), "s");
    run_all(f, 1);
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK(fixture_study(f, 1).next_trial == 5);
}

static void fewer_trials_end_a_study_early(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    run_all(f, 1);
    struct leased leased = fixture_lease_one(f);
    struct request *req =
        fixture_call(f, study_change, "s", "{\"maxTrialCount\":1}");
    CHECK(req->status == HT_INVALID);
    CHECK_TEXT(req->err.text, "maxTrialCount: 1 is below the 2 trials that "
                              "study s has made");
    CHECK(fixture_call(f, study_change, "s", "{\"maxTrialCount\":2}")->status ==
          HT_OK);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK(fixture_study(f, 1).next_trial == 3);
}

static void a_change_is_checked(struct fixture *f)
{
    fixture_submit(f, spec);
    struct request *req = fixture_call(f, study_change, "s",
                                       "{\"maxTrialCount\":0,\"name\":\"x\"}");
    CHECK(req->status == HT_INVALID && req->diag->errors == 2);
    CHECK(fixture_call(f, study_change, "s", "[]")->status == HT_INVALID);
    CHECK(fixture_call(f, study_change, "t", "{}")->status == HT_NOT_FOUND);
}

/* The body {"job": ...} of --continue for a native spec. */
static struct request *continue_with(struct fixture *fixture, const char *yaml)
{
    struct diag diag;
    diag_init(&diag, fixture->arena, "spec", yaml, strlen(yaml));
    const struct node *root =
        node_read_yaml(fixture->arena, yaml, strlen(yaml), &diag);
    const struct job *job = native_read(root, &diag);
    CHECK(job != NULL);
    cJSON *body = cJSON_CreateObject();
    cJSON_AddItemToObject(body, "job", vertex_write(job));
    struct text text = {0};
    json_print(body, &text);
    struct request *req = fixture_call(fixture, study_change, "s", text.data);
    text_free(&text);
    return req;
}

static void continuing_takes_over_the_spec(struct fixture *f)
{
    fixture_submit(f, spec);
    struct request *req = continue_with(
        f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
           "algorithm: random\ntrials: 7\nparallel: 3\nretries: 5\n"
           "command: [./other]\n");
    CHECK(req->status == HT_OK);
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    const struct node *argv =
        node_find(node_find(leased.node, "replicas")->first, "argv");
    CHECK_TEXT(argv->first->text, "./other");
    req = continue_with(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 1, max: 2, "
                           "scale: log}\n"
                           "algorithm: random\ntrials: 7\n"
                           "command: [./other]\n");
    CHECK(req->status == HT_CONFLICT);
    CHECK(strstr(req->err.text, "parameters.lr") != NULL);
    CHECK(strstr(req->err.text, "hypertune clone s") != NULL);
    req = continue_with(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 7\nseed: 5\n"
                           "command: [./other]\n");
    CHECK(req->status == HT_CONFLICT);
    CHECK(strstr(req->err.text, "seed") != NULL);
}

/* The reasons of all changes of study 1. */
static const char *changes(struct fixture *f)
{
    struct db *db = fixture_db(f);
    struct event_list events = {0};
    const char *all = "";
    CHECK(db_event_list(db, f->arena, 1, 0, 100, &events, NULL) == HT_OK);
    for (size_t i = 0; i < events.n; i++)
        if (strcmp(events.rows[i].kind, "study.changed") == 0)
            all = arena_printf(f->arena, "%s%s", all, events.rows[i].reason);
    db_close(db);
    return all;
}

static void a_change_is_an_event_with_its_differences(struct fixture *f)
{
    static const char body[] = "{\"parallelTrialCount\":2}";
    fixture_submit(f, spec);
    CHECK(fixture_call(f, study_change, "s", body)->status == HT_OK);
    CHECK_TEXT(changes(f), "parallel: 1 -> 2\n");
    CHECK(fixture_call(f, study_change, "s", body)->status == HT_OK);
    CHECK_TEXT(changes(f), "parallel: 1 -> 2\n"); /* no difference, none */
}

static int64_t specs_kept(struct fixture *f)
{
    struct db *db = fixture_db(f);
    const int64_t n = db_place_ask(db, "SELECT count(*) FROM specs");
    db_close(db);
    return n;
}

static void an_edit_withdraws_and_marks(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    leased = fixture_lease_one(f);
    CHECK(fixture_call(f, study_change, "s", "{\"parallelTrialCount\":2}")
              ->status == HT_OK);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct request *req =
        continue_with(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                         "parameters:\n  lr: {type: double, min: 2, max: 3}\n"
                         "algorithm: random\ntrials: 3\nparallel: 2\n"
                         "command: [./train]\n");
    CHECK(req->status == HT_OK);
    CHECK(specs_kept(f) == 1);
    CHECK(fixture_study(f, 1).withdrawn == 1);
    CHECK(fixture_trial(f, 1, 1).outside && fixture_trial(f, 1, 2).outside);
    fixture_succeed(f, &leased, "0.25"); /* what runs ends as it would */
    leased = fixture_lease_one(f);
    double lr = 0;
    const struct trial_row last = fixture_trial(f, 1, leased.name.trial);
    CHECK(sscanf(last.params, "{\"lr\":%lf", &lr) == 1 && lr >= 2 && lr <= 3);
    CHECK(last.id == 4 && last.ordinal == 2 && !last.outside);
    fixture_succeed(f, &leased, "0.125");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
}

/* A client that changes a count often must not let the file grow. */
static void counts_keep_no_spec(struct fixture *f)
{
    fixture_submit(f, spec);
    for (int i = 4; i < 9; i++)
        CHECK(fixture_call(f, study_change, "s",
                           arena_printf(f->arena, "{\"maxTrialCount\":%d}", i))
                  ->status == HT_OK);
    CHECK(specs_kept(f) == 0);
}

int main(void)
{
    RUN_ON_CORE(more_trials_reopen_a_finished_study);
    RUN_ON_CORE(fewer_trials_end_a_study_early);
    RUN_ON_CORE(a_change_is_checked);
    RUN_ON_CORE(continuing_takes_over_the_spec);
    RUN_ON_CORE(an_edit_withdraws_and_marks);
    RUN_ON_CORE(counts_keep_no_spec);
    RUN_ON_CORE(a_change_is_an_event_with_its_differences);
    return check_done();
}
