#include "hypertune/cli/study/logs.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/follow.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/limits.h"

enum { CHUNK = 256 * 1024, POLL_MS = 500, LOG_TAIL = 2000, LOG_LINES = 8 };

struct cli_log cli_log_of(const char *study, const char *trial,
                          const char *stream, FILE *to)
{
    return (struct cli_log){.study = study,
                            .trial = trial,
                            .stream = stream,
                            .replica = "master-0",
                            .to = to,
                            .attempt = CLI_UNSET,
                            .tail = CLI_UNSET,
                            .patient = true};
}

static const char *log_path(struct cli *cli, const struct cli_log *log)
{
    const char *path = cli_study_path(
        cli, log->study, "/trials/%s/logs?limit=%d", log->trial, CHUNK);
    path = cli_query(cli, path, "stream", log->stream);
    path = cli_query(cli, path, "replica", log->replica);
    if (log->attempt != CLI_UNSET)
        path = arena_printf(cli->arena, "%s&attempt=%lld", path,
                            (long long)log->attempt);
    const bool tail = log->tail != CLI_UNSET;
    return arena_printf(cli->arena, "%s&%s=%lld", path,
                        tail ? "tail" : "offset",
                        (long long)(tail ? log->tail : log->offset));
}

void cli_log_escape(char *data, struct text *out)
{
    while (*data != '\0') {
        const size_t len = strcspn(data, "\n\t");
        const char end[] = {data[len], '\0'};
        data[len] = '\0';
        text_escape(out, data);
        text_puts(out, end);
        data += len + (end[0] != '\0');
    }
}

/* Prints the next piece; *more: there was one. */
static int print_piece(struct cli *cli, struct cli_log *log, bool *more)
{
    struct ht_error err;
    const struct node *answer;
    enum ht_status status = cli_get(cli, log_path(cli, log), &answer, &err);
    *more = false;
    if (status == HT_NOT_FOUND && log->patient) {
        /* There is no attempt yet; one will come unless the study is over. */
        struct cli_study study;
        const int code = cli_study_open(cli, log->study, &study);
        if (code == CLI_DONE)
            log->ended = log->over = cli_study_is_over(study.state);
        return code;
    }
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    const char *data = node_get_string(answer, "data", "");
    int64_t start = node_get_int(answer, "offset", log->offset);
    int64_t next = node_get_int(answer, "next", start);
    if (log->tail == CLI_UNSET && start > log->offset)
        cli_say(cli, "[%lld bytes were not kept]",
                (long long)(start - log->offset));
    log->tail = CLI_UNSET;
    log->attempt = node_get_int(answer, "attempt", log->attempt);
    log->ended = node_get_bool(answer, "ended", true);
    *more = next > start;
    log->offset = next;
    struct text out = {0};
    if (cli->set.raw)
        text_puts(&out, data);
    else
        cli_log_escape(arena_strdup(cli->arena, data), &out);
    return cli_print_to(log->to, &out);
}

int cli_log_print(struct cli *cli, struct cli_log *log)
{
    bool more = true;
    int code = CLI_DONE;
    while (more && code == CLI_DONE)
        code = print_piece(cli, log, &more);
    return code;
}

static int print_logs(struct cli *cli, struct cli_log logs[], size_t n)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        /* A retry may begin between two requests. */
        if (logs[i].attempt == CLI_UNSET)
            logs[i].attempt = logs[0].attempt;
        code = cli_log_print(cli, &logs[i]);
    }
    return code;
}

static bool have_ended(const struct cli_log logs[], size_t n)
{
    size_t i = 0;
    while (i < n && logs[i].ended)
        i++;
    return i == n;
}

/* Says once why the trial waits, as long as it has printed nothing. */
static void say_why(struct cli *cli, const struct cli_log *log,
                    char said[HT_MAX_REASON])
{
    struct cli_study study;
    const struct node *trial;
    if (cli_study_get(cli, log->study, &study, NULL) != HT_OK ||
        cli_trial_get(cli, log->study, log->trial, &trial, NULL) != HT_OK)
        return;
    const char *why = cli_trial_waits(cli, &study, trial);
    if (why == NULL || strncmp(why, said, HT_MAX_REASON - 1) == 0)
        return;
    (void)snprintf(said, HT_MAX_REASON, "%s", why);
    cli_say(cli, "trial %s/%s %s", study.name, log->trial, why);
}

