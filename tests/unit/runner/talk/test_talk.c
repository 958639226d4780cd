#include "proto/base/quote.h"
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>

#include "proto/doc/json.h"
#include "runner/attempt/engine.h"
#include "runner/base/disk.h"
#include "runner/base/procfs.h"
#include "runner/supervisor.h"
#include "tests/lib/fake_server.h"
#include "tests/lib/runner_fixture.h"

struct stage { /* a folder, a token, a server, a runner */
    char folder[PATH_MAX];
    char token_file[PATH_MAX + 16];
    struct fake_server fake;
    struct text attempt;
    pid_t runner;
};

static pid_t start_runner(const struct stage *stage)
{
    char program[PATH_MAX];
    (void)snprintf(program, sizeof program, "%s", runner_fixture_shim);
    strcpy(strrchr(program, '/'), "/hypertune-runner");
    char *argv[] = {program,
                    strdup("--sandbox=none"), /* trainers name their pid */
                    strdup("--server"),
                    strdup(stage->fake.http_url),
                    strdup("--token-file"),
                    strdup(stage->token_file),
                    NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    CHECK(posix_spawn(&pid, program, &actions, NULL, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 1; argv[i] != NULL; i++)
        free(argv[i]);
    return pid;
}

static void stage_open(struct stage *stage)
{
    *stage = (struct stage){.runner = -1};
    runner_fixture_folder(stage->folder);
    (void)snprintf(stage->token_file, sizeof stage->token_file,
                   "%s/runner-token", stage->folder);
    CHECK(disk_write(stage->folder, "runner-token", "runner-secret\n", 14, 0600,
                     NULL) == HT_OK);
    fake_server_open(&stage->fake);
}

static void set_script(struct stage *stage, const char *script,
                       const char *more)
{
    text_clear(&stage->attempt);
    text_printf(
        &stage->attempt,
        "{\"study\":7,\"trial\":3,\"attempt\":1,\"name\":\"ht-x-7-3-1\","
        "\"token\":\"trial-secret\",\"timeoutMs\":0,\"graceMs\":20000,"
        "\"reportUrl\":\"tcp://127.0.0.1:1\",\"metrics\":[\"acc\"],"
        "\"stdoutPatterns\":[\"acc={acc} step={step}\"],"
        "\"jobName\":\"digits\",\"params\":{\"lr\":0.1,\"opt\":\"sgd\"},"
        "%s\"replicas\":[{\"type\":\"master\",\"index\":0,"
        "\"image\":null,\"env\":[[\"MINE\",\"1\"]],\"argv\":"
        "[\"/bin/sh\",\"-c\",",
        more);
    quote_json(&stage->attempt, script);
    text_puts(&stage->attempt, "]}]}");
    stage->fake.attempt = stage->attempt.data;
}

static void stage_start(struct stage *stage, const char *script)
{
    set_script(stage, script, "");
    stage->runner = start_runner(stage);
}

static int end_runner(struct stage *stage, int number)
{
    kill(stage->runner, number);
    const int code = runner_fixture_wait(stage->runner);
    stage->runner = -1;
    return code;
}

static const char *attempt_folder(const struct stage *stage,
                                  char path[PATH_MAX + 64])
{
    (void)snprintf(path, PATH_MAX + 64, "%s/runs/7/3/1", stage->folder);
    return path;
}

static bool has_attempt(const struct stage *stage)
{
    return disk_has(stage->folder, "runs/7/3/1");
}

static void stage_close(struct stage *stage)
{
    if (stage->runner > 0)
        CHECK(end_runner(stage, SIGTERM) == 0);
    char path[PATH_MAX + 64];
    char replica[PATH_MAX + 96];
    (void)snprintf(replica, sizeof replica, "%s/master-0",
                   attempt_folder(stage, path));
    procfs_kill_leftovers(replica, NULL, 5000);
    fake_server_close(&stage->fake);
    text_free(&stage->attempt);
}

/* Whether the words stand in this order in what the fake server saw. */
static bool in_order(const struct fake_server *fake, const char *const words[])
{
    const char *at = fake->journal.data;
    for (size_t i = 0; words[i] != NULL && at != NULL; i++) {
        at = strstr(at, words[i]);
        at = at != NULL ? at + strlen(words[i]) : NULL;
    }
    return at != NULL;
}

/* ---- before there are threads: these fork ---- */

static int opened; /* how often */

static enum ht_status open_at_last(const struct site *site,
                                   struct ht_error *err)
{
    (void)site;
    return ++opened < 3 ? ht_fail(err, HT_UNAVAILABLE, "not there yet") : HT_OK;
}

static enum ht_status open_never(const struct site *site, struct ht_error *err)
{
    (void)site;
    return ht_fail(err, HT_INVALID, "no such socket");
}

/* Runs a runner without a server in a child; its exit code: how often the
 * engine was opened, 100 more when the runner failed. */
static int run_alone(const struct engine *engine)
{
    char path[PATH_MAX];
    char token_file[PATH_MAX + 8];
    const char *folder = runner_fixture_folder(path);
    (void)snprintf(token_file, sizeof token_file, "%s/token", folder);
    CHECK(disk_write(folder, "token", "x", 1, 0600, NULL) == HT_OK);
    const struct site site = {
        .state = folder, .slots = 1, .cores = 1, .shim = "/proc/self/exe"};
    const struct supervisor_settings settings = {
        .site = &site,
        .engine = engine,
        .server = "http://127.0.0.1:1",
        .token_file = token_file,
        .host = "here",
        .exit_when_alone = true,
        .alone_ms = 300,
    };
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        const bool fine = supervisor_run(&settings, NULL) == HT_OK;
        _exit(opened + (fine ? 0 : 100));
    }
    return runner_fixture_wait(child);
}

static void a_runner_without_server_and_attempts_ends(void)
{
    const int64_t start = clock_monotonic_ms();
    CHECK(run_alone(&engine_process) == 0);
    CHECK(clock_monotonic_ms() - start >= 300);
}

static void an_engine_is_waited_for(void)
{
    struct engine engine = engine_process;
    engine.open = open_at_last;
    const int64_t start = clock_monotonic_ms();
    CHECK(run_alone(&engine) == 3);
    CHECK(clock_monotonic_ms() - start >= 1500);
}

static void an_engine_that_cannot_work_ends_the_runner(void)
{
    struct engine engine = engine_process;
    engine.open = open_never;
    CHECK(run_alone(&engine) == 100);
}

/* ---- the cases ---- */

static void a_missing_token_file_ends_with_4(void)
{
    struct stage stage;
    stage_open(&stage);
    CHECK(unlink(stage.token_file) == 0);
    CHECK(runner_fixture_wait(start_runner(&stage)) == 4);
    stage_close(&stage);
}

static void an_attempt_lives_from_lease_to_drained(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(
        &stage,
        "echo acc=0.5 step=1; "
        "until [ -e go ]; do sleep 0.02; done; "
        "echo acc=0.75 step=2; "
        "printf 'caf\\303\\251 \\377'; env >&2; echo no data >&2; exit 3");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "report") &&
                                 fake_server_saw(&stage.fake, "heartbeat"));
    char path[PATH_MAX + 64];
    CHECK(disk_mark(attempt_folder(&stage, path), "master-0/go", NULL) ==
          HT_OK);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    static const char *const life[] = {" hello", " started", " heartbeat",
                                       " ended", " drained", NULL};
    static const char *const content[] = {" started", " report", " report",
                                          " drained", NULL};
    CHECK(in_order(&stage.fake, life));
    CHECK(in_order(&stage.fake, content));
    CHECK(fake_server_heard(&stage.fake, "\"outcome\":\"failed\",\"exit\":3,"
                                         "\"reason\":\"exit 3: no data\""));
    CHECK(
        fake_server_heard(&stage.fake, "\"w\":\"0000000000000000\",\"n\":1,"));
    CHECK(fake_server_heard(&stage.fake, "\"s\":2,\"m\":{\"acc\":0.75}"));
    CHECK(strstr(stage.fake.log.data, "caf\xc3\xa9 \xef\xbf\xbd") != NULL);
    CHECK(strstr(stage.fake.log.data, "MINE=1\n") != NULL);
    CHECK(strstr(stage.fake.log.data, "CLOUD_ML_TRIAL_ID=3\n") != NULL);
    CHECK(strstr(stage.fake.log.data, "CLOUD_ML_JOB_ID=digits\n") != NULL);
    CHECK(strstr(stage.fake.log.data, "HYPERTUNE_REPLICA=master-0\n") != NULL);
    CHECK(strstr(stage.fake.log.data, "CLUSTER_SPEC={\"cluster\":{\"master\":"
                                      "[\"127.0.0.1:") != NULL);
    CHECK(strstr(stage.fake.log.data, "runner-secret") == NULL);
    CHECK(fake_server_heard(&stage.fake,
                            "\"rules\":{\"images\":false,\"allow\":[]"));
    CHECK(fake_server_heard(&stage.fake, "\"facts\":{\"output\":\"/"));
    UNTIL(!has_attempt(&stage));
    stage_close(&stage);
}

