/* Attempts of several replicas, their GPUs, and orders of other kinds. */
#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/base/procfs.h"
#include "tests/lib/attempt_fixture.h"
#include "tests/lib/runner_fixture.h"

static const char once[] = "printf x >>runs; exit 7";

/* ---- how they end together ---- */

static void the_end_of_the_master_ends_the_others(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture,
                         "until [ -e ../worker-0/up ]; do sleep 0.02; done",
                         "echo >up; exec sleep 600");
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(runner_fixture_file_has(fixture.folder, "worker-0/exit.json",
                                  "stopped: the master has ended"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_failed_worker_decides(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, "exec sleep 600",
                         "echo no rest >&2; exit 9");
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_FAILED &&
          attempt->ending.exit == 9);
    CHECK_TEXT(attempt->ending.reason, "worker-0: exit 9: no rest");
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_stop_counts_even_where_a_replica_fails_of_it(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(
        &fixture, "echo >up; exec sleep 600",
        "trap 'exit 5' TERM; echo >up; while :; do sleep 0.02; done");
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(disk_has(fixture.folder, "master-0/up") &&
          disk_has(fixture.folder, "worker-0/up"));
    attempt_stop(attempt, &(struct stop_order){.reason = "by a test"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_STOPPED);
    CHECK_TEXT(attempt->ending.reason, "stopped: by a test");
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_lost_worker_is_named_though_the_master_fails_of_it(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(
        &fixture,
        "until [ -e ../worker-0/up ]; do sleep 0.02; done; "
        "while kill -0 $(cat ../worker-0/up); do sleep 0.01; done; "
        "exit 1",
        "echo $$ >up.tmp; mv up.tmp up; exec sleep 600");
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(disk_has(fixture.folder, "worker-0/up"));
    char worker[PATH_MAX + 64];
    (void)snprintf(worker, sizeof worker, "%s/worker-0", fixture.folder);
    struct process shim;
    CHECK(folder_read_shim(worker, &shim, NULL) == HT_OK);
    CHECK(procfs_kill(&shim));
    UNTIL(disk_has(fixture.replica, "exit.json")); /* before we look again */
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempt->ending.reason,
               "worker-0: its supervisor process was killed");
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- GPUs ---- */

static void a_new_runner_sees_what_gpus_are_taken(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, "exec sleep 600", "exec sleep 600");
    attempts_init(&attempts, &fixture.site, &engine_process);
    CHECK(attempts_gpu_rooms(&attempts, fixture.order->arena).n == 3);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    CHECK(attempts_gpu_rooms(&attempts, fixture.order->arena).n == 1);
    attempts_fini(&attempts);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_scan(&attempts); /* not adopted yet, maybe never */
    const struct gpu_rooms rooms =
        attempts_gpu_rooms(&attempts, fixture.order->arena);
    CHECK(rooms.n == 1 && rooms.items[0].free == 1);
    CHECK_TEXT(rooms.items[0].name, "g2");
    attempts_adopt(&attempts, attempts.first);
    attempts_drop(&attempts, attempts.first);
    CHECK(attempts_gpu_rooms(&attempts, fixture.order->arena).n == 3);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void missing_gpus_make_the_attempt_lost(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, once);
    fixture.site.gpus.n = 1;
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    CHECK(attempts.first->ended &&
          attempts.first->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempts.first->ending.reason,
               "the runner could not start it: GPUs needed: 2, free: 1");
    CHECK(!disk_has(fixture.replica, "launch.json"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- orders of other kinds ---- */

static void reorder(struct attempt_fixture *fixture, const char *members)
{
    text_clear(&fixture->lease);
    text_printf(&fixture->lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\",%s}",
                members);
}

static void an_image_without_a_command_fails_in_words(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, NULL);
    reorder(&fixture, "\"replicas\":[{\"type\":\"master\",\"index\":0,"
                      "\"image\":\"gcr.io/x\",\"argv\":[\"--lr=1\"],"
                      "\"entryWords\":0}]");
    const char *reason = "image gcr.io/x needs a container engine; this runner "
                         "starts processes: give a command";
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    CHECK(attempts.first->ended &&
          attempts.first->ending.outcome == OUTCOME_FAILED);
    CHECK_TEXT(attempts.first->ending.reason, reason);
    attempts_fini(&attempts);
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    CHECK(attempt->ended && attempt->ending.outcome == OUTCOME_FAILED);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_job_may_choose_where_its_results_go(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, NULL);
    char members[2 * PATH_MAX];
    (void)snprintf(members, sizeof members,
                   "\"outputDir\":\"%s/out/5\",\"replicas\":[{\"type\":"
                   "\"master\",\"index\":0,\"argv\":[\"/bin/sh\",\"-c\","
                   "\"echo >$AIP_MODEL_DIR/m; echo >$AIP_CHECKPOINT_DIR/c; "
                   "echo >$AIP_TENSORBOARD_LOG_DIR/l\"]}]",
                   fixture.state);
    reorder(&fixture, members);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    UNTIL(attempt_fixture_has_ended(attempts.first));
    attempts_drop(&attempts, attempts.first);
    CHECK(disk_has(fixture.state, "out/5/model/m"));
    CHECK(disk_has(fixture.state, "out/5/checkpoints/c"));
    CHECK(disk_has(fixture.state, "out/5/logs/l"));
    CHECK(!disk_has(fixture.state, "2"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(the_end_of_the_master_ends_the_others);
    RUN(a_failed_worker_decides);
    RUN(a_stop_counts_even_where_a_replica_fails_of_it);
    RUN(a_lost_worker_is_named_though_the_master_fails_of_it);
    RUN(a_new_runner_sees_what_gpus_are_taken);
    RUN(missing_gpus_make_the_attempt_lost);
    RUN(an_image_without_a_command_fails_in_words);
    RUN(a_job_may_choose_where_its_results_go);
    runner_fixture_fini();
    return check_done();
}
