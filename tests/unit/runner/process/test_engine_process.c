#include "proto/base/file_tree.h"
#include "tests/check.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/base/procfs.h"
#include "tests/lib/attempt_fixture.h"
#include "tests/lib/runner_fixture.h"

static size_t count_runs(const struct attempt_fixture *fixture)
{
    char *text = runner_fixture_text(fixture->replica, "runs");
    const size_t n = strlen(text);
    free(text);
    return n;
}

/* Adopts, waits for the end, and proves that the trainer ran just once. */
static void expect_one_run(const struct attempt_fixture *fixture)
{
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_FAILED &&
          attempt->ending.exit == 7);
    CHECK(count_runs(fixture) == 1);
    attempts_fini(&attempts);
}

static const char once[] = "printf x >>runs; exit 7";

/* ---- one attempt ---- */

static void a_started_attempt_ends_with_its_exit_code(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, NULL);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    CHECK(attempts_free_slots(&attempts) == 1);
    UNTIL(attempt_fixture_has_ended(attempts.first));
    CHECK(attempts_free_slots(&attempts) == 2);
    CHECK_TEXT(attempts.first->ending.reason, "exit 7");
    attempts_drop(&attempts, attempts.first);
    CHECK(!disk_has(fixture.state, "2")); /* nothing of value was in it */
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void the_trials_own_folders_stay_when_they_hold_something(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, "echo m >$AIP_MODEL_DIR/m", NULL);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    UNTIL(attempt_fixture_has_ended(attempts.first));
    attempts_drop(&attempts, attempts.first);
    CHECK(disk_has(fixture.state, "2/5/model/m"));
    CHECK(!disk_has(fixture.state, "2/5/1"));
    CHECK(!disk_has(fixture.state, "2/5/checkpoints"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_replica_has_its_identity(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(
        &fixture, "env >env; cat $HYPERTUNE_TRIAL_TOKEN_FILE params >>env",
        NULL);
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    char *env = runner_fixture_text(fixture.replica, "env");
    static const char *const lines[] = {
        "\nHYPERTUNE_TRIAL_DIR=",  "\nHYPERTUNE_REPLICA=master-0\n",
        "\nCLOUD_ML_TRIAL_ID=5\n", "\nCUDA_VISIBLE_DEVICES=g0\n",
        "\nCLOUD_ML_JOB_ID=j\n",   "\nCLOUD_ML_HP_METRIC_TAG=acc\n",
        "\nOMP_NUM_THREADS=4\n",   "\nPYTHONUNBUFFERED=1\n",
        "/reports.jsonl\n",        "/output.metrics\n",
        "\"trial\":\"5\"",         "\nTF_CONFIG={",
        "secretlr=0.1\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strstr(env, lines[i]) == NULL)
            printf("# %s\n", lines[i]);
        CHECK(strstr(env, lines[i]) != NULL);
    }
    CHECK(strstr(env, "HYPERTUNE_REPORT_URL") == NULL);
    free(env);
    struct stat status;
    char token[PATH_MAX + 80];
    (void)snprintf(token, sizeof token, "%s/token", fixture.replica);
    /* Any user of a container can work there, no other user gets in. */
    CHECK(stat(token, &status) == 0 && (status.st_mode & 0777) == 0644);
    CHECK(stat(fixture.replica, &status) == 0 &&
          (status.st_mode & 0777) == 0777);
    CHECK(stat(fixture.folder, &status) == 0 &&
          (status.st_mode & 0777) == 0700);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- the runner was killed between two steps ---- */

static void killed_after_the_folder_but_before_the_lease(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, NULL);
    CHECK(disk_make_folder(fixture.replica, NULL) == HT_OK);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_scan(&attempts);
    CHECK(attempts_count(&attempts) == 0);
    CHECK(!disk_has(fixture.state, "2")); /* debris is removed */
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void killed_after_the_lease(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_lease(&fixture);
    expect_one_run(&fixture);
    attempt_fixture_close(&fixture);
}

static void killed_after_one_of_two_launches(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, "exec sleep 600");
    attempt_fixture_write_launches(&fixture);
    char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/worker-0/launch.json",
                   fixture.folder);
    CHECK(unlink(path) == 0);
    expect_one_run(&fixture);
    attempt_fixture_close(&fixture);
}

static void killed_after_the_launch_before_the_shim(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    expect_one_run(&fixture);
    attempt_fixture_close(&fixture);
}

static void killed_just_after_the_shim_was_started(void)
{
    for (int i = 0; i < 10; i++) { /* both shims race for the folder */
        struct attempt_fixture fixture;
        attempt_fixture_open(&fixture, once, NULL);
        attempt_fixture_write_launches(&fixture);
        const pid_t first = runner_fixture_start(fixture.replica);
        expect_one_run(&fixture);
        waitpid(first, NULL, 0);
        attempt_fixture_close(&fixture);
    }
}

static void killed_while_the_trainer_runs(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(
        &fixture,
        "printf x >>runs; until [ -e go ]; do sleep 0.02; done; "
        "exit 7",
        NULL);
    attempt_fixture_write_launches(&fixture);
    const pid_t shim = runner_fixture_start(fixture.replica);
    UNTIL(count_runs(&fixture) == 1);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    CHECK(!attempt_fixture_has_ended(attempt));
    CHECK(disk_mark(fixture.replica, "go", NULL) == HT_OK);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.exit == 7 && count_runs(&fixture) == 1);
    runner_fixture_wait(shim);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void killed_after_the_trainer_ended(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    CHECK(runner_fixture_wait(runner_fixture_start(fixture.replica)) == 0);
    expect_one_run(&fixture);
    attempt_fixture_close(&fixture);
}

static void marks_tell_what_the_server_has_confirmed(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    CHECK(!attempt->started_confirmed && !attempt->ended_confirmed);
    attempt_mark_started(attempt);
    attempts_fini(&attempts);
    attempt = attempt_fixture_adopt(&fixture, &attempts);
    CHECK(attempt->started_confirmed && !attempt->ended_confirmed);
    attempt_mark_ended(attempt);
    attempts_fini(&attempts);
    attempt = attempt_fixture_adopt(&fixture, &attempts);
    CHECK(attempt->started_confirmed && attempt->ended_confirmed);
    UNTIL(attempt_fixture_has_ended(attempt));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- folders that are gone ---- */

static void what_has_run_is_not_started_again_without_its_folder(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    CHECK(disk_mark(fixture.folder, "prepared", NULL) == HT_OK);
    file_tree_remove(fixture.replica, NULL, NULL);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_FAILED &&
          !attempt->ending.impossible);
    CHECK_TEXT(attempt->ending.reason, folder_removed);
    CHECK(!disk_has(fixture.folder, "master-0"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* Makes the fixture's replica a link to another folder, with a `shim.json` of
 * this very process in it. */
static void link_replica(const struct attempt_fixture *fixture,
                         const char *other)
{
    struct process self;
    CHECK(disk_make_folder(other, NULL) == HT_OK);
    CHECK(procfs_identify(getpid(), &self, NULL) == HT_OK);
    CHECK(folder_write_shim(other, &self, NULL) == HT_OK);
    file_tree_remove(fixture->replica, NULL, NULL);
    CHECK(symlink(other, fixture->replica) == 0);
}

static void what_a_link_leads_to_is_spared(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    char other[PATH_MAX + 64];
    attempt_fixture_open(&fixture, "exec sleep 600", NULL);
    (void)snprintf(other, sizeof other, "%s/other", fixture.state);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    UNTIL(disk_has(fixture.replica, "shim.json"));
    link_replica(&fixture, other);
    attempt_stop(attempts.first, &(struct stop_order){.reason = "enough"});
    UNTIL(attempt_fixture_has_ended(attempts.first));
    CHECK(attempts.first->ending.outcome == OUTCOME_FAILED);
    CHECK_TEXT(attempts.first->ending.reason, folder_removed);
    CHECK(procfs_kill_leftovers(fixture.replica, NULL, 0) == 0);
    CHECK(!disk_has(other, "stop") && !disk_has(other, "exit.json"));
    attempts_drop(&attempts,
                  attempts.first); /* and this process is still here */
    CHECK(disk_has(other, "shim.json") && !disk_has(fixture.state, "2"));
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- shims that are gone ---- */

static void a_dead_shim_makes_the_attempt_lost(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(
        &fixture, "printf x >>runs; setsid sleep 600 & exec sleep 600", NULL);
    attempt_fixture_write_launches(&fixture);
    const pid_t shim = runner_fixture_start(fixture.replica);
    UNTIL(count_runs(&fixture) == 1);
    kill(shim, SIGKILL);
    runner_fixture_wait(shim);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempt->ending.reason, "its supervisor process was killed");
    CHECK(disk_has(fixture.replica, "exit.json"));
    CHECK(procfs_kill_leftovers(fixture.replica, NULL, 0) == 0);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void another_boot_id_means_the_machine_was_restarted(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    /* Our own pid and start time, but of an earlier boot. */
    struct process before;
    CHECK(procfs_identify(getpid(), &before, NULL) == HT_OK);
    (void)snprintf(before.boot, sizeof before.boot, "another-boot");
    CHECK(folder_write_shim(fixture.replica, &before, NULL) == HT_OK);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempt->ending.reason, "the machine was restarted");
    CHECK(count_runs(&fixture) == 0);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void another_process_with_the_shims_pid_is_spared(void)
{
    struct attempt_fixture fixture;
    attempt_fixture_open(&fixture, once, NULL);
    attempt_fixture_write_launches(&fixture);
    char *argv[] = {(char[]){"sleep"}, (char[]){"600"}, NULL};
    pid_t other;
    CHECK(posix_spawnp(&other, "sleep", NULL, NULL, argv, environ) == 0);
    struct process shim;
    CHECK(procfs_identify(other, &shim, NULL) == HT_OK);
    shim.start--;
    CHECK(folder_write_shim(fixture.replica, &shim, NULL) == HT_OK);
    struct attempts attempts;
    struct attempt *attempt = attempt_fixture_adopt(&fixture, &attempts);
    UNTIL(attempt_fixture_has_ended(attempt));
    CHECK(attempt->ending.outcome == OUTCOME_LOST);
    attempts_drop(&attempts, attempt);
    CHECK(waitpid(other, NULL, WNOHANG) == 0);
    kill(other, SIGKILL);
    runner_fixture_wait(other);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

static void a_shim_that_cannot_start_is_lost_not_hung(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture, once, NULL);
    fixture.site.shim = "/bin/false";
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    UNTIL(attempt_fixture_has_ended(attempts.first));
    CHECK(attempts.first->ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(attempts.first->ending.reason,
               "its supervisor process could not start");
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

/* ---- removal ---- */

static void removing_kills_whatever_runs(void)
{
    struct attempt_fixture fixture;
    struct attempts attempts;
    attempt_fixture_open(&fixture,
                         "trap '' TERM; echo >up; (setsid sleep 600) & "
                         "while :; do sleep 0.02; done",
                         NULL);
    attempts_init(&attempts, &fixture.site, &engine_process);
    attempts_start(&attempts, attempt_fixture_parse(&fixture));
    UNTIL(disk_has(fixture.replica, "up"));
    attempts_drop(&attempts, attempts.first);
    CHECK(!disk_has(fixture.state, "2"));
    CHECK(procfs_kill_leftovers(fixture.replica, NULL, 0) == 0);
    attempts_fini(&attempts);
    attempt_fixture_close(&fixture);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(a_started_attempt_ends_with_its_exit_code);
    RUN(the_trials_own_folders_stay_when_they_hold_something);
    RUN(a_replica_has_its_identity);
    RUN(killed_after_the_folder_but_before_the_lease);
    RUN(killed_after_the_lease);
    RUN(killed_after_one_of_two_launches);
    RUN(killed_after_the_launch_before_the_shim);
    RUN(killed_just_after_the_shim_was_started);
    RUN(killed_while_the_trainer_runs);
    RUN(killed_after_the_trainer_ended);
    RUN(marks_tell_what_the_server_has_confirmed);
    RUN(what_has_run_is_not_started_again_without_its_folder);
    RUN(what_a_link_leads_to_is_spared);
    RUN(a_dead_shim_makes_the_attempt_lost);
    RUN(another_boot_id_means_the_machine_was_restarted);
    RUN(another_process_with_the_shims_pid_is_spared);
    RUN(a_shim_that_cannot_start_is_lost_not_hung);
    RUN(removing_kills_whatever_runs);
    runner_fixture_fini();
    return check_done();
}