static void outputs_are_removed_when_the_server_wants_it(void)
{
    struct stage stage;
    stage_open(&stage);
    char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/runs/7/9/model", stage.folder);
    CHECK(disk_make_folder(path, NULL) == HT_OK);
    stage.fake.beat = ",\"discard\":[{\"study\":7,\"trial\":9,"
                      "\"outputDir\":null,\"rewriteGs\":false},"
                      "{\"study\":7,\"trial\":10,\"outputDir\":\"/10\"}]";
    stage_start(&stage, "until [ -e go ]; do sleep 0.02; done");
    SERVE_UNTIL(&stage.fake,
                fake_server_heard(&stage.fake, "{\"study\":7,\"trial\":9}") &&
                    fake_server_heard(&stage.fake, "{\"study\":7,\"trial\":10,"
                                                   "\"kept\":true}"));
    UNTIL(access(path, F_OK) != 0);
    CHECK(disk_mark(attempt_folder(&stage, path), "master-0/go", NULL) ==
          HT_OK);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    stage_close(&stage);
}

static void outputs_that_are_gone_are_not_sent(void)
{
    struct stage stage;
    stage_open(&stage);
    char path[PATH_MAX + 64];
    stage.fake.beat =
        ",\"fetch\":[{\"fetch\":5,\"study\":7,\"trial\":9,"
        "\"project\":\"local\"},{\"fetch\":6,\"study\":0,\"trial\":9}]";
    stage_start(&stage, "until [ -e go ]; do sleep 0.02; done");
    SERVE_UNTIL(&stage.fake,
                fake_server_heard(&stage.fake, "{\"fetch\":5,\"error\":"
                                               "\"nothing is left in ") &&
                    fake_server_heard(&stage.fake, "\"gone\":true}"));
    CHECK(!fake_server_heard(&stage.fake, "{\"fetch\":6"));
    CHECK(fake_server_heard(&stage.fake, "\"outputs\":true"));
    CHECK(disk_mark(attempt_folder(&stage, path), "master-0/go", NULL) ==
          HT_OK);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    stage_close(&stage);
}

