/* local_run.c - `local-run`: one trial on a temporary server, which ends with
 * the command. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/spec/local_server.h"
#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/study/follow.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/base/number.h"

static const char job_name[] = "local-run";

enum {
    GRACE_MS = 10000,    /* as long as `docker stop` waits */
    PATIENCE_MS = 30000, /* for a trial that the grace does not end */
    POLL_MS = 500,
    STREAMS = 3
};

/* One run: the request, and the server that runs it. */
struct local_run {
    struct cli *cli;
    const char *image; /* NULL: a process */
    struct strings words;
    struct cli_engine engine; /* with an image */
    struct local_server server;
    struct cli_follow follow;
    int broken; /* CLI_DONE, or why it was broken off */
};

/* ---- the request ---- */

static int read_words(struct local_run *run)
{
    struct cli *cli = run->cli;
    const struct words *words = &cli->args.words;
    const struct words *rest = &cli->args.rest;
    struct words all = {0};
    if (words->n == 0 && rest->n == 0)
        return cli_usage(cli);
    run->image = words->n > 0 ? words->items[0] : NULL;
    for (size_t i = 1; i < words->n; i++)
        words_add(cli->lasting, &all, words->items[i]);
    for (size_t i = 0; i < rest->n; i++)
        words_add(cli->lasting, &all, rest->items[i]);
    run->words = (struct strings){all.n, all.items};
    if (run->image == NULL && cli->set.volumes.n > 0)
        return cli_fail(cli, CLI_USAGE, "--volume is for images");
    if (run->image != NULL && !cli_engine_find(cli, &run->engine))
        return cli_fail(cli, CLI_NO_START,
                        "no container engine answers on this machine; "
                        "hypertune doctor says more");
    return CLI_DONE;
}

/* "SOURCE:TARGET[:ro]" with an absolute source; its folder is added to the
 * roots below which volumes may lie. */
static int read_volume(struct local_run *run, const char *text,
                       const char **volume, struct text *roots)
{
    struct cli *cli = run->cli;
    struct stat info;
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] != '/')
        return cli_fail(cli, CLI_USAGE,
                        "--volume needs FOLDER:/FOLDER[:ro], not \"%s\"", text);
    char *real = realpath(
        arena_strndup(cli->lasting, text, (size_t)(colon - text)), NULL);
    if (real == NULL || stat(real, &info) != 0) {
        free(real);
        return cli_fail(cli, CLI_USAGE, "--volume %s: %s", text,
                        strerror(errno));
    }
    *volume = arena_printf(cli->lasting, "%s%s", real, colon);
    if (!S_ISDIR(info.st_mode))
        strrchr(real, '/')[strrchr(real, '/') == real] = '\0';
    bool clean = strchr(real, ',') == NULL;
    text_printf(roots, "%s%s", roots->len > 0 ? "," : "", real);
    free(real);
    return clean ? CLI_DONE
                 : cli_fail(cli, CLI_USAGE,
                            "--volume %s: a comma in a folder's name is not "
                            "possible",
                            text);
}

static int read_volumes(struct local_run *run, struct strings *volumes,
                        const char **roots)
{
    struct cli *cli = run->cli;
    const struct words *asked = &cli->set.volumes;
    const char **items = arena_alloc(cli->lasting, asked->n + 1, sizeof *items);
    struct text list = {0};
    int code = CLI_DONE;
    for (size_t i = 0; i < asked->n && code == CLI_DONE; i++)
        code = read_volume(run, asked->items[i], &items[i], &list);
    *volumes = (struct strings){asked->n, items};
    *roots = list.len > 0 ? arena_strdup(cli->lasting, list.data) : NULL;
    text_free(&list);
    return code;
}

static int read_env(struct cli *cli, struct pairs *env)
{
    const struct words *asked = &cli->set.env;
    struct pair *items = arena_alloc(cli->lasting, asked->n + 1, sizeof *items);
    for (size_t i = 0; i < asked->n; i++) {
        const char *equals = strchr(asked->items[i], '=');
        if (equals == NULL || equals == asked->items[i])
            return cli_fail(cli, CLI_USAGE,
                            "--env needs NAME=VALUE, not \"%s\"",
                            asked->items[i]);
        items[i].name = arena_strndup(cli->lasting, asked->items[i],
                                      (size_t)(equals - asked->items[i]));
        items[i].value = equals + 1;
    }
    *env = (struct pairs){asked->n, items};
    return CLI_DONE;
}

