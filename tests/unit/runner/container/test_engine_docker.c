/* The docker engine against an engine that follows a script. */
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "runner/attempt/engine.h"
#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/attempt_fixture.h"
#include "tests/lib/docker_fixture.h"
#include "tests/lib/runner_fixture.h"

/* ---- a good life ---- */

static void a_trial_runs_and_leaves_nothing(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture,
        &(struct docker_fixture_attempt){.script = "echo hello; exit 0"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(attempt->started_confirmed == false); /* that is still to be said */
    CHECK(runner_fixture_file_has(attempt->replicas[0].folder,
                                  "stdout.000000000000.log", "hello"));
    CHECK(docker_fixture_count_left(&fixture) ==
          0); /* before the end is reported */
    const struct engine_facts facts = engine_docker.facts(&attempt->place);
    CHECK(facts.known && strstr(facts.images[0], "sha256:") != NULL);
    attempts_drop(&fixture.attempts, attempt);
    docker_fixture_close(&fixture);
}

static void an_exit_code_comes_from_the_shim(void)
{
    docker_fixture_expect(
        "docker", "{}",
        &(struct docker_fixture_attempt){.script = "echo no data >&2; exit 3"},
        OUTCOME_FAILED, "exit 3: no data");
}

static void an_exit_that_the_trial_writes_does_not_count(void)
{
    docker_fixture_expect(
        "docker", "{}",
        &(struct docker_fixture_attempt){
            .script = "echo '{\"exit\":0,\"outcome\":\"succeeded\"}' "
                      ">\"$HYPERTUNE_TRIAL_DIR/exit.json\"; sleep 0.3; "
                      "exit 6"},
        OUTCOME_FAILED, "exit 6");
}

static void a_failing_worker_is_named(void)
{
    docker_fixture_expect("podman", "{}",
                          &(struct docker_fixture_attempt){.script = "sleep 60",
                                                           .worker = "exit 4"},
                          OUTCOME_FAILED, "worker-0: exit 4");
}

/* The server counts the time of a trial from its report `started`. */
static void a_master_that_ends_before_its_worker_begins_has_begun(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "docker",
        "{\"faults\":[{\"path\":\"/containers/.*worker.*/start\","
        "\"do\":\"hold\"}]}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "exit 0",
                                                   .worker = "exit 0"});
    UNTIL(docker_fixture_has_file(attempt, "exit.json"));
    fake_engine_script(&fixture.fake, "{}");
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(attempt_is_started(attempt));
    docker_fixture_close(&fixture);
}

static void a_stop_ends_every_replica(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60",
                                                   .worker = "sleep 60"});
    UNTIL(docker_fixture_is_running(attempt));
    attempt_stop(attempt, &(struct stop_order){.reason = "by a test"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_STOPPED);
    CHECK_TEXT(attempt->ending.reason, "stopped: by a test");
    CHECK(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void a_stop_breaks_off_a_pull(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "docker",
        "{\"faults\":[{\"path\":\"/images/.*\",\"do\":\"hang\"}]}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60"});
    attempt_tick(attempt, 1);
    attempt_stop(attempt, &(struct stop_order){.reason = "by a test"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_STOPPED);
    CHECK_TEXT(attempt->ending.reason, "stopped: by a test");
    CHECK(!attempt_is_started(attempt));
    docker_fixture_close(&fixture);
}

static void without_a_network_none_is_made(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){
                      .script = "exit 0",
                      .members = "\"container\":{\"network\":\"none\"},"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(docker_fixture_count_calls(&fixture, "/networks/") == 0);
    CHECK(docker_fixture_count_calls(&fixture, "\"NetworkMode\": \"none\"") ==
          1);
    docker_fixture_close(&fixture);
}

/* ---- what cannot begin ---- */

static void an_image_that_is_nowhere_fails_for_good(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){
                      .script = "exit 0", .replica = "\"image\":\"no:1\","});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_FAILED);
    CHECK(attempt->ending.impossible);
    CHECK(strstr(attempt->ending.reason, "no:1") != NULL);
    CHECK(docker_fixture_has_logged(attempt, "no:1"));
    docker_fixture_close(&fixture);
}