static void only_records_that_the_server_lacks_are_sent(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.fake.beat = ",\"have\":[{\"study\":7,\"trial\":3,\"attempt\":1,"
                      "\"replica\":\"master-0\","
                      "\"writers\":{\"00000000000000aa\":2}}]";
    stage_start(&stage,
                "for n in 1 2 3; do echo "
                "'{\"w\":\"00000000000000aa\",\"n\":'$n',\"t\":1,\"s\":'$n',"
                "\"m\":{\"acc\":0.5},\"c\":\"\"}' >>$HYPERTUNE_REPORT_FILE; "
                "done; echo 'torn {' >>$HYPERTUNE_REPORT_FILE");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    CHECK(
        fake_server_heard(&stage.fake, "\"w\":\"00000000000000aa\",\"n\":3,"));
    CHECK(
        !fake_server_heard(&stage.fake, "\"w\":\"00000000000000aa\",\"n\":1,"));
    CHECK(
        !fake_server_heard(&stage.fake, "\"w\":\"00000000000000aa\",\"n\":2,"));
    stage_close(&stage);
}

static void a_request_without_answer_is_sent_again(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.fake.mute = "ended";
    stage_start(&stage, "true");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    char again[64];
    (void)snprintf(again, sizeof again, "\"id\":%lld,\"study\"",
                   (long long)stage.fake.repeat_id);
    const char *first = strstr(stage.fake.bodies.data, again);
    CHECK(first != NULL && strstr(first + 1, again) != NULL);
    stage_close(&stage);
}

