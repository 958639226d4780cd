/* Runners: leases that wait, repeats, silence, restarts on either side. */
#include "tests/lib/core_fixture.h"
#include "tuner/api/vizier.h"

static const char one_at_a_time[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 9\nparallel: 1\nseed: 1\n"
    "command: [./train, '--rate=${lr}']\nworkdir: /abs\n"
    "env: {A: b}\n";

static void a_lease_waits_for_work(struct fixture *f)
{
    fixture_hello(f, 1);
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(!fixture_is_done(held));
    fixture_submit(f, one_at_a_time);
    fixture_wait(f, held);
    struct leased leased = {0};
    CHECK(fixture_leased(held, &leased, 1) == 1);
}

static void a_lease_is_answered_when_its_hold_ends(struct fixture *f)
{
    fixture_stop(f);
    f->options.hold_ms = 50;
    CHECK(fixture_start(f));
    fixture_hello(f, 1);
    const int64_t before_ms = clock_monotonic_ms();
    struct request *req = fixture_control(f, "lease", "\"free\":1");
    CHECK(clock_monotonic_ms() - before_ms >= 45);
    const struct node *reply = fixture_reply(req);
    CHECK(req->status == HT_OK && node_find(reply, "attempts")->count == 0);
    CHECK(node_find(reply, "stop")->count == 0);
}

static void an_attempt_says_all_a_runner_needs(struct fixture *f)
{
    core_set_report_url(f->core, "tcp://127.0.0.1:9");
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    const struct node *node = leased.node;
    CHECK_TEXT(node_get_string(node, "name", ""), "ht-ab12cd34-1-1-1");
    CHECK_TEXT(node_get_string(node, "jobName", ""), "s");
    CHECK_TEXT(node_get_string(node, "reportUrl", ""), "tcp://127.0.0.1:9");
    CHECK(strlen(leased.token) == 32);
    CHECK(node_get_int(node, "graceMs", 0) == 30000);
    CHECK_TEXT(node_find(node, "metrics")->first->text, "accuracy");
    const struct node *replica = node_find(node, "replicas")->first;
    CHECK_TEXT(node_get_string(replica, "type", ""), "master");
    CHECK_TEXT(node_get_string(replica, "workdir", ""), "/abs");
    const struct node *argv = node_find(replica, "argv");
    CHECK(argv->count == 2);
    CHECK(strncmp(argv->first->next->text, "--rate=0", 8) == 0);
    const struct node *env = node_find(replica, "env");
    CHECK(env->count == 7);
    CHECK_TEXT(env->first->first->text, "A");
    CHECK_TEXT(env->first->first->next->text, "b");
    CHECK_TEXT(env->first->next->first->text, "HYPERTUNE_SEED");
    CHECK_TEXT(env->first->next->first->next->text, "0");
    CHECK(node_find(node, "captured")->count == 0);
    CHECK(node_find(node_find(node, "params"), "lr") != NULL);
}

static void a_repeated_lease_gets_the_same_attempts(struct fixture *f)
{
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    const int64_t id = f->next_id++;
    struct request *first = fixture_post_control(f, "lease", id, "\"free\":1");
    fixture_wait(f, first);
    struct request *again = fixture_post_control(f, "lease", id, "\"free\":1");
    fixture_wait(f, again);
    CHECK_TEXT(again->reply.data, first->reply.data);
    CHECK(fixture_trial(f, 1, 1).attempt == 1);
}

static void a_repeated_lease_survives_a_restart_of_the_server(struct fixture *f)
{
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    const int64_t id = f->next_id++;
    struct request *first = fixture_post_control(f, "lease", id, "\"free\":1");
    fixture_wait(f, first);
    fixture_stop(f);
    CHECK(fixture_start(f));
    struct request *again = fixture_post_control(f, "lease", id, "\"free\":1");
    fixture_wait(f, again);
    struct leased old = {0}, new = {0};
    CHECK(fixture_leased(first, &old, 1) == 1);
    CHECK(fixture_leased(again, &new, 1) == 1);
    CHECK(new.name.trial == 1 && new.name.attempt == 1);
    CHECK(strcmp(old.token, new.token) != 0);
    CHECK(
        fixture_report(f, old.token, fixture_record(f, 1, 1, "0.1"))->status ==
        HT_NOT_FOUND);
    fixture_succeed(f, &new, "0.5");
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static void a_poll_that_was_given_up_gets_nothing(struct fixture *f)
{
    fixture_hello(f, 1);
    struct request *old =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    struct request *new =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    fixture_submit(f, one_at_a_time);
    fixture_wait(f, new);
    fixture_wait(f, old);
    struct leased leased = {0};
    CHECK(old->status == HT_INVALID);
    CHECK(fixture_leased(new, &leased, 1) == 1);
    CHECK(leased.name.attempt == 1);
}

static void a_new_boot_loses_what_it_does_not_list(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 2\n"
                      "command: [./train]\n");
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_tell(f, "started", &leased[0].name, "");
    fixture_tell(f, "started", &leased[1].name, "");
    f->boot = "boot-2";
    f->next_id = 1;
    CHECK(fixture_control(f, "lease", "\"free\":1")->status == HT_INVALID);
    struct request *hello = fixture_control(
        f, "hello",
        "\"slots\":2,\"attempts\":[{\"study\":1,\"trial\":1,\"attempt\":1},"
        "{\"study\":7,\"trial\":1,\"attempt\":1}]");
    const struct node *reply = fixture_reply(hello);
    CHECK(node_find(reply, "keep")->count == 1);
    CHECK(node_get_int(node_find(reply, "keep")->first, "trial", 0) == 1);
    CHECK(node_find(reply, "forget")->count == 1);
    CHECK(node_get_int(node_find(reply, "forget")->first, "study", 0) == 7);
    CHECK_TEXT(node_get_string(reply, "server", ""), "ab12cd34");
    CHECK(node_get_int(reply, "heartbeatMs", 0) == 10000);
    const struct trial_row lost = fixture_trial(f, 1, 2);
    CHECK(lost.state == TRIAL_REQUESTED && lost.losses == 1);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_ACTIVE);
    fixture_succeed(f, &leased[0], "0.5");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_SUCCEEDED);
}