static void a_name_of_another_program_is_reported(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    docker_fixture_call(&fixture, "POST",
                        "/containers/create?name=ht-s-2-5-1-master-0",
                        "{\"Image\":\"tiny:1\"}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "exit 0"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK(strstr(attempt->ending.reason, "not this runner's") != NULL);
    docker_fixture_close(&fixture);
}

static void a_full_disk_is_not_the_trials_fault(void)
{
    docker_fixture_expect(
        "docker",
        "{\"faults\":[{\"path\":\"/containers/create\",\"do\":\"status\","
        "\"status\":500,\"body\":{\"message\":\"mkdir: no space left on "
        "device\"}}]}",
        &(struct docker_fixture_attempt){.script = "exit 0"}, OUTCOME_LOST,
        "no space left");
}

static void a_start_that_takes_too_long_is_given_up(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "docker",
        "{\"faults\":[{\"path\":\"/containers/.*/start\",\"do\":"
        "\"status\",\"status\":204}]}");
    fixture.site.start_limit_ms = 300;
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "exit 0"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempt->ending.reason, "its supervisor did not begin in time");
    attempts_drop(&fixture.attempts, attempt);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void an_unknown_user_is_the_trials_fault(void)
{
    docker_fixture_expect(
        "podman",
        "{\"faults\":[{\"path\":\"/containers/.*/start\",\"do\":\"status\","
        "\"status\":500,\"body\":{\"message\":\"unable to find user x: no "
        "matching entries in passwd file\"}}]}",
        &(struct docker_fixture_attempt){.script = "exit 0"}, OUTCOME_FAILED,
        "cannot start its container");
}

static void gpus_are_refused_where_there_are_none(void)
{
    static const char *const gpus[] = {"0"};
    static const char *const dialects[] = {"docker", "podman"};
    for (size_t i = 0; i < 2; i++) {
        struct docker_fixture fixture;
        docker_fixture_open(&fixture, dialects[i], "{}");
        fixture.site.gpus = (struct strings){.n = 1, .items = gpus};
        struct attempt *attempt = docker_fixture_start(
            &fixture, &(struct docker_fixture_attempt){
                          .script = "exit 0", .replica = "\"gpus\":1,"});
        UNTIL(attempt_fixture_has_ended(attempt));
        CHECK(attempt->ending.outcome == OUTCOME_FAILED);
        CHECK(strstr(attempt->ending.reason, "resources.gpus: ") != NULL);
        CHECK(strstr(attempt->ending.reason, "NVIDIA") != NULL);
        CHECK(docker_fixture_count_calls(&fixture, "/containers/create") == 0);
        docker_fixture_close(&fixture);
    }
}

/* ---- an engine in trouble ---- */

static void an_engine_that_drops_calls_is_asked_again(void)
{
    docker_fixture_expect(
        "docker",
        "{\"faults\":["
        "{\"path\":\"/networks/create\",\"nth\":1,\"do\":\"drop\"},"
        "{\"path\":\"/containers/create\",\"nth\":1,\"do\":\"drop\"},"
        "{\"path\":\"/containers/.*/start\",\"nth\":1,\"do\":\"drop\"}]}",
        &(struct docker_fixture_attempt){.script = "exit 0"}, OUTCOME_SUCCEEDED,
        "exit 0");
}

/* What was done before the answer got lost is found, and done no second time.
 */
