/* libhypertune as a trainer uses it: what one process reports, and where it
 * goes. */
#include "tests/unit/hypertune/lib/reporter_fixture.h"

static void outside_body(void)
{
    char id[16];
    CHECK(report(0.5, 1) == 0);
    CHECK(hypertune_should_stop() == 0);
    CHECK(hypertune_flush(1000) == 0);
    CHECK(own_threads(id) == 0);
}

static void outside_a_trial_nothing_happens_and_succeeds(void)
{
    in_process(outside_body);
}

static void file_only_body(void)
{
    char id[16];
    const struct hypertune_metric pair[] = {{NULL, 0.25}, {"loss", 2}};
    setenv("HYPERTUNE_REPORT_FILE", reports, 1);
    setenv("CLOUD_ML_HP_METRIC_FILE", "/nowhere/at/all", 1);
    setenv("CLOUD_ML_HP_METRIC_TAG", "objective", 1);
    CHECK(hypertune_report(pair, 2, -1, "") == 0);
    CHECK(report_hyperparameter_tuning_metric("", 0.5, 9, "gs://b/c") == 0);
    CHECK(hypertune_flush(1000) == ENOTCONN);
    CHECK(own_threads(id) == 0);
    char got[3][512];
    FILE *file = fopen(reports, "r");
    CHECK(fgets(got[0], 512, file) && fgets(got[1], 512, file) &&
          !fgets(got[2], 512, file));
    fclose(file);
    CHECK(strncmp(got[0], "{\"w\":\"", 6) == 0);
    CHECK_TEXT(strstr(got[0], ",\"m\":"),
               ",\"m\":{\"objective\":0.25,\"loss\":2}}\n");
    CHECK(strstr(got[0], "\"s\":") == NULL);
    CHECK_TEXT(strstr(got[1], ",\"s\":"),
               ",\"s\":9,\"m\":{\"objective\":0.5},\"c\":\"gs://b/c\"}\n");
    CHECK(access("/nowhere", F_OK) != 0);
}

static void reports_go_to_the_file_in_the_documented_form(void)
{
    in_process(file_only_body);
}

static void refusals_body(void)
{
    struct hypertune_metric many[17];
    char names[17][16];
    char name[200];
    static char path[5000];
    setenv("HYPERTUNE_REPORT_FILE", reports, 1);
    for (int i = 0; i < 17; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        many[i] = (struct hypertune_metric){names[i], i};
    }
    memset(name, 'x', sizeof name);
    memset(path, 'x', sizeof path - 1);
    name[128] = '\0';
    CHECK(hypertune_report(many, 0, 1, NULL) == EINVAL);
    CHECK(hypertune_report(many, 17, 1, NULL) == EINVAL);
    CHECK(report_hyperparameter_tuning_metric(name, 1, 1, NULL) == EINVAL);
    CHECK(report_hyperparameter_tuning_metric("a", 1, 1, path) == EINVAL);
    CHECK(access(reports, F_OK) != 0);
    CHECK(hypertune_report(many, 16, 1, NULL) == 0);
    CHECK(summarize(reports).highest[0] == 1);
}

static void wrong_arguments_are_refused_and_use_no_number(void)
{
    in_process(refusals_body);
}

static void nowhere_body(void)
{
    setenv("HYPERTUNE_REPORT_FILE", "/no/such/folder/reports.jsonl", 1);
    CHECK(report(1, 1) == EIO);
    CHECK(report(1, 1) == EIO);
}

static void a_report_that_goes_nowhere_is_an_error(void)
{
    in_process(nowhere_body);
}

