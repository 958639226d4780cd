/* The whole life of studies: how they want trials, and each way to end. */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/base/budget.h"
#include "tuner/base/damage.h"
#include "tuner/db/internal.h"

static const char two_points[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: [1, 2]\n"
    "algorithm: grid\ntrials: 10\nparallel: 2\ncommand: [./train]\n";

static const char *first_arg(const struct leased *leased)
{
    const struct node *args = node_find(leased->node, "paramArgs");
    return args == NULL || args->first == NULL ? NULL : args->first->text;
}

static void a_study_runs_until_its_space_is_tried(struct fixture *f)
{
    struct request *made = fixture_submit(f, two_points);
    CHECK(made->status == HT_OK);
    const struct node *status =
        node_find(fixture_reply(made), "hypertuneStatus");
    CHECK_TEXT(node_get_string(status, "name", ""), "s");
    CHECK_TEXT(node_get_string(status, "reason", ""), "no runner is connected");
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    CHECK_TEXT(node_get_string(leased[0].node, "name", ""),
               "ht-ab12cd34-1-1-1");
    CHECK_TEXT(first_arg(&leased[0]), "--lr=1");
    CHECK_TEXT(first_arg(&leased[1]), "--lr=2");
    CHECK_TEXT(fixture_study(f, 1).reason, "2 of 2 run");
    CHECK(core_is_busy(f->core));
    fixture_succeed(f, &leased[0], "0.5");
    fixture_succeed(f, &leased[1], "0.75");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(f, 1).reason,
               "all 2 points of the space were tried");
    const struct trial_row best = fixture_trial(f, 1, 2);
    CHECK(best.state == TRIAL_SUCCEEDED && best.objective == 0.75);
    CHECK_TEXT(best.final_metrics, "{\"accuracy\":0.75}");
    CHECK(!core_is_busy(f->core));
}

static void a_study_ends_when_its_trials_are_used_up(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: minimize loss\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 3\nparallel: 1\n"
                      "command: [./train]\n");
    fixture_hello(f, 4);
    for (int i = 1; i <= 3; i++) {
        struct leased leased = {0};
        leased = fixture_lease_one(f);
        CHECK(leased.name.trial == i);
        CHECK(fixture_tell(f, "started", &leased.name, "")->status == HT_OK);
        fixture_report(f, leased.token,
                       "{\"w\":\"0000000000000001\",\"n\":1,\"t\":5,\"s\":1,"
                       "\"m\":{\"loss\":0.5}}");
        fixture_end(f, &leased, "\"outcome\":\"succeeded\"");
    }
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(f, 1).reason, "all 3 trials have ended");
}

static void many_failures_end_a_study_and_are_named(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 1\n"
                      "maxFailed: 2\nretries: 0\ncommand: [./train]\n");
    fixture_hello(f, 1);
    for (int i = 0; i < 2; i++) {
        struct leased leased = {0};
        leased = fixture_lease_one(f);
        fixture_end_as(f, &leased,
                       "\"outcome\":\"failed\",\"exit\":1,"
                       "\"reason\":\"exit 1\"");
    }
    CHECK(fixture_await_study(f, 1, STUDY_FAILED));
    CHECK_TEXT(fixture_study(f, 1).reason,
               "2 trials failed, limit 2: most often 'exit 1'");
    CHECK(fixture_trial(f, 1, 3).id == 0);
}

static void a_study_without_any_success_has_failed(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: [1]\nalgorithm: grid\ntrials: 1\n"
                      "retries: 0\ncommand: [./train]\n");
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased,
                   "\"outcome\":\"failed\",\"signal\":9,"
                   "\"reason\":\"signal 9\"");
    CHECK(fixture_await_study(f, 1, STUDY_FAILED));
    CHECK_TEXT(fixture_study(f, 1).reason,
               "no trial succeeded: most often 'signal 9' (its trial has "
               "ended)");
}

