/* The in-trial commands as a shell script meets them, and their matcher. The
 * static hypertune-trial is what runs; BIN is the first argument. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"
#include "tests/check.h"

/* A sanitizer cannot be static and is large; clang and gcc say so each in its
 * own way. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

static char folder[256]; /* HYPERTUNE_TRIAL_DIR of all cases */
static char tool[512];

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Runs "PREFIX hypertune-trial ARGUMENTS" by a shell in the trial's folder;
 * stdout and stderr together go to `output`. */
static char output[65536];

static int shell(const char *prefix, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && { %s '%s' %s; } 2>&1", folder,
             prefix, tool, arguments);
    fflush(stdout);
    FILE *pipe = popen(command, "r");
    size_t n = fread(output, 1, sizeof output - 1, pipe);
    output[n] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char in_trial[] = "env -i HYPERTUNE_TRIAL_DIR=. "
                               "HYPERTUNE_REPORT_FILE=reports.jsonl";
/* Port 1 on the loopback: nothing listens, and the kernel says so at once. */
static const char cut_off[] = "env -i HYPERTUNE_TRIAL_DIR=. "
                              "HYPERTUNE_REPORT_FILE=reports.jsonl "
                              "HYPERTUNE_REPORT_URL=tcp://127.0.0.1:1";

static void write_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void remove_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* The records so far, from the step or the metrics on, without the parts that
 * change; forgets them. */
static const char *take_reports(void)
{
    static char text[65536];
    char line[8192];
    char path[512];
    text[0] = '\0';
    snprintf(path, sizeof path, "%s/reports.jsonl", folder);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *time = strstr(line, ",\"t\":");
        const char *rest = time != NULL ? strchr(time + 1, ',') : NULL;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                 rest != NULL ? rest + 1 : "torn\n");
    }
    if (file != NULL)
        fclose(file);
    unlink(path);
    return text;
}

static void report_records_what_it_is_told(void)
{
    CHECK(shell(in_trial, "report accuracy=0.93 loss=-2.5e3 --step 4 "
                          "--checkpoint gs://b/x") == 0);
    CHECK_TEXT(output, "");
    CHECK_TEXT(take_reports(), "\"s\":4,\"m\":{\"accuracy\":0.93,"
                               "\"loss\":-2500},\"c\":\"gs://b/x\"}\n");
    CHECK(shell(in_trial, "report --step=0 a=b=nan c=-Infinity") == 0);
    CHECK_TEXT(take_reports(), "\"s\":0,\"m\":{\"a=b\":\"NaN\","
                               "\"c\":\"-Infinity\"}}\n");
}

static void report_says_once_that_the_server_is_away(void)
{
    long start = now_ms();
    CHECK(shell(cut_off, "report accuracy=0.93 --step 4") == 0);
    CHECK(now_ms() - start < 4000);
    CHECK_TEXT(output, "hypertune: server not reachable (connect: refused); 1 "
                       "report recorded, will be sent\n");
    CHECK(shell(cut_off, "report a=1 --strict --timeout 50ms") == 6);
    CHECK_TEXT(output, "hypertune: server not reachable (connect: refused); 1 "
                       "report recorded, will be sent\n");
    CHECK(shell(in_trial, "report a=1 --strict") == 6);
    take_reports();
    CHECK(shell("env -i HYPERTUNE_REPORT_FILE=/no/where", "report a=1") == 0);
    CHECK_TEXT(output,
               "hypertune: 1 report could be neither written nor sent\n");
    CHECK(shell("env -i HYPERTUNE_REPORT_FILE=/no/where",
                "report a=1 --strict") == 6);
}