static void window_body(void)
{
    char path[400];
    char line[512];
    int lines = 0;
    snprintf(path, sizeof path, "%s/new/folders/output.metrics", folder);
    setenv("CLOUD_ML_HP_METRIC_FILE", path, 1);
    setenv("CLOUD_ML_TRIAL_ID", "7", 1);
    for (int i = 0; i < 250; i++)
        CHECK(report(i, i) == 0);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char want[64];
        snprintf(want, sizeof want,
                 "{\"acc\": \"%d.0\", \"checkpoint_path\": \"\", "
                 "\"global_step\"",
                 150 + lines++);
        CHECK(strncmp(line, want, strlen(want)) == 0);
        CHECK(strstr(line, "\"trial\": \"7\"}\n") != NULL);
    }
    fclose(file);
    CHECK(lines == 100);
    CHECK(report_hyperparameter_tuning_metric("trial", 0.5, -5, NULL) == 0);
    file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL) {
    }
    fclose(file);
    CHECK(strstr(line, "\"global_step\": \"-5\"") != NULL);
    CHECK(strstr(line, "\"trial\": \"0.5\"}") != NULL);
}

static void googles_metric_file_holds_the_last_hundred_reports(void)
{
    in_process(window_body);
}

static void acknowledged_body(void)
{
    struct server server;
    server_start(&server, 0, "retry");
    enter_trial(&server);
    for (int i = 1; i <= 20; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 20 && sum.writers == 1 && sum.doubles == 0);
    server_kill(&server);
}

static void flush_returns_when_the_server_has_every_report(void)
{
    in_process(acknowledged_body);
}

static void restart_body(void)
{
    struct server server;
    signal(SIGPIPE, SIG_DFL); /* a send to the dead must not end us */
    server_start(&server, 0, "ok");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    server_kill(&server);
    for (int i = 2; i <= 50; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(50) == ETIMEDOUT);
    server_start(&server, server.port, "ok");
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 50 && sum.highest[0] == 50 && sum.doubles == 0);
    server_kill(&server);
}

static void a_server_that_dies_and_returns_misses_nothing(void)
{
    in_process(restart_body);
}

static void end_body(const char *mode)
{
    struct server server;
    server_start(&server, 0, mode);
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    long start = now_ms();
    CHECK(hypertune_flush(PATIENCE_MS) == ETIMEDOUT);
    CHECK(now_ms() - start < PATIENCE_MS / 2);
    CHECK(report(2, 2) == 0);
    CHECK(summarize(reports).lines == 2);
    server_kill(&server);
}

static void gone_body(void)
{
    end_body("gone");
}

static void denied_body(void)
{
    end_body("denied");
}

static void an_ended_attempt_is_no_longer_sent_for(void)
{
    in_process(gone_body);
    in_process(denied_body);
}

static void thin_body(void)
{
    struct server server;
    server_start(&server, 0, "thin=4");
    enter_trial(&server);
    CHECK(report(0, 0) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    for (int i = 1; i <= 102; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct summary sum = summarize(reports);
    /* 0, then 4, 8 ... 100, then the held 102 */
    CHECK(sum.lines == 27 && sum.highest[0] == 27 && sum.doubles == 0);
    CHECK(sum.last == 102);
    CHECK(summarize(store).last == 102);
    server_kill(&server);
}

static void thinning_keeps_every_fourth_and_the_last(void)
{
    in_process(thin_body);
}

static void stop_body(void)
{
    char path[400];
    setenv("HYPERTUNE_TRIAL_DIR", folder, 1);
    CHECK(hypertune_should_stop() == 0);
    snprintf(path, sizeof path, "%s/stop", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK(hypertune_should_stop() == 1);
}

static void the_stop_file_asks_to_stop(void)
{
    in_process(stop_body);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !fixture_begin(argv[1]))
        return 1;
    RUN(outside_a_trial_nothing_happens_and_succeeds);
    RUN(reports_go_to_the_file_in_the_documented_form);
    RUN(wrong_arguments_are_refused_and_use_no_number);
    RUN(a_report_that_goes_nowhere_is_an_error);
    RUN(googles_metric_file_holds_the_last_hundred_reports);
    RUN(flush_returns_when_the_server_has_every_report);
    RUN(a_server_that_dies_and_returns_misses_nothing);
    RUN(an_ended_attempt_is_no_longer_sent_for);
    RUN(thinning_keeps_every_fourth_and_the_last);
    RUN(the_stop_file_asks_to_stop);
    return fixture_end();
}