static void a_target_ends_the_study_and_stops_what_runs(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 2\n"
                      "until: {target: 0.9}\ncommand: [./train]\n");
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_tell(f, "started", &leased[1].name, "");
    fixture_report(f, leased[1].token, fixture_record(f, 1, 1, "0.25"));
    fixture_succeed(f, &leased[0], "0.95");
    CHECK(fixture_await_study(f, 1, STUDY_STOPPING));
    struct request *beat = fixture_control(
        f, "heartbeat",
        "\"attempts\":[{\"study\":1,\"trial\":2,\"attempt\":1}]");
    const struct node *stop = node_find(fixture_reply(beat), "stop")->first;
    CHECK(stop != NULL && node_get_int(stop, "trial", 0) == 2);
    CHECK_TEXT(node_get_string(stop, "how", ""), "stop");
    fixture_end(f, &leased[1],
                "\"outcome\":\"stopped\",\"signal\":15,\"reason\":\"stop\"");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(f, 1).reason,
               "trial 1 reached accuracy 0.95, target 0.9");
    const struct trial_row stopped = fixture_trial(f, 1, 2);
    CHECK(stopped.state == TRIAL_STOPPED && stopped.objective == 0.25);
}

static void no_progress_ends_a_study(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 1\n"
                      "until: {noProgress: 2}\ncommand: [./train]\n");
    fixture_hello(f, 1);
    static const char *const results[] = {"0.5", "0.6", "0.6", "0.1"};
    for (int i = 0; i < 4; i++) {
        struct leased leased = {0};
        leased = fixture_lease_one(f);
        fixture_succeed(f, &leased, results[i]);
    }
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(f, 1).reason, "no progress in the last 2 trials");
}

static void time_ends_a_study(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 2\n"
                      "until: {time: 5s}\ncommand: [./train]\n");
    CHECK(fixture_await_study(f, 1, STUDY_FAILED));
    CHECK_TEXT(fixture_study(f, 1).reason,
               "no trial succeeded (its time of 5s is over)");
    CHECK(fixture_await_trials(f, 1, TRIAL_CANCELLED, 2));
}

static void waiting_trials_say_what_they_wait_for(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 8\n"
                      "command: [./train]\n");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 8));
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    CHECK_TEXT(fixture_study(f, 1).reason, "6 of 8 wait: 2 slots");
}

static void
the_study_with_fewer_running_trials_is_served_first(struct fixture *f)
{
    static const char spec[] =
        "spec: 1\ngoal: maximize accuracy\n"
        "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
        "algorithm: random\ntrials: 9\nparallel: 3\ncommand: [./train]\n";
    fixture_submit(f, spec);
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 3));
    fixture_hello(f, 4);
    struct leased leased[4] = {0};
    CHECK(fixture_lease(f, 4, leased) == 4);
    CHECK(leased[0].name.study == 1 && leased[0].name.trial == 1);
    CHECK(leased[1].name.study == 2 && leased[1].name.trial == 1);
    CHECK(leased[2].name.study == 1 && leased[2].name.trial == 2);
    CHECK(leased[3].name.study == 2 && leased[3].name.trial == 2);
}

static void a_restart_in_the_middle_changes_nothing(struct fixture *f)
{
    fixture_submit(f, two_points);
    fixture_hello(f, 1);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 1, leased) == 1);
    fixture_tell(f, "started", &leased[0].name, "");
    fixture_report(f, leased[0].token, fixture_record(f, 1, 1, "0.5"));
    fixture_stop(f);
    CHECK(fixture_start(f));
    CHECK(fixture_report(f, leased[0].token, fixture_record(f, 2, 2, "0.625"))
              ->status == HT_OK);
    fixture_end(f, &leased[0], "\"outcome\":\"succeeded\"");
    CHECK(fixture_lease(f, 1, &leased[1]) == 1);
    CHECK(leased[1].name.trial == 2);
    fixture_succeed(f, &leased[1], "0.25");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK(fixture_trial(f, 1, 1).objective == 0.625);
}