static void a_stop_reaches_a_waiting_poll_once(struct fixture *f)
{
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 2);
    fixture_begin(f);
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    CHECK(fixture_call(f, study_cancel, "s", NULL)->status == HT_OK);
    fixture_wait(f, held);
    const struct node *stop = node_find(fixture_reply(held), "stop");
    CHECK(stop->count == 1 && node_get_int(stop->first, "trial", 0) == 1);
    CHECK_TEXT(node_get_string(stop->first, "how", ""), "kill");
    CHECK_TEXT(node_get_string(stop->first, "reason", ""), "cancelled by user");
    struct request *next =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    struct request *beat = fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(node_find(fixture_reply(beat), "stop")->count == 1);
    CHECK(!fixture_is_done(next));
    core_stop_holding(f->core);
    fixture_wait(f, next);
}

static void a_trial_that_ends_lets_a_waiting_one_run(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "trials: 2\nparallel: 1\ncommand: [./train]\n"
                      "workdir: /abs\n");
    fixture_hello(f, 2);
    struct leased leased = fixture_lease_one(f);
    static const char added[] =
        "{\"parameters\":[{\"parameterId\":\"lr\",\"value\":0.5}]}";
    CHECK(fixture_call(f, vizier_add_trial, "s", added)->status == HT_OK);
    fixture_tell(f, "started", &leased.name, "");
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    fixture_tell(f, "ended", &leased.name, "\"outcome\":\"succeeded\"");
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":1");
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(!fixture_is_done(held));
    fixture_tell(f, "drained", &leased.name, "");
    fixture_wait(f, held);
    struct leased next = {0};
    CHECK(fixture_leased(held, &next, 1) == 1 && next.name.trial == 2);
}

static void a_wrong_token_or_type_is_refused(struct fixture *f)
{
    struct request *req =
        fixture_request(f, control_handle,
                        "{\"v\":1,\"type\":\"hello\",\"token\":\"x\","
                        "\"runner\":\"r1\",\"boot\":\"b\",\"id\":1}");
    core_post(f->core, req);
    fixture_wait(f, req);
    CHECK(req->status == HT_UNAUTHENTICATED);
    CHECK(fixture_control(f, "dance", "")->status == HT_INVALID);
    CHECK(fixture_control(f, "hello", "\"slots\":-1")->status == HT_INVALID);
    CHECK(fixture_control(f, "hello", "\"attempts\":[{\"study\":0}]")->status ==
          HT_INVALID);
    struct db *db = fixture_db(f);
    struct runner_list list = {0};
    CHECK(db_runner_list(db, f->arena, &list, NULL) == HT_OK && list.n == 0);
    db_close(db);
}

static void heartbeats_tell_which_records_are_stored(struct fixture *f)
{
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token,
                   arena_printf(f->arena, "%s,%s,%s",
                                fixture_record(f, 1, 1, "0.1"),
                                fixture_record(f, 2, 2, "0.2"),
                                fixture_record(f, 4, 4, "0.4")));
    struct request *beat = fixture_control(
        f, "heartbeat",
        "\"attempts\":[{\"study\":1,\"trial\":1,\"attempt\":1}]");
    const struct node *have = node_find(fixture_reply(beat), "have")->first;
    CHECK(have != NULL);
    CHECK_TEXT(node_get_string(have, "replica", ""), "master-0");
    CHECK(node_get_int(node_find(have, "writers"), "0000000000000001", 0) == 2);
}

int main(void)
{
    RUN_ON_CORE(a_lease_waits_for_work);
    RUN_ON_CORE(a_lease_is_answered_when_its_hold_ends);
    RUN_ON_CORE(an_attempt_says_all_a_runner_needs);
    RUN_ON_CORE(a_repeated_lease_gets_the_same_attempts);
    RUN_ON_CORE(a_repeated_lease_survives_a_restart_of_the_server);
    RUN_ON_CORE(a_poll_that_was_given_up_gets_nothing);
    RUN_ON_CORE(a_new_boot_loses_what_it_does_not_list);
    RUN_ON_CORE(a_stop_reaches_a_waiting_poll_once);
    RUN_ON_CORE(a_trial_that_ends_lets_a_waiting_one_run);
    RUN_ON_CORE(a_wrong_token_or_type_is_refused);
    RUN_ON_CORE(heartbeats_tell_which_records_are_stored);
    return check_done();
}