/* ---- the job ---- */

/* With --metric it is the one trial of a study, as a trainer that is to be
 * tuned would be started; its one parameter is no argument. */
static void make_study(struct cli *cli, struct job *job)
{
    static const double one = 1;
    struct param *param = arena_alloc(cli->lasting, 1, sizeof *param);
    struct metric_goal *goal = arena_alloc(cli->lasting, 1, sizeof *goal);
    *param = (struct param){.name = "trial",
                            .type = PARAM_DISCRETE,
                            .n_values = 1,
                            .numbers = &one};
    *goal = (struct metric_goal){.name = cli->set.metric, .maximize = true};
    job->kind = JOB_TUNING;
    job->space = (struct space){.n = 1, .params = param};
    job->metrics = goal;
    job->n_metrics = 1;
    job->args_mode = ARGS_NONE;
}

static int make_job(struct local_run *run, struct pool *pool, struct job *job)
{
    struct cli *cli = run->cli;
    *pool = (struct pool){.type = "master",
                          .count = 1,
                          .image = run->image,
                          .gpus = cli->set.gpus > 0 ? cli->set.gpus : 0};
    *(run->image != NULL ? &pool->args : &pool->command) = run->words;
    *job = (struct job){.kind = JOB_CUSTOM,
                        .name = job_name,
                        .display = job_name,
                        .max_trials = 1,
                        .parallel = 1,
                        .grace_ms = GRACE_MS,
                        .n_pools = 1,
                        .pools = pool};
    if (cli->set.metric != NULL)
        make_study(cli, job);
    if (cli->set.memory != NULL &&
        !number_bytes(cli->set.memory, &job->memory_bytes))
        return cli_fail(cli, CLI_USAGE,
                        "--memory needs a size such as 2Gi, not \"%s\"",
                        cli->set.memory);
    int code = read_env(cli, &pool->env);
    if (code != CLI_DONE)
        return code;
    struct diag diag;
    diag_init(&diag, cli->lasting, "command line", NULL, 0);
    const struct cli_launch launch = {
        .cli = cli, .diag = &diag, .folder = cli_spec_folder(cli)};
    cli_launch_settle(&launch, job);
    cli_spec_print_diag(&diag);
    return diag.errors == 0 ? CLI_DONE : CLI_USAGE;
}

/* ---- the run ---- */

/* Prints the new output; *over: there will be no more. */
static int print_news(struct cli *cli, struct cli_log logs[STREAMS], bool *over)
{
    bool ended = true;
    *over = true;
    for (size_t i = 0; i < STREAMS; i++) {
        int code = cli_log_print(cli, &logs[i]);
        if (code != CLI_DONE)
            return code;
        ended = ended && logs[i].ended;
        *over = *over && logs[i].over;
    }
    for (size_t i = 0; ended && !*over && i < STREAMS; i++)
        cli_log_next(&logs[i]);
    return CLI_DONE;
}

/* Until the trial has ended; Ctrl-C and --timeout stop it. */
static int follow(struct local_run *run)
{
    struct cli *cli = run->cli;
    struct cli_log logs[STREAMS] = {
        cli_log_of(job_name, "1", "stdout", stdout),
        cli_log_of(job_name, "1", "stderr", stderr),
        cli_log_of(job_name, "1", "runner", stderr)};
    for (;;) {
        bool over;
        int code = print_news(cli, logs, &over);
        if (code != CLI_DONE || over)
            return code;
        code = cli_follow_pause(&run->follow, POLL_MS);
        if (code == CLI_OVERDUE && run->broken != CLI_DONE)
            return cli_fail(cli, CLI_REFUSED, "it does not end");
        if (code != CLI_DONE && run->broken == CLI_DONE) {
            run->broken = code;
            cli_say(cli, "stopping it...");
            cli_control_post(cli, job_name, "stop", NULL);
            run->follow.deadline_ms =
                clock_monotonic_ms() + GRACE_MS + PATIENCE_MS;
        }
        arena_reset(run->follow.round);
    }
}

/* ---- the result ---- */

struct last_value {
    const char *name;
    const char *value, *step;
};

enum { MOST_METRICS = 16 };

struct newest { /* of each metric, in the order of their first reports */
    struct last_value values[MOST_METRICS];
    size_t n;
    size_t reports;
};

