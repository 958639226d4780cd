/* report.c - `report` inside a trial. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/report_record.h"
#include "hypertune/lib/reporter.h"
#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"
#include "proto/job/pattern.h"

enum {
    WAIT_MS = 200,         /* without --strict and --timeout */
    STRICT_WAIT_MS = 5000, /* --strict without --timeout */
    MAX_PATTERNS = 8,
    MATCH_BYTES = 8192 /* of a line that patterns look at */
};

const char trial_help_report[] =
    "usage: hypertune report NAME=VALUE... [--step N] [--checkpoint PATH]\n"
    "       COMMAND | hypertune report --from-stdin --pattern PATTERN\n"
    "\n"
    "Inside a trial: records metrics. The report is appended to the trial's\n"
    "report file and sent; it counts even when the server is away now.\n"
    "\n"
    "  NAME=VALUE         one metric; up to 16 that belong together\n"
    "  --step N           global step; counted by the server when left out\n"
    "  --checkpoint PATH  where the model of this step lies\n"
    "  --from-stdin       take metrics from the lines that are piped through\n"
    "  --pattern PATTERN  'epoch {step} acc={accuracy}'; {*} is any text; may\n"
    "                     be given up to 8 times\n"
    "  --strict           exit 6 when the server has not confirmed in time\n"
    "  --timeout T        how long to wait for it: 200ms, 30s, 2m (default\n"
    "                     200ms; 5s with --strict)\n";

struct request {
    size_t n;
    struct hypertune_metric metrics[RECORD_METRICS];
    char names[RECORD_METRICS][RECORD_NAME_BYTES];
    int64_t step;
    const char *checkpoint;
    bool strict, from_stdin;
    int timeout_ms;      /* -1: not said */
    struct arena *arena; /* of the patterns; NULL while there is none */
    size_t n_patterns;
    struct pattern *patterns[MAX_PATTERNS];
};

/* ---- arguments ---- */

static int read_metric(struct request *request, const char *word)
{
    const char *equals = strrchr(word, '=');
    if (equals == NULL)
        return trial_usage("report: \"%s\" is not NAME=VALUE", word);
    if (request->n == RECORD_METRICS)
        return trial_usage("report: \"%s\" is one metric too many (%d fit in "
                           "one report)",
                           word, RECORD_METRICS);
    struct hypertune_metric *metric = &request->metrics[request->n];
    char *name = request->names[request->n];
    snprintf(name, RECORD_NAME_BYTES, "%.*s", (int)(equals - word), word);
    if (equals - word >= RECORD_NAME_BYTES ||
        !report_record_name_is_valid(name))
        return trial_usage("report: \"%s\": the name must have 1 to %d bytes "
                           "and no control characters",
                           word, RECORD_NAME_BYTES - 1);
    if (!trial_read_number(equals + 1, &metric->value))
        return trial_usage("report: \"%s\": \"%s\" is not a number", word,
                           equals + 1);
    for (size_t i = 0; i < request->n; i++)
        if (strcmp(request->names[i], name) == 0)
            return trial_usage("report: \"%s\": this metric is there twice",
                               word);
    metric->name = name;
    request->n++;
    return TRIAL_EXIT_OK;
}

static int read_step(struct request *request, const char *value)
{
    if (!trial_read_integer(value, &request->step) || request->step < 0)
        return trial_usage("report: --step \"%s\" is not a count", value);
    return TRIAL_EXIT_OK;
}

static int read_checkpoint(struct request *request, const char *value)
{
    if (strnlen(value, RECORD_CHECKPOINT_BYTES) == RECORD_CHECKPOINT_BYTES)
        return trial_usage("report: --checkpoint has more than %d bytes",
                           RECORD_CHECKPOINT_BYTES - 1);
    request->checkpoint = value;
    return TRIAL_EXIT_OK;
}