static void retry_repeats_the_same_request(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.fake.refuse = "started";
    stage.fake.refusal = "retry";
    stage_start(&stage, "true");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    CHECK(fake_server_saw(&stage.fake, "started"));
    stage_close(&stage);
}

static void an_unknown_boot_sends_hello_again_and_kills_nothing(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.fake.refuse = "ended";
    stage.fake.refusal = "invalid";
    stage.fake.hello = ",\"keep\":[{\"study\":7,\"trial\":3,\"attempt\":1}]";
    stage_start(&stage, "exit 5");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    static const char *const order[] = {" hello", " started", " hello",
                                        " ended", " drained", NULL};
    CHECK(in_order(&stage.fake, order));
    stage_close(&stage);
}

static void gone_kills_the_trainer_and_removes_its_folder(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.fake.refuse = "started";
    stage.fake.refusal = "gone";
    stage_start(&stage, "exec sleep 600");
    SERVE_UNTIL(&stage.fake, stage.fake.repeat_id > 0);
    SERVE_UNTIL(&stage.fake, !has_attempt(&stage));
    CHECK(!fake_server_saw(&stage.fake, "ended"));
    stage_close(&stage);
}

static void a_stop_reaches_the_trainer(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "trap 'exit 0' TERM; echo up; "
                        "while :; do sleep 0.02; done");
    SERVE_UNTIL(&stage.fake, stage.fake.log.data != NULL &&
                                 strstr(stage.fake.log.data, "up") != NULL);
    stage.fake.beat = ",\"stop\":[{\"study\":7,\"trial\":3,\"attempt\":1,"
                      "\"reason\":\"median rule\",\"how\":\"stop\"}]";
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    CHECK(fake_server_heard(&stage.fake,
                            "\"outcome\":\"stopped\",\"exit\":0,"
                            "\"reason\":\"stopped: median rule\""));
    stage_close(&stage);
}

static void a_killed_shim_is_a_lost_attempt(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "setsid sleep 600 & echo up; exec sleep 600");
    SERVE_UNTIL(&stage.fake, stage.fake.log.data != NULL &&
                                 strstr(stage.fake.log.data, "up") != NULL);
    char path[PATH_MAX + 64];
    char replica[PATH_MAX + 96];
    (void)snprintf(replica, sizeof replica, "%s/master-0",
                   attempt_folder(&stage, path));
    struct process shim;
    CHECK(folder_read_shim(replica, &shim, NULL) == HT_OK);
    CHECK(procfs_kill(&shim));
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    CHECK(fake_server_heard(
        &stage.fake, "\"outcome\":\"lost\",\"reason\":\"its supervisor process "
                     "was killed\""));
    CHECK(procfs_kill_leftovers(replica, NULL, 0) == 0);
    stage_close(&stage);
}

static void a_restarted_runner_continues_where_it_was(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "echo up; until [ -e go ]; do sleep 0.02; done; "
                        "echo acc=0.9 step=1; exit 4");
    SERVE_UNTIL(&stage.fake, stage.fake.log.data != NULL &&
                                 strstr(stage.fake.log.data, "up") != NULL);
    CHECK(end_runner(&stage, SIGKILL) == -SIGKILL);
    char path[PATH_MAX + 64];
    CHECK(disk_mark(attempt_folder(&stage, path), "master-0/go", NULL) ==
          HT_OK);
    stage.fake.hello = ",\"keep\":[{\"study\":7,\"trial\":3,\"attempt\":1}]";
    text_clear(&stage.fake.journal);
    stage.runner = start_runner(&stage);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    CHECK(!fake_server_saw(&stage.fake, "started")); /* was confirmed before */
    CHECK(fake_server_heard(&stage.fake, "\"exit\":4"));
    CHECK(fake_server_heard(&stage.fake, "\"m\":{\"acc\":0.9}"));
    stage_close(&stage);
}

