#include "hypertune/cli_logs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli_commands.h"
#include "hypertune/cli_follow.h"
#include "hypertune/cli_study.h"
#include "proto/clock.h"

enum { CHUNK = 256 * 1024, POLL_MS = 500 };

/* A log being read from `offset` on. */
struct log_reader {
    const char *study, *trial;
    int64_t attempt; /* CLI_UNSET: the newest */
    int64_t offset;
    int64_t tail; /* bytes from the end for the first request, CLI_UNSET */
    bool ended;
    bool patient; /* waits for an attempt that is not there yet */
    bool over;    /* none will come any more */
};

static char *log_path(struct cli *cli, const struct log_reader *reader)
{
    const char *stream = cli->set.stream ? cli->set.stream : "stdout";
    const char *replica = cli->set.replica ? cli->set.replica : "master-0";
    char *path = arena_printf(
        cli->arena, CLI_OURS "/%s/trials/%s/logs?stream=%s&replica=%s&limit=%d",
        cli_http_segment(cli->arena, reader->study), reader->trial,
        cli_http_segment(cli->arena, stream),
        cli_http_segment(cli->arena, replica), CHUNK);
    if (reader->attempt != CLI_UNSET)
        path = arena_printf(cli->arena, "%s&attempt=%lld", path,
                            (long long)reader->attempt);
    if (reader->tail != CLI_UNSET)
        return arena_printf(cli->arena, "%s&tail=%lld", path,
                            (long long)reader->tail);
    return arena_printf(cli->arena, "%s&offset=%lld", path,
                        (long long)reader->offset);
}

/* Line ends and tabs are harmless, everything else that steers is escaped. */
static void escape_log(const char *data, struct text *out)
{
    while (*data != '\0') {
        size_t len = strcspn(data, "\n\t");
        char *piece = strndup(data, len);
        if (piece == NULL)
            abort();
        text_escape(out, piece);
        free(piece);
        text_append(out, data + len, data[len] != '\0');
        data += len + (data[len] != '\0');
    }
}

/* The attempt is not there: it will come unless the study is over. */
static int await_attempt(struct cli *cli, struct log_reader *reader)
{
    struct ht_error err;
    struct cli_study study;
    if (cli_study_get(cli, reader->study, &study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    reader->ended = reader->over = cli_study_is_over(study.state);
    return CLI_DONE;
}

/* Prints the next piece; *more tells whether there was one. */
static int print_piece(struct cli *cli, struct log_reader *reader, bool *more)
{
    struct ht_error err;
    struct cli_http_answer answer;
    enum ht_status status =
        cli_call(cli, "GET", log_path(cli, reader), NULL, &answer, &err);
    *more = false;
    if (status == HT_NOT_FOUND && reader->patient)
        return await_attempt(cli, reader);
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    const char *data = node_get_string(answer.root, "data", "");
    int64_t start = node_get_int(answer.root, "offset", reader->offset);
    int64_t next = node_get_int(answer.root, "next", start);
    if (reader->tail == CLI_UNSET && start > reader->offset)
        cli_say(cli, "[%lld bytes were not kept]",
                (long long)(start - reader->offset));
    reader->tail = CLI_UNSET;
    reader->attempt = node_get_int(answer.root, "attempt", reader->attempt);
    reader->ended = node_get_bool(answer.root, "ended", true);
    *more = next > start;
    reader->offset = next;
    struct text out = {0};
    if (cli->set.raw)
        text_puts(&out, data);
    else
        escape_log(data, &out);
    return cli_print(&out);
}

static int print_all(struct cli *cli, struct log_reader *reader)
{
    bool more = true;
    int code = CLI_DONE;
    while (more && code == CLI_DONE)
        code = print_piece(cli, reader, &more);
    return code;
}

static int follow_log(struct cli *cli, struct log_reader *reader)
{
    struct cli_follow follow;
    int code = CLI_DONE;
    cli_follow_open(&follow, cli, reader->study, 0);
    for (;;) {
        bool ended = reader->ended;
        code = print_all(cli, reader);
        if (code != CLI_DONE || ended)
            break;
        int signal = cli_follow_wait(&follow, -1, POLL_MS);
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
            code = signal == SIGINT ? CLI_INTERRUPTED : CLI_TERMINATED;
            break;
        }
        if (cli_follow_overdue(&follow)) {
            code = CLI_OVERDUE;
            break;
        }
        arena_reset(follow.round);
    }
    cli_follow_close(&follow);
    return code;
}

int cli_logs_follow(struct cli *cli, const char *study, const char *trial)
{
    struct log_reader reader = {.study = study,
                                .trial = trial,
                                .attempt = CLI_UNSET,
                                .tail = CLI_UNSET,
                                .patient = true};
    for (;;) {
        int code = follow_log(cli, &reader);
        if (code != CLI_DONE || reader.over)
            return code;
        reader.attempt++;
        reader.offset = 0;
        reader.ended = false;
    }
}

/* STUDY/ID, or a custom job, whose only trial is its first. */
static int find_trial(struct cli *cli, const char *word,
                      struct log_reader *reader)
{
    struct cli_study study;
    if (cli_study_split(cli, word, &reader->study, &reader->trial))
        return cli_connect(cli);
    int code = cli_study_open(cli, word, &study);
    if (code != CLI_DONE)
        return code;
    if (study.home->kind != JOB_CUSTOM)
        return cli_study_want_trial(cli, word, &reader->study, &reader->trial);
    reader->study = study.name;
    reader->trial = "1";
    return CLI_DONE;
}

int cli_logs(struct cli *cli)
{
    struct log_reader reader = {.attempt = cli->set.attempt,
                                .tail = cli->set.tail};
    if (!cli_wants(cli, 1))
        return CLI_USAGE;
    int code = find_trial(cli, cli->args.words.items[0], &reader);
    if (code == CLI_DONE)
        code = print_all(cli, &reader);
    if (code == CLI_DONE && cli->set.follow)
        code = follow_log(cli, &reader);
    return code;
}
