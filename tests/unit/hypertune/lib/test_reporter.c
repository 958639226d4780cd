/* libhypertune as a trainer uses it: what one process reports, and where it
 * goes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "hypertune/hypertune.h"
#include "tests/lib/reporting.h"

static void outside_body(void)
{
    char id[16];
    CHECK(reporting_report(0.5, 1) == 0);
    CHECK(hypertune_should_stop() == 0);
    CHECK(hypertune_flush(1000) == 0);
    CHECK(reporting_threads(id) == 0);
}

static void outside_a_trial_nothing_happens_and_succeeds(void)
{
    reporting_run(outside_body);
}

static void file_only_body(void)
{
    char id[16];
    const struct hypertune_metric pair[] = {{NULL, 0.25}, {"loss", 2}};
    setenv("HYPERTUNE_REPORT_FILE", reporting_file, 1);
    setenv("CLOUD_ML_HP_METRIC_FILE", "/nowhere/at/all", 1);
    setenv("CLOUD_ML_HP_METRIC_TAG", "objective", 1);
    CHECK(hypertune_report(pair, 2, -1, "") == 0);
    CHECK(report_hyperparameter_tuning_metric("", 0.5, 9, "gs://b/c") == 0);
    CHECK(hypertune_flush(1000) == ENOTCONN);
    CHECK(reporting_threads(id) == 0);
    char got[3][512];
    FILE *file = fopen(reporting_file, "r");
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
    reporting_run(file_only_body);
}

static void refusals_body(void)
{
    struct hypertune_metric many[17];
    char names[17][16];
    char name[200];
    static char path[5000];
    setenv("HYPERTUNE_REPORT_FILE", reporting_file, 1);
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
    CHECK(access(reporting_file, F_OK) != 0);
    CHECK(hypertune_report(many, 16, 1, NULL) == 0);
    CHECK(reporting_summary_of(reporting_file).highest[0] == 1);
}

static void wrong_arguments_are_refused_and_use_no_number(void)
{
    reporting_run(refusals_body);
}

static void nowhere_body(void)
{
    setenv("HYPERTUNE_REPORT_FILE", "/no/such/folder/reports.jsonl", 1);
    CHECK(reporting_report(1, 1) == EIO);
    CHECK(reporting_report(1, 1) == EIO);
}

static void a_report_that_goes_nowhere_is_an_error(void)
{
    reporting_run(nowhere_body);
}

static void window_body(void)
{
    char path[400];
    char line[512];
    int lines = 0;
    snprintf(path, sizeof path, "%s/new/folders/output.metrics",
             reporting_folder);
    setenv("CLOUD_ML_HP_METRIC_FILE", path, 1);
    setenv("CLOUD_ML_TRIAL_ID", "7", 1);
    for (int i = 0; i < 250; i++)
        CHECK(reporting_report(i, i) == 0);
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

static void text_body(void)
{
    char path[400];
    char line[512];
    snprintf(path, sizeof path, "%s/text.metrics", reporting_folder);
    setenv("CLOUD_ML_HP_METRIC_FILE", path, 1);
    CHECK(report_hyperparameter_tuning_metric(
              "a", 1, 2, "\"\\\t\x01\x7F\u00E9\u20AC\U0001F600\xFF.pt") == 0);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    fclose(file);
    CHECK_TEXT(strtok(strstr(line, "point_path"), ","),
               "point_path\": \"\\\"\\\\\\t\\u0001\x7F\\u00e9\\u20ac"
               "\\ud83d\\ude00\\ufffd.pt\"");
}

static void googles_metric_file_has_text_as_python_writes_it(void)
{
    reporting_run(text_body);
}

static void googles_metric_file_holds_the_last_hundred_reports(void)
{
    reporting_run(window_body);
}

static void acknowledged_body(void)
{
    struct reporting_server server;
    reporting_server_start(&server, 0, "retry");
    reporting_enter(&server);
    for (int i = 1; i <= 20; i++)
        CHECK(reporting_report(i, i) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_store);
    CHECK(sum.lines == 20 && sum.writers == 1 && sum.doubles == 0);
    reporting_server_kill(&server);
}

static void flush_returns_when_the_server_has_every_report(void)
{
    reporting_run(acknowledged_body);
}

static void restart_body(void)
{
    struct reporting_server server;
    signal(SIGPIPE, SIG_DFL); /* a send to the dead must not end us */
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    reporting_server_kill(&server);
    for (int i = 2; i <= 50; i++)
        CHECK(reporting_report(i, i) == 0);
    CHECK(hypertune_flush(50) == ETIMEDOUT);
    reporting_server_start(&server, server.port, "ok");
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_store);
    CHECK(sum.lines == 50 && sum.highest[0] == 50 && sum.doubles == 0);
    reporting_server_kill(&server);
}

static void a_server_that_dies_and_returns_misses_nothing(void)
{
    reporting_run(restart_body);
}

static void end_body(const char *mode)
{
    struct reporting_server server;
    reporting_server_start(&server, 0, mode);
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
    long start = reporting_now_ms();
    CHECK(hypertune_flush(PATIENCE_MS) == ETIMEDOUT);
    CHECK(reporting_now_ms() - start < PATIENCE_MS / 2);
    CHECK(reporting_report(2, 2) == 0);
    CHECK(reporting_summary_of(reporting_file).lines == 2);
    reporting_server_kill(&server);
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
    reporting_run(gone_body);
    reporting_run(denied_body);
}

static void thin_body(void)
{
    struct reporting_server server;
    reporting_server_start(&server, 0, "thin=4");
    reporting_enter(&server);
    CHECK(reporting_report(0, 0) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    for (int i = 1; i <= 102; i++)
        CHECK(reporting_report(i, i) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_file);
    /* 0, then 4, 8 ... 100, then the held 102 */
    CHECK(sum.lines == 27 && sum.highest[0] == 27 && sum.doubles == 0);
    CHECK(sum.last == 102);
    CHECK(reporting_summary_of(reporting_store).last == 102);
    reporting_server_kill(&server);
}

static void thinning_keeps_every_fourth_and_the_last(void)
{
    reporting_run(thin_body);
}

static void stop_body(void)
{
    char path[400];
    setenv("HYPERTUNE_TRIAL_DIR", reporting_folder, 1);
    CHECK(hypertune_should_stop() == 0);
    snprintf(path, sizeof path, "%s/stop", reporting_folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK(hypertune_should_stop() == 1);
}

static void the_stop_file_asks_to_stop(void)
{
    reporting_run(stop_body);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !reporting_init(argv[1]))
        return 1;
    RUN(outside_a_trial_nothing_happens_and_succeeds);
    RUN(reports_go_to_the_file_in_the_documented_form);
    RUN(wrong_arguments_are_refused_and_use_no_number);
    RUN(a_report_that_goes_nowhere_is_an_error);
    RUN(googles_metric_file_holds_the_last_hundred_reports);
    RUN(googles_metric_file_has_text_as_python_writes_it);
    RUN(flush_returns_when_the_server_has_every_report);
    RUN(a_server_that_dies_and_returns_misses_nothing);
    RUN(an_ended_attempt_is_no_longer_sent_for);
    RUN(thinning_keeps_every_fourth_and_the_last);
    RUN(the_stop_file_asks_to_stop);
    return reporting_done();
}