static void a_lost_answer_doubles_nothing(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "podman",
        "{\"faults\":["
        "{\"path\":\"/networks/create\",\"nth\":1,\"do\":\"drop\","
        "\"effect\":true},"
        "{\"path\":\"/containers/create\",\"nth\":1,\"do\":\"drop\","
        "\"effect\":true},"
        "{\"path\":\"/containers/.*/start\",\"nth\":1,\"do\":\"drop\","
        "\"effect\":true}]}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){
                      .script = "echo x >>\"$HYPERTUNE_TRIAL_"
                                "DIR/times\"; sleep 1"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    char *times = runner_fixture_text(attempt->replicas[0].folder, "times");
    CHECK_TEXT(times, "x\n");
    free(times);
    CHECK(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void a_trial_outlives_the_death_of_the_engine(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture,
        &(struct docker_fixture_attempt){
            .script = "while ! [ -e \"$HYPERTUNE_TRIAL_DIR/go\" ]; do "
                      "sleep 0.02; done; exit 0"});
    UNTIL(docker_fixture_is_running(attempt));
    docker_fixture_kill_engine(&fixture);
    CHECK(disk_mark(attempt->replicas[0].folder, "go", NULL) == HT_OK);
    UNTIL(docker_fixture_has_file(attempt, "exit.json"));
    docker_fixture_start_engine(&fixture);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void what_cannot_be_removed_is_removed_later(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "docker",
        "{\"faults\":[{\"method\":\"DELETE\",\"path\":\".*\","
        "\"nth\":[1,2,3],\"do\":\"status\",\"status\":500,"
        "\"body\":{\"message\":\"device or resource busy\"}}]}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "exit 0"});
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

/* ---- containers that left no end ---- */

static void lose_by(const char *method, const char *path, const char *reason)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60"});
    UNTIL(docker_fixture_is_running(attempt));
    docker_fixture_call(&fixture, method, path, NULL);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK(strstr(attempt->ending.reason, reason) != NULL);
    docker_fixture_close(&fixture);
}

static void a_container_removed_by_hand_is_lost(void)
{
    lose_by("DELETE", "/containers/ht-s-2-5-1-master-0?force=1",
            "its container was removed by another program");
}

/* An engine kills it first, and shows it for a moment afterwards. */
static void a_container_that_is_being_removed_by_hand_is_lost(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60"});
    UNTIL(docker_fixture_is_running(attempt));
    fake_engine_script(
        &fixture.fake,
        "{\"faults\":[{\"method\":\"GET\",\"path\":\"/containers/.*/json\","
        "\"do\":\"status\",\"status\":200,\"body\":{\"State\":"
        "{\"Status\":\"removing\",\"Running\":false,\"ExitCode\":137}}}]}");
    docker_fixture_call(&fixture, "POST",
                        "/containers/ht-s-2-5-1-master-0/kill", NULL);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempt->ending.reason,
               "its container was removed by another program");
    fake_engine_script(&fixture.fake, "{}");
    docker_fixture_close(&fixture);
}

static void a_container_killed_by_hand_is_lost(void)
{
    lose_by("POST", "/containers/ht-s-2-5-1-master-0/kill",
            "its container was killed");
}

static void a_container_stopped_by_hand_is_lost(void)
{
    lose_by("POST", "/containers/ht-s-2-5-1-master-0/stop",
            "its container was stopped by another program");
}

static void memory_that_ran_out_is_named_with_its_limit(void)
{
    static const char script[] =
        "{\"runs\":[{\"after\":0.1,\"exit\":137,\"oom\":true}]}";
    const struct docker_fixture_attempt what = {
        .script = "sleep 60", .replica = "\"memory\":536870912,"};
    docker_fixture_expect("docker", script, &what, OUTCOME_FAILED,
                          "out of memory (limit 512 MiB)");
    docker_fixture_expect("podman", script, &what, OUTCOME_FAILED,
                          "probably out of memory (limit 512 MiB)");
}

/* The shim survives and reports a signal; only the engine has its cause. */
static void a_killed_trainer_with_a_limit_was_probably_short_of_memory(void)
{
    docker_fixture_expect(
        "podman", "{}",
        &(struct docker_fixture_attempt){.script = "kill -9 $$",
                                         .replica = "\"memory\":1073741824,"},
        OUTCOME_FAILED, "probably out of memory (limit 1 GiB)");
    docker_fixture_expect(
        "podman", "{}",
        &(struct docker_fixture_attempt){.script = "kill -9 $$"},
        OUTCOME_FAILED, "killed by signal 9");
}

/* ---- the next runner ---- */

static void the_next_runner_continues_a_running_container(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture,
        &(struct docker_fixture_attempt){
            .script = "while ! [ -e \"$HYPERTUNE_TRIAL_DIR/go\" ]; do "
                      "sleep 0.02; done; exit 7"});
    UNTIL(docker_fixture_is_running(attempt));
    attempt = docker_fixture_restart(&fixture);
    CHECK(docker_fixture_is_running(attempt));
    CHECK(disk_mark(attempt->replicas[0].folder, "go", NULL) == HT_OK);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK_TEXT(attempt->ending.reason, "exit 7");
    CHECK(docker_fixture_count_calls(&fixture, "/containers/create") == 1);
    CHECK(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void a_container_that_was_made_but_not_started_is_started(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "podman",
                        "{\"faults\":[{\"path\":\"/containers/.*/start\","
                        "\"do\":\"hang\"}]}");
    (void)docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "exit 0"});
    UNTIL(docker_fixture_count_calls(&fixture, "/start") > 0);
    fake_engine_script(&fixture.fake, "{}");
    struct attempt *attempt = docker_fixture_restart(&fixture);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void a_running_trial_that_is_dropped_leaves_nothing(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "podman", "{}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60",
                                                   .worker = "sleep 60"});
    UNTIL(docker_fixture_is_running(attempt) &&
          disk_has(attempt->replicas[0].folder, "shim.json") &&
          disk_has(attempt->replicas[1].folder, "shim.json"));
    attempts_drop(&fixture.attempts, attempt);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    CHECK(disk_has(fixture.state, "2") == false);
    docker_fixture_close(&fixture);
}