static void what_the_server_forgot_is_killed_and_removed(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "echo $$ >pid; exec sleep 600");
    SERVE_UNTIL(&stage.fake,
                disk_has(stage.folder, "runs/7/3/1/master-0/pid") &&
                    fake_server_saw(&stage.fake, "started"));
    CHECK(end_runner(&stage, SIGKILL) == -SIGKILL);
    stage.fake.hello = ",\"keep\":[],"
                       "\"forget\":[{\"study\":7,\"trial\":3,\"attempt\":1}]";
    stage.runner = start_runner(&stage);
    SERVE_UNTIL(&stage.fake, !has_attempt(&stage));
    char replica[PATH_MAX + 96];
    char path[PATH_MAX + 64];
    (void)snprintf(replica, sizeof replica, "%s/master-0",
                   attempt_folder(&stage, path));
    CHECK(procfs_kill_leftovers(replica, NULL, 0) == 0);
    stage_close(&stage);
}

/* The answer to its poll has come while the runner is frozen, and so has the
 * end of its patience with the server. */
static void a_frozen_runner_clears_up_before_it_takes_new_work(void)
{
    struct stage stage;
    struct text script = {0};
    stage_open(&stage);
    text_printf(&script, "echo $$ >%s/pid; exec sleep 600", stage.folder);
    stage_start(&stage, script.data);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "started") &&
                                 disk_has(stage.folder, "pid"));
    stage.fake.mute = "lease";
    SERVE_UNTIL(&stage.fake, stage.fake.repeat_id > 0);
    CHECK(kill(stage.runner, SIGSTOP) == 0);
    const int64_t frozen = clock_monotonic_ms();
    text_clear(&script);
    /* Killed is enough: the runner buries its dead a little later. */
    text_printf(&script,
                "read pid <%s/pid; read a b state c </proc/$pid/stat && "
                "[ $state != Z ] && exit 9; exit 4",
                stage.folder);
    set_script(&stage, script.data, "");
    memcpy(strstr(stage.attempt.data, "\"attempt\":1"), "\"attempt\":2", 11);
    struct text more = {0};
    text_printf(&more, ",\"attempts\":[%s]", stage.attempt.data);
    fake_server_answer(&stage.fake, stage.fake.repeat_id, "ok", more.data);
    UNTIL(clock_monotonic_ms() - frozen > 4 * 300); /* fake heartbeats */
    stage.fake.hello = ",\"keep\":[],"
                       "\"forget\":[{\"study\":7,\"trial\":3,\"attempt\":1}]";
    text_clear(&stage.fake.journal);
    CHECK(kill(stage.runner, SIGCONT) == 0);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    static const char *const order[] = {" hello", " started", " drained", NULL};
    CHECK(in_order(&stage.fake, order));
    CHECK(fake_server_heard(&stage.fake, "\"exit\":4"));
    CHECK(!fake_server_heard(&stage.fake, "\"exit\":9"));
    text_free(&more);
    text_free(&script);
    stage_close(&stage);
}

/* In each of the states in which a request can be; the 0 to 9 requests that
 * are served before make the moments differ. */
static void stopping_never_hangs(void)
{
    enum { IDLE, ANSWERED_MEANWHILE, SERVER_GONE, STATES, CYCLES = 30 };
    struct stage stage;
    stage_open(&stage);
    for (int i = 0; i < CYCLES; i++) {
        const int state = i % STATES;
        text_clear(&stage.fake.journal);
        stage.runner = start_runner(&stage);
        SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "hello"));
        for (int n = 0; n < i / STATES; n++)
            fake_server_serve(&stage.fake);
        stage.fake.repeat_id = 0;
        stage.fake.mute = "lease"; /* held, from now on */
        if (state == SERVER_GONE)
            fake_server_close(&stage.fake);
        const int64_t start = clock_monotonic_ms();
        CHECK(kill(stage.runner, SIGTERM) == 0);
        if (state == ANSWERED_MEANWHILE)
            fake_server_serve(&stage.fake);
        CHECK(end_runner(&stage, SIGTERM) == 0);
        CHECK(clock_monotonic_ms() - start < 10000);
        if (state == SERVER_GONE)
            fake_server_open(&stage.fake);
    }
    stage_close(&stage);
}