static int read_timeout(struct request *request, const char *value)
{
    if (!trial_read_duration(value, &request->timeout_ms))
        return trial_usage("report: --timeout \"%s\" is not a duration such "
                           "as 200ms, 30s or 2m",
                           value);
    return TRIAL_EXIT_OK;
}

static int read_pattern(struct request *request, const char *value)
{
    if (request->n_patterns == MAX_PATTERNS)
        return trial_usage("report: --pattern \"%s\" is one too many", value);
    struct ht_error err;
    if (request->arena == NULL)
        request->arena = arena_new();
    if (pattern_compile(request->arena, value,
                        &request->patterns[request->n_patterns], &err) != HT_OK)
        return trial_usage("report: --pattern \"%s\": %s", value, err.text);
    request->n_patterns++;
    return TRIAL_EXIT_OK;
}

/* An option with a value: found, or not this one. */
static bool read_option(struct request *request, int argc, char **argv, int *at,
                        int *code)
{
    static const struct {
        const char *name;
        int (*read)(struct request *request, const char *value);
    } options[] = {{"--step", read_step},
                   {"--checkpoint", read_checkpoint},
                   {"--timeout", read_timeout},
                   {"--pattern", read_pattern}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value;
        if (!trial_option(options[i].name, argc, argv, at, &value))
            continue;
        *code = value != NULL
                    ? options[i].read(request, value)
                    : trial_usage("report: %s needs a value", options[i].name);
        return true;
    }
    return false;
}

static int read_word(struct request *request, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    int code = TRIAL_EXIT_OK;
    if (strcmp(word, "--strict") == 0)
        request->strict = true;
    else if (strcmp(word, "--from-stdin") == 0)
        request->from_stdin = true;
    else if (word[0] != '-')
        code = read_metric(request, word);
    else if (!read_option(request, argc, argv, at, &code))
        code = trial_usage("report: unknown option \"%s\"", word);
    return code;
}

static int check_request(const struct request *request)
{
    if (!request->from_stdin && request->n_patterns > 0)
        return trial_usage("report: --pattern needs --from-stdin");
    if (request->from_stdin && request->n_patterns == 0)
        return trial_usage("report: --from-stdin needs --pattern");
    if (request->from_stdin && request->n > 0)
        return trial_usage("report: \"%s=...\" does not go with --from-stdin",
                           request->names[0]);
    if (request->from_stdin && request->step >= 0)
        return trial_usage("report: --step does not go with --from-stdin; put "
                           "{step} into the pattern");
    if (!request->from_stdin && request->n == 0)
        return trial_usage("report: no NAME=VALUE to report; see \"hypertune "
                           "report --help\"");
    return TRIAL_EXIT_OK;
}

/* ---- what became of the reports ---- */

static const char *trouble_text(int trouble, int timeout_ms, char text[64])
{
    switch (trouble) {
    case ECONNREFUSED:
        return "connect: refused";
    case EHOSTUNREACH:
        return "host not found";
    case EPROTO:
        return "something else answers there";
    case 0:
    case ETIMEDOUT:
        snprintf(text, 64, "no answer in %d ms", timeout_ms);
        return text;
    default:
        return strerrordesc_np(trouble);
    }
}

static void explain(size_t reports, int timeout_ms)
{
    char text[64];
    int trouble = reporter_trouble();
    const char *outcome = !reporter_has_file()   ? "not recorded"
                          : trouble == ESHUTDOWN ? "recorded, will not count"
                                                 : "recorded, will be sent";
    if (trouble == EACCES)
        fputs("hypertune: the server refused this trial's token", stderr);
    else if (trouble == ESHUTDOWN)
        fputs("hypertune: this attempt has ended for the server", stderr);
    else if (trouble == ENOTCONN)
        fputs("hypertune: this trial has no report address", stderr);
    else
        fprintf(stderr, "hypertune: server not reachable (%s)",
                trouble_text(trouble, timeout_ms, text));
    fprintf(stderr, "; %zu report%s %s\n", reports, reports == 1 ? "" : "s",
            outcome);
}