/* Until the attempt has ended and all of its logs are printed. */
static int follow_logs(struct cli *cli, struct cli_log logs[], size_t n)
{
    struct cli_follow follow;
    char said[HT_MAX_REASON] = "";
    int code = CLI_DONE;
    cli_follow_open(&follow, cli, logs->study, 0);
    for (;;) {
        const bool ended = have_ended(logs, n);
        code = print_logs(cli, logs, n);
        if (code == CLI_DONE && !ended) {
            if (logs[0].offset == 0 && logs[n - 1].offset == 0)
                say_why(cli, logs, said);
            code = cli_follow_pause(&follow, POLL_MS);
        }
        if (code != CLI_DONE || ended)
            break;
        arena_reset(follow.round);
    }
    cli_follow_close(&follow);
    return code;
}

void cli_log_next(struct cli_log *log)
{
    log->attempt++;
    log->offset = 0;
    log->ended = false;
}

int cli_logs_follow(struct cli *cli, const char *study, const char *trial)
{
    struct cli_log log = cli_log_of(study, trial, "stdout", stdout);
    for (;;) {
        int code = follow_logs(cli, &log, 1);
        if (code != CLI_DONE || log.over)
            return code;
        cli_log_next(&log);
    }
}

void cli_log_say_last(struct cli *cli, const char *study, const char *stream)
{
    char *last = arena_strdup(
        cli->arena,
        cli_last_lines(cli_trial_log_tail(cli, study, "1", stream, LOG_TAIL),
                       LOG_LINES));
    if (*last != '\0')
        cli_say(cli, "last lines of %s:", stream);
    for (char *rest = NULL, *line = strtok_r(last, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        cli_say(cli, "  %s", line);
}

static void set_log(const struct cli *cli, struct cli_log *log)
{
    if (cli->set.replica != NULL)
        log->replica = cli->set.replica;
    log->attempt = cli->set.attempt;
    log->tail = cli->set.tail;
    log->patient = cli->set.follow && cli->set.attempt == CLI_UNSET;
}

/* What a trial without an attempt waits for, as an error: there is no log. */
static int refuse_waiting(struct cli *cli, const struct cli_log *log)
{
    struct ht_error err;
    struct cli_study study;
    const struct node *trial;
    enum ht_status status =
        cli_trial_get(cli, log->study, log->trial, &trial, &err);
    if (status == HT_OK)
        status = cli_study_get(cli, log->study, &study, &err);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    const char *why = cli_trial_waits(cli, &study, trial);
    if (why == NULL || cli_trial_newest(trial) != NULL || log->patient)
        return CLI_DONE;
    return cli_fail(cli, CLI_ABSENT, "trial %s/%s %s", study.name, log->trial,
                    why);
}

int cli_logs(struct cli *cli)
{
    const char *stream = cli->set.stream;
    struct cli_log logs[] = {
        cli_log_of(NULL, NULL, stream != NULL ? stream : "stdout", stdout),
        cli_log_of(NULL, NULL, "stderr", stderr)};
    const size_t n = stream != NULL ? 1 : 2;
    struct cli_study study;
    const char *trial;
    int code =
        cli_study_open_trial(cli, cli->args.words.items[0], &study, &trial);
    for (size_t i = 0; code == CLI_DONE && i < n; i++) {
        logs[i].study = study.name;
        logs[i].trial = trial;
        set_log(cli, &logs[i]);
    }
    if (code == CLI_DONE)
        code = refuse_waiting(cli, &logs[0]);
    if (code == CLI_DONE && cli->set.follow)
        return follow_logs(cli, logs, n);
    char said[HT_MAX_REASON] = "";
    if (code == CLI_DONE)
        code = print_logs(cli, logs, n);
    if (code == CLI_DONE && logs[0].offset == 0 && logs[n - 1].offset == 0)
        say_why(cli, logs, said);
    return code;
}