static void report_refuses_bad_usage_by_naming_the_argument(void)
{
    static const struct {
        const char *arguments, *names;
    } table[] = {
        {"report", "NAME=VALUE"},
        {"report accuracy", "\"accuracy\" is not NAME=VALUE"},
        {"report a=x", "\"x\" is not a number"},
        {"report a=1x", "\"1x\" is not a number"},
        {"report a=0x10", "\"0x10\" is not a number"},
        {"report a=", "\"a=\""},
        {"report =1", "\"=1\""},
        {"report a=1 a=2", "\"a=2\": this metric is there twice"},
        {"report a=1 --step", "--step needs a value"},
        {"report a=1 --step 1.5", "--step \"1.5\""},
        {"report a=1 --step -1", "--step \"-1\""},
        {"report a=1 --timeout soon", "--timeout \"soon\""},
        {"report a=1 --nope", "unknown option \"--nope\""},
        {"report a=1 --pattern '{x}'", "--pattern needs --from-stdin"},
        {"report --from-stdin", "--from-stdin needs --pattern"},
        {"report --from-stdin --pattern 'acc={'", "a brace is not closed"},
        {"report --from-stdin --pattern '{x}' b=1", "\"b=...\""},
        {"report a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 "
         "p=1 q=1",
         "\"q=1\" is one metric too many"},
        {"nope", "\"nope\" is not a command"},
        {"params --nope", "unknown option \"--nope\""},
        {"params -o csv", "-o \"csv\""},
        {"params a b", "\"b\""},
        {"should-stop now", "unexpected \"now\""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        CHECK(shell(in_trial, table[i].arguments) == 2);
        if (strncmp(output, "hypertune: ", 11) != 0 ||
            strstr(output, table[i].names) == NULL)
            CHECK_TEXT(output, table[i].names);
    }
    CHECK_TEXT(take_reports(), "");
}

static void a_pipe_passes_through_and_is_reported(void)
{
    char prefix[512];
    snprintf(prefix, sizeof prefix,
             "printf 'epoch 1  of 2 acc=0.5\\nnoise\\nepoch 2 of 2 "
             "acc=nan\\r\\nlast' | %s",
             in_trial);
    CHECK(shell(prefix, "report --from-stdin --pattern 'epoch {step}.*"
                        "acc={accuracy}' --pattern 'of {total}'") == 0);
    CHECK_TEXT(output, "epoch 1  of 2 acc=0.5\nnoise\nepoch 2 of 2 "
                       "acc=nan\r\nlast");
    CHECK_TEXT(take_reports(), "\"s\":1,\"m\":{\"accuracy\":0.5}}\n"
                               "\"m\":{\"total\":2}}\n"
                               "\"s\":2,\"m\":{\"accuracy\":\"NaN\"}}\n"
                               "\"m\":{\"total\":2}}\n");
}

static void a_pipe_is_read_as_a_spec_reads_stdout(void)
{
    char prefix[512];
    snprintf(prefix, sizeof prefix,
             "printf 'val_loss=3 loss=0.5\\n{1}\\n' | %s", in_trial);
    CHECK(shell(prefix, "report --from-stdin --pattern 'loss={loss}' "
                        "--pattern '{{{n}}}'") == 0);
    CHECK_TEXT(take_reports(), "\"m\":{\"loss\":0.5}}\n\"m\":{\"n\":1}}\n");
}

static void a_reader_that_leaves_does_not_end_the_pipe(void)
{
    char prefix[512];
    snprintf(prefix, sizeof prefix,
             "i=0; while [ $i -lt 3000 ]; do echo acc=$i; i=$((i+1)); done | "
             "%s",
             in_trial);
    CHECK(shell(prefix,
                "report --from-stdin --pattern 'acc={acc}' | head -n 1") == 0);
    CHECK_TEXT(output, "acc=0\n");
    CHECK(strstr(take_reports(), "\"m\":{\"acc\":2999}}\n") != NULL);
}

static void should_stop_answers_by_its_exit_code(void)
{
    CHECK(shell("env -i", "should-stop") == 6);
    CHECK(shell(in_trial, "should-stop") == 1);
    write_file("stop", "stop median rule\n");
    CHECK(shell(in_trial, "should-stop") == 0);
    CHECK_TEXT(output, "");
    remove_file("stop");
}

static void a_checkpoint_is_noted_by_its_place(void)
{
    static const char trial[] = "mkdir -p ckpt/epoch-3 && env -i "
                                "HYPERTUNE_TRIAL_DIR=. AIP_CHECKPOINT_DIR=ckpt";
    static const char *const want[] = {",\"c\":\".\"}\n",
                                       ",\"s\":3,\"c\":\"epoch-3\"}\n"};
    CHECK(shell(trial, "checkpoint") == 0);
    CHECK(shell(trial, "checkpoint ckpt/../ckpt/epoch-3 --step 3") == 0);
    CHECK_TEXT(output, "");
    CHECK(shell(trial, "checkpoint .") == 2);
    CHECK(strstr(output, "\".\" is not below $AIP_CHECKPOINT_DIR (ckpt)") !=
          NULL);
    CHECK(shell(trial, "checkpoint ckpt/none") == 3);
    CHECK(shell(trial, "checkpoint ckpt --step x") == 2);
    CHECK(shell(trial, "checkpoint ckpt ckpt") == 2);
    CHECK(shell("env -i", "checkpoint /") == 0); /* no trial: nothing */
    CHECK(shell("cat checkpoints.jsonl; rm -r ckpt checkpoints.jsonl;",
                "version") == 0);
    const char *first = strstr(output, want[0]);
    CHECK(first != NULL && strstr(first, want[1]) != NULL);
    CHECK(strncmp(output, "{\"t\":1", 6) == 0);
}

static void params_are_printed_in_every_form(void)
{
    write_file("params", "lr=0.001\nopt=ad'am x\nlayer.size=064\nname=a=b\n");
    CHECK(shell(in_trial, "params lr") == 0);
    CHECK_TEXT(output, "0.001\n");
    CHECK(shell(in_trial, "params name") == 0);
    CHECK_TEXT(output, "a=b\n");
    CHECK(shell(in_trial, "params") == 0);
    CHECK_TEXT(output, "NAME        VALUE\n"
                       "lr          0.001\n"
                       "opt         ad'am x\n"
                       "layer.size  064\n"
                       "name        a=b\n");
    CHECK(shell(in_trial, "params -o args") == 0);
    CHECK_TEXT(output, "--lr=0.001 --opt='ad'\\''am x' --layer.size=064 "
                       "--name=a=b\n");
    CHECK(shell(in_trial, "params -o env") == 0);
    CHECK_TEXT(output, "lr=0.001\nopt='ad'\\''am x'\nlayer_size=064\n"
                       "name=a=b\n");
    CHECK(shell(in_trial, "params -o json") == 0);
    CHECK_TEXT(output, "{\"lr\": 0.001, \"opt\": \"ad'am x\", "
                       "\"layer.size\": \"064\", \"name\": \"a=b\"}\n");
    CHECK(shell(in_trial, "params momentum") == 3);
    CHECK(strstr(output, "no parameter \"momentum\"") != NULL);
    CHECK(shell("env -i", "params") == 3);
    write_file("params", "");
    CHECK(shell(in_trial, "params -o json") == 0);
    CHECK_TEXT(output, "{}\n");
}

static void the_tool_is_small_static_and_needs_no_environment(void)
{
    struct stat now;
    CHECK(stat(tool, &now) == 0);
    if (!HAS_SANITIZER) {
        CHECK(now.st_size <= 3 * 1024 * 1024);
        /* No interpreter in its program headers: no loader, no libraries. */
        CHECK(shell("readelf -lW", "| grep INTERP") == 1);
    }
    CHECK(shell("env -i", "version") == 0);
    CHECK(strncmp(output, "hypertune ", 10) == 0);
    CHECK(shell("env -i", "report a=1") == 0);
    CHECK_TEXT(output, "");
    CHECK(shell("env -i", "report a=1 --strict") == 6);
    CHECK(shell("env -i", "") == 2);
    CHECK(shell("env -i", "help report") == 0);
    CHECK(strstr(output, "--from-stdin") != NULL);
    CHECK(shell("env -i", "params --help") == 0);
    CHECK(strstr(output, "usage: hypertune params") != NULL);
}

/* ---- the parts ---- */

static void numbers_and_durations_are_read_strictly(void)
{
    double value;
    int ms;
    int64_t integer;
    CHECK(trial_read_number("1e400", &value) && isinf(value));
    CHECK(trial_read_number("-INF", &value) && value < 0);
    CHECK(!trial_read_number(" 1", &value));
    CHECK(!trial_read_number("nan(1)", &value));
    CHECK(!trial_read_number("--1", &value));
    CHECK(trial_read_duration("90", &ms) && ms == 90000);
    CHECK(trial_read_duration("1m1.5s", &ms) && ms == 61500);
    CHECK(trial_read_duration("250ms", &ms) && ms == 250);
    CHECK(!trial_read_duration("", &ms));
    CHECK(!trial_read_duration("-1s", &ms));
    CHECK(!trial_read_duration("1m30", &ms));
    CHECK(!trial_read_duration("1w", &ms));
    CHECK(!trial_read_duration("99999h", &ms));
    CHECK(trial_read_integer("9223372036854775807", &integer));
    CHECK(!trial_read_integer("9223372036854775808", &integer));
    CHECK(!trial_read_integer("", &integer));
}

int main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-trial-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    char *bin = argc > 1 ? realpath(argv[1], NULL) : NULL;
    if (bin == NULL || mkdtemp(folder) == NULL)
        return 1;
    snprintf(tool, sizeof tool, "%s/hypertune-trial", bin);
    free(bin);
    RUN(report_records_what_it_is_told);
    RUN(report_says_once_that_the_server_is_away);
    RUN(report_refuses_bad_usage_by_naming_the_argument);
    RUN(a_pipe_passes_through_and_is_reported);
    RUN(a_pipe_is_read_as_a_spec_reads_stdout);
    RUN(a_reader_that_leaves_does_not_end_the_pipe);
    RUN(should_stop_answers_by_its_exit_code);
    RUN(a_checkpoint_is_noted_by_its_place);
    RUN(params_are_printed_in_every_form);
    RUN(the_tool_is_small_static_and_needs_no_environment);
    RUN(numbers_and_durations_are_read_strictly);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return check_done() | (system(command) != 0);
}