static void a_server_keeps_the_name_it_made_for_itself(struct fixture *f)
{
    fixture_stop(f);
    f->options.server_id = NULL;
    CHECK(fixture_start(f));
    CHECK_TEXT(core_server_id(f->core), "ab12cd34"); /* the first start's */
}

/* Follows the events of a study: every revision is there exactly once. */
static void revisions_have_no_gaps(struct fixture *f)
{
    fixture_submit(f, two_points);
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_succeed(f, &leased[0], "0.5");
    fixture_succeed(f, &leased[1], "0.5");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    struct db *db = fixture_db(f);
    struct event_list events = {0};
    CHECK(db_event_list(db, f->arena, 1, 0, 1000, &events, NULL) == HT_OK);
    for (size_t i = 0; i < events.n; i++)
        CHECK(events.rows[i].revision == (int64_t)i + 1);
    CHECK((int64_t)events.n == fixture_study(f, 1).revision);
    CHECK_TEXT(events.rows[0].kind, "study.created");
    CHECK_TEXT(events.rows[events.n - 1].to, "SUCCEEDED");
    db_close(db);
}

/* Runs on the core thread, as any handler does. */
static enum ht_status cap_the_file(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    /* SQLite takes the size it has. */
    return db_exec(core_db(core), "PRAGMA max_page_count=1", err);
}

static void a_full_disk_is_refused_and_overcome(struct fixture *f)
{
    fixture_submit(f, two_points);
    CHECK(fixture_call(f, cap_the_file, NULL, NULL)->status == HT_OK);
    enum ht_status status = HT_OK;
    int64_t stored = 1;
    for (; status == HT_OK && stored < 500; stored++)
        status = fixture_submit(f, "spec: 1\ngoal: maximize accuracy\n"
                                   "parameters:\n  lr: [1]\n"
                                   "algorithm: grid\ncommand: [./train]\n")
                     ->status;
    CHECK(status == HT_UNAVAILABLE);
    /* The core opens the file again by itself; the cap was the old
     * connection's. */
    struct db *db = fixture_db(f);
    static const struct study_scope anywhere = {0};
    struct study_list list = {0};
    CHECK(db_study_list(db, f->arena, &anywhere, 0, 1000, &list, NULL) ==
          HT_OK);
    CHECK((int64_t)list.n == stored - 1);
    CHECK(db_check(db, NULL) == HT_OK);
    db_close(db);
    CHECK(fixture_submit(f, "spec: 1\ngoal: maximize accuracy\n"
                            "parameters:\n  lr: [1]\n"
                            "algorithm: grid\ncommand: [./train]\n")
              ->status == HT_OK);
}