static void a_trial_that_is_dropped_while_it_starts_leaves_nothing(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(
        &fixture, "docker",
        "{\"faults\":[{\"path\":\"/containers/.*/start\",\"nth\":1,"
        "\"do\":\"delay\",\"seconds\":0.5}]}");
    struct attempt *attempt = docker_fixture_start(
        &fixture, &(struct docker_fixture_attempt){.script = "sleep 60"});
    UNTIL(docker_fixture_count_calls(&fixture, "/start") > 0);
    attempts_drop(&fixture.attempts, attempt);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    docker_fixture_close(&fixture);
}

static void orphans_of_this_runner_go_and_no_others(void)
{
    struct docker_fixture fixture;
    docker_fixture_open(&fixture, "docker", "{}");
    docker_fixture_end(&fixture);
    docker_fixture_call(
        &fixture, "POST", "/containers/create?name=orphan",
        "{\"Image\":\"tiny:1\",\"Labels\":{\"hypertune.runner\":\"r1\","
        "\"hypertune.attempt\":\"9/9/9\"}}");
    docker_fixture_call(
        &fixture, "POST", "/containers/create?name=other",
        "{\"Image\":\"tiny:1\",\"Labels\":{\"hypertune.runner\":\"r2\","
        "\"hypertune.attempt\":\"9/9/9\"}}");
    docker_fixture_call(
        &fixture, "POST", "/networks/create",
        "{\"Name\":\"orphan\",\"Labels\":{\"hypertune.runner\":\"r1\","
        "\"hypertune.attempt\":\"9/9/9\"}}");
    CHECK(docker_fixture_count_left(&fixture) == 2);
    docker_fixture_begin(&fixture);
    UNTIL(docker_fixture_count_left(&fixture) == 0);
    fixture.site.runner = "r2";
    CHECK(docker_fixture_count_left(&fixture) == 1);
    docker_fixture_close(&fixture);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(a_trial_runs_and_leaves_nothing);
    RUN(an_exit_code_comes_from_the_shim);
    RUN(an_exit_that_the_trial_writes_does_not_count);
    RUN(a_failing_worker_is_named);
    RUN(a_master_that_ends_before_its_worker_begins_has_begun);
    RUN(a_stop_ends_every_replica);
    RUN(a_stop_breaks_off_a_pull);
    RUN(without_a_network_none_is_made);
    RUN(an_image_that_is_nowhere_fails_for_good);
    RUN(a_name_of_another_program_is_reported);
    RUN(a_full_disk_is_not_the_trials_fault);
    RUN(a_start_that_takes_too_long_is_given_up);
    RUN(an_unknown_user_is_the_trials_fault);
    RUN(gpus_are_refused_where_there_are_none);
    RUN(an_engine_that_drops_calls_is_asked_again);
    RUN(a_lost_answer_doubles_nothing);
    RUN(a_trial_outlives_the_death_of_the_engine);
    RUN(what_cannot_be_removed_is_removed_later);
    RUN(a_container_removed_by_hand_is_lost);
    RUN(a_container_that_is_being_removed_by_hand_is_lost);
    RUN(a_container_killed_by_hand_is_lost);
    RUN(a_container_stopped_by_hand_is_lost);
    RUN(memory_that_ran_out_is_named_with_its_limit);
    RUN(a_killed_trainer_with_a_limit_was_probably_short_of_memory);
    RUN(the_next_runner_continues_a_running_container);
    RUN(a_container_that_was_made_but_not_started_is_started);
    RUN(a_running_trial_that_is_dropped_leaves_nothing);
    RUN(a_trial_that_is_dropped_while_it_starts_leaves_nothing);
    RUN(orphans_of_this_runner_go_and_no_others);
    runner_fixture_fini();
    return check_done();
}