static bool take_measurement(const struct node *one, void *context)
{
    struct newest *newest = context;
    newest->reports++;
    NODE_EACH (metric, node_first(one, "metrics")) {
        size_t i = 0;
        while (i < newest->n &&
               strcmp(newest->values[i].name, metric->key) != 0)
            i++;
        if (i == MOST_METRICS)
            continue;
        newest->n += i == newest->n;
        newest->values[i] =
            (struct last_value){metric->key, cli_scalar(metric),
                                cli_scalar(node_find(one, "step"))};
    }
    return true;
}

/* Shows the reported metrics; *seen: the one of --metric is among them. */
static int say_metrics(struct cli *cli, bool *seen)
{
    struct newest newest = {.n = 0};
    struct ht_error err;
    const struct cli_pages pages = {
        .path = cli_study_path(cli, job_name, "/measurements?trial=1"),
        .key = "measurements",
        .keep = true};
    if (cli_pages_each(cli, &pages, take_measurement, &newest, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    *seen = cli->set.metric == NULL;
    struct text line = {0};
    for (size_t i = 0; i < newest.n; i++) {
        const struct last_value *value = &newest.values[i];
        *seen = *seen || strcmp(value->name, cli->set.metric) == 0;
        text_printf(&line, "%s%s=%s (step %s)", i > 0 ? ", " : "", value->name,
                    value->value, value->step);
    }
    if (newest.n > 0)
        cli_say(cli, "reported: %s; %zu measurement%s", line.data,
                newest.reports, newest.reports == 1 ? "" : "s");
    else
        cli_say(cli, "reported: nothing");
    text_free(&line);
    return CLI_DONE;
}

/* The exit code that its process had, as a shell counts. */
static int code_of(const struct node *attempt)
{
    int64_t signal = node_get_int(attempt, "signal", 0);
    int64_t code = node_get_int(attempt, "exit", -1);
    if (signal > 0)
        return 128 + (int)signal;
    if (code >= 0)
        return (int)code;
    return strcmp(node_get_string(attempt, "outcome", ""), "succeeded") == 0
               ? CLI_DONE
               : CLI_NO_START;
}

static int report_end(struct local_run *run)
{
    struct cli *cli = run->cli;
    char span[CLOCK_DURATION_BYTES];
    const struct node *trial;
    struct ht_error err;
    if (cli_trial_get(cli, job_name, "1", &trial, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const struct node *attempt = cli_trial_newest(trial);
    bool seen = false;
    int failed = say_metrics(cli, &seen);
    if (failed != CLI_DONE)
        return failed;
    int64_t start = node_get_int(attempt, "startTimeMs", 0);
    int64_t end = node_get_int(attempt, "endTimeMs", 0);
    const char *reason = node_get_string(attempt, "reason", "");
    if (reason[0] == '\0')
        reason = node_get_string(attempt, "outcome", "it was not started");
    if (start > 0 && end > start)
        cli_say(cli, "%s, after %s", reason, clock_duration(span, end - start));
    else
        cli_say(cli, "%s", reason);
    if (run->broken != CLI_DONE)
        return run->broken;
    int code = code_of(attempt);
    if (code == CLI_DONE && !seen)
        return cli_fail(cli, CLI_FAILED, "the metric \"%s\" was not reported",
                        cli->set.metric);
    return code;
}

int cli_local_run(struct cli *cli)
{
    struct local_run run = {.cli = cli, .server = {.cli = cli}};
    struct pool pool;
    struct job job;
    const char *roots;
    struct ht_error err;
    struct cli_study study;
    int code = read_words(&run);
    if (code == CLI_DONE)
        code = make_job(&run, &pool, &job);
    if (code == CLI_DONE)
        code = read_volumes(&run, &job.volumes, &roots);
    if (code != CLI_DONE)
        return code;
    /* Signals wait from here on, so that nothing is left behind. */
    cli_follow_open(&run.follow, cli, job_name, 0);
    code =
        local_server_start(&run.server, run.image ? &run.engine : NULL, roots);
    if (code == CLI_DONE) {
        if (cli_submit_create(cli, &job, &study, &err) != HT_OK)
            code = cli_fail_error(cli, &err);
        else
            cli_submit_say_warnings(cli, &study);
        if (code == CLI_DONE)
            code = follow(&run);
        if (code == CLI_DONE)
            code = report_end(&run);
        local_server_stop(&run.server, cli->set.keep);
    }
    cli_follow_close(&run.follow);
    return code;
}