static enum ht_status end_the_transaction(struct core *core,
                                          struct request *req,
                                          struct ht_error *err)
{
    (void)err;
    db_rollback(core_db(core)); /* as SQLite does after a grave error */
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void a_failed_commit_answers_503_and_the_core_goes_on(struct fixture *f)
{
    fixture_submit(f, two_points);
    struct request *req = fixture_call(f, end_the_transaction, NULL, NULL);
    CHECK(req->status == HT_UNAVAILABLE && req->reply.len == 0);
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
}

static void after_the_stop_requests_are_refused(struct fixture *f)
{
    fixture_submit(f, two_points);
    fixture_hello(f, 1);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    fixture_stop(f);
    fixture_wait(f, held);
    CHECK(held->status == HT_UNAVAILABLE);
}

/* It is answered, but neither held on nor given work that others may have. */
static void what_a_client_has_left_is_dropped(struct fixture *f)
{
    fixture_submit(f, two_points);
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    atomic_store(&held->abandoned, true);
    core_drop_abandoned(f->core);
    fixture_wait(f, held);
    CHECK(held->status == HT_UNAVAILABLE);
    CHECK(strstr(held->err.text, "the client has gone") != NULL);
}

static enum ht_status hold(struct core *core, struct request *req,
                           struct ht_error *err)
{
    (void)err;
    req->held_for = 1;
    req->held_until_ms = core_now_ms(core) + 3600000;
    return HT_OK;
}

static struct request *post_held(struct fixture *f, const char *name)
{
    struct request *req = fixture_request(f, hold, NULL);
    snprintf(req->from.name, sizeof req->from.name, "%s", name);
    core_post(f->core, req);
    return req;
}

/* Ann's third is refused at once, Bob's is held. */
static void a_principal_has_so_many_requests_held(struct fixture *f)
{
    CHECK(budget_set("held=2", NULL) == HT_OK);
    struct request *held[] = {post_held(f, "ann"), post_held(f, "ann"),
                              post_held(f, "bob")};
    struct request *refused = post_held(f, "ann");
    fixture_wait(f, refused);
    CHECK(refused->status == HT_LIMIT);
    CHECK(strstr(refused->err.text, "2 requests of ann") != NULL);
    for (size_t i = 0; i < 3; i++)
        CHECK(!fixture_is_done(held[i]));
    core_stop_holding(f->core);
    for (size_t i = 0; i < 3; i++)
        fixture_wait(f, held[i]);
    CHECK(budget_set("held=512", NULL) == HT_OK);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in != NULL && out != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        CHECK(fwrite(bytes, 1, n, out) == n);
    fclose(in);
    CHECK(fclose(out) == 0);
}

/* A reader may find out before any commit does. The last case: nothing is
 * changed in this process afterwards. */
static void a_log_that_was_moved_away_is_in_the_file(struct fixture *f)
{
    char file[128], log[128], copy[128];
    struct db *db;
    (void)snprintf(file, sizeof file, "%s/hypertune.db", f->dir);
    (void)snprintf(log, sizeof log, "%s-wal", file);
    (void)snprintf(copy, sizeof copy, "%s/copy.db", f->dir);
    CHECK(fixture_submit(f, two_points)->status == HT_OK);
    damage_note("the log was removed"); /* so no tick commits any more */
    CHECK(unlink(log) == 0);
    CHECK(fixture_submit(f, two_points)->status == HT_UNAVAILABLE);
    copy_file(file, copy);
    CHECK(db_open_readonly(copy, &db, NULL) == HT_OK);
    static const struct study_scope anywhere = {0};
    struct study_list list = {0};
    CHECK(db_study_list(db, f->arena, &anywhere, 0, 10, &list, NULL) == HT_OK);
    CHECK(list.n == 1);
    db_close(db);
    db_place_remove(f->dir, "copy");
}

int main(void)
{
    RUN_ON_CORE(a_study_runs_until_its_space_is_tried);
    RUN_ON_CORE(a_study_ends_when_its_trials_are_used_up);
    RUN_ON_CORE(many_failures_end_a_study_and_are_named);
    RUN_ON_CORE(a_study_without_any_success_has_failed);
    RUN_ON_CORE(a_target_ends_the_study_and_stops_what_runs);
    RUN_ON_CORE(no_progress_ends_a_study);
    RUN_ON_CORE(time_ends_a_study);
    RUN_ON_CORE(waiting_trials_say_what_they_wait_for);
    RUN_ON_CORE(the_study_with_fewer_running_trials_is_served_first);
    RUN_ON_CORE(a_restart_in_the_middle_changes_nothing);
    RUN_ON_CORE(a_server_keeps_the_name_it_made_for_itself);
    RUN_ON_CORE(revisions_have_no_gaps);
    RUN_ON_CORE(a_full_disk_is_refused_and_overcome);
    RUN_ON_CORE(a_failed_commit_answers_503_and_the_core_goes_on);
    RUN_ON_CORE(after_the_stop_requests_are_refused);
    RUN_ON_CORE(what_a_client_has_left_is_dropped);
    RUN_ON_CORE(a_principal_has_so_many_requests_held);
    RUN_ON_CORE(a_log_that_was_moved_away_is_in_the_file);
    return check_done();
}