static void sigterm_leaves_the_trainer_running(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "echo up; exec sleep 600");
    SERVE_UNTIL(&stage.fake, stage.fake.log.data != NULL &&
                                 strstr(stage.fake.log.data, "up") != NULL);
    const int64_t start = clock_monotonic_ms();
    CHECK(end_runner(&stage, SIGTERM) == 0);
    CHECK(clock_monotonic_ms() - start < 10000);
    char replica[PATH_MAX + 96];
    char path[PATH_MAX + 64];
    (void)snprintf(replica, sizeof replica, "%s/master-0",
                   attempt_folder(&stage, path));
    struct process shim;
    CHECK(folder_read_shim(replica, &shim, NULL) == HT_OK);
    CHECK(procfs_is_alive(&shim));
    CHECK(procfs_kill(&shim));
    stage_close(&stage);
}

static void a_server_on_another_port_is_found_by_server_json(void)
{
    struct stage stage;
    stage_open(&stage);
    stage_start(&stage, "echo up; until [ -e go ]; do sleep 0.02; done");
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "started") &&
                                 stage.fake.log.data != NULL);
    fake_server_close(&stage.fake);
    fake_server_open(&stage.fake);
    char note[256];
    const int len =
        snprintf(note, sizeof note, "{\"http\":\"%s\"}", stage.fake.http_url);
    CHECK(disk_write(stage.folder, "server.json", note, (size_t)len, 0600,
                     NULL) == HT_OK);
    char path[PATH_MAX + 64];
    CHECK(disk_mark(attempt_folder(&stage, path), "master-0/go", NULL) ==
          HT_OK);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "drained"));
    SERVE_UNTIL(&stage.fake,
                fake_server_heard(&stage.fake, "\"type\":\"lease\""));
    stage_close(&stage);
}

static void a_second_runner_on_the_folder_ends_with_5(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.runner = start_runner(&stage);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "hello"));
    CHECK(runner_fixture_wait(start_runner(&stage)) == 5);
    stage_close(&stage);
}

static void what_cannot_be_prepared_is_reported_as_lost(void)
{
    struct stage stage;
    stage_open(&stage);
    set_script(&stage, "true", "\"outputDir\":\"/proc/no/such\",");
    stage.runner = start_runner(&stage);
    SERVE_UNTIL(&stage.fake, fake_server_saw(&stage.fake, "ended"));
    CHECK(!fake_server_saw(&stage.fake, "started"));
    CHECK(fake_server_heard(&stage.fake, "\"outcome\":\"lost\",\"reason\":"
                                         "\"the runner could not start it: "));
    stage_close(&stage);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(a_runner_without_server_and_attempts_ends);
    RUN(an_engine_is_waited_for);
    RUN(an_engine_that_cannot_work_ends_the_runner);
    RUN(a_missing_token_file_ends_with_4);
    RUN(an_attempt_lives_from_lease_to_drained);
    RUN(outputs_are_removed_when_the_server_wants_it);
    RUN(outputs_that_are_gone_are_not_sent);
    RUN(only_records_that_the_server_lacks_are_sent);
    RUN(a_request_without_answer_is_sent_again);
    RUN(retry_repeats_the_same_request);
    RUN(an_unknown_boot_sends_hello_again_and_kills_nothing);
    RUN(gone_kills_the_trainer_and_removes_its_folder);
    RUN(a_stop_reaches_the_trainer);
    RUN(a_killed_shim_is_a_lost_attempt);
    RUN(a_restarted_runner_continues_where_it_was);
    RUN(what_the_server_forgot_is_killed_and_removed);
    RUN(a_frozen_runner_clears_up_before_it_takes_new_work);
    RUN(stopping_never_hangs);
    RUN(sigterm_leaves_the_trainer_running);
    RUN(a_server_on_another_port_is_found_by_server_json);
    RUN(a_second_runner_on_the_folder_ends_with_5);
    RUN(what_cannot_be_prepared_is_reported_as_lost);
    runner_fixture_fini();
    return check_done();
}