/* Waits for the server and turns the result into the exit code. */
static int settle(const struct request *request, size_t reports, size_t failed)
{
    if (!reporter_in_trial()) {
        if (!request->strict)
            return TRIAL_EXIT_OK;
        fputs("hypertune: report: not inside a trial\n", stderr);
        return TRIAL_EXIT_UNREACHABLE;
    }
    int timeout_ms = request->timeout_ms >= 0 ? request->timeout_ms
                     : request->strict        ? STRICT_WAIT_MS
                                              : WAIT_MS;
    int rc = hypertune_flush(timeout_ms);
    if (failed > 0)
        fprintf(stderr,
                "hypertune: %zu report%s could be neither written nor sent\n",
                failed, failed == 1 ? "" : "s");
    /* Without an address the runner reads the file: nothing is wrong. */
    bool is_explained =
        reports > 0 && rc != 0 &&
        (rc != ENOTCONN || request->strict || !reporter_has_file());
    if (is_explained)
        explain(reports, timeout_ms);
    bool is_confirmed = rc == 0 && failed == 0;
    return request->strict && !is_confirmed ? TRIAL_EXIT_UNREACHABLE
                                            : TRIAL_EXIT_OK;
}

/* ---- the pipe ---- */

static int send(const struct report *found, const char *checkpoint)
{
    struct hypertune_metric metrics[RECORD_METRICS];
    for (size_t i = 0; i < found->n_metrics; i++)
        metrics[i] = (struct hypertune_metric){found->metrics[i].name,
                                               found->metrics[i].value};
    return hypertune_report(metrics, found->n_metrics,
                            found->has_step ? found->step : -1, checkpoint);
}

/* Reports every pattern that matches; false when a report got lost. */
static bool report_line(const struct request *request, struct arena *arena,
                        const char *line, size_t len, size_t *reports)
{
    bool all_kept = true;
    for (size_t i = 0; i < request->n_patterns; i++) {
        struct report found;
        if (!pattern_match(arena, request->patterns[i], line, len, &found))
            continue;
        if (send(&found, request->checkpoint) == 0)
            ++*reports;
        else
            all_kept = false;
    }
    return all_kept;
}

static int report_stdin(const struct request *request)
{
    char *line = NULL;
    size_t cap = 0;
    size_t reports = 0;
    size_t failed = 0;
    bool passes_on = true;
    struct arena *arena = arena_new();
    /* A reader that left early must not end the training before us. */
    signal(SIGPIPE, SIG_IGN);
    for (ssize_t len; (len = getline(&line, &cap, stdin)) >= 0;) {
        size_t n = (size_t)len;
        passes_on =
            passes_on && fwrite(line, 1, n, stdout) == n && fflush(stdout) == 0;
        if (n > MATCH_BYTES)
            n = MATCH_BYTES;
        failed += !report_line(request, arena, line, n, &reports);
        arena_reset(arena);
    }
    arena_free(arena);
    free(line);
    return settle(request, reports, failed);
}

static int run_request(const struct request *request)
{
    int code = check_request(request);
    if (code != TRIAL_EXIT_OK)
        return code;
    if (request->from_stdin)
        return report_stdin(request);
    int rc = hypertune_report(request->metrics, request->n, request->step,
                              request->checkpoint);
    return settle(request, rc == 0, rc != 0);
}

int trial_command_report(int argc, char **argv)
{
    static struct request request; /* large for a stack, and one of a kind */
    request = (struct request){.step = -1, .timeout_ms = -1};
    int code = TRIAL_EXIT_OK;
    bool asks_help = false;
    for (int i = 1; i < argc && code == TRIAL_EXIT_OK && !asks_help; i++) {
        asks_help = strcmp(argv[i], "--help") == 0;
        if (!asks_help)
            code = read_word(&request, argc, argv, &i);
    }
    if (asks_help)
        fputs(trial_help_report, stdout);
    else if (code == TRIAL_EXIT_OK)
        code = run_request(&request);
    arena_free(request.arena);
    return code;
}
