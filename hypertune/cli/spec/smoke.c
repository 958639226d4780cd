/* smoke.c - `submit --smoke` and `check --smoke`: one trial before the study.
 */

#include <string.h>

#include "hypertune/cli/live/live.h"
#include "hypertune/cli/spec/code.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/follow.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/base/token.h"

enum {
    TIMEOUT_MS = 120000, /* without --timeout */
    LOOK_MS = 500,       /* between looks at the objective */
    ENOUGH = 2           /* reports of it */
};

struct smoke {
    struct cli *cli;
    const struct cli_spec *spec;
    const char *study;
    int64_t seen;     /* reports of the objective so far */
    int64_t step_ms;  /* between the first two, 0: not known */
    int64_t limit_ms; /* time that the trial has */
    bool stopped;     /* by us, as it had reported enough */
    bool overdue;
};

/* ---- the trial runs ---- */

/* Counts the reports of the objective, and the time between the first two. */
static void look(struct smoke *smoke)
{
    struct cli *cli = smoke->cli;
    const struct node *root;
    int64_t first_ms = 0;
    if (cli_get(cli, cli_study_path(cli, smoke->study, "/measurements?trial=1"),
                &root, NULL) != HT_OK)
        return;
    smoke->seen = 0;
    NODE_EACH (one, node_first(root, "measurements")) {
        const int64_t time_ms = node_get_int(one, "timeMs", 0);
        if (node_find(node_find(one, "metrics"),
                      smoke->spec->job->metrics[0].name) == NULL)
            continue;
        if (smoke->seen++ == 0)
            first_ms = time_ms;
        else if (smoke->seen == ENOUGH)
            smoke->step_ms = time_ms - first_ms;
    }
}

static void stop_when_enough(struct smoke *smoke, struct cli_follow *follow)
{
    if (smoke->stopped || smoke->cli->set.full)
        return;
    cli_follow_begin(follow);
    look(smoke);
    if (smoke->seen >= ENOUGH)
        smoke->stopped =
            cli_control_post(smoke->cli, smoke->study, "stop", NULL) == HT_OK;
    cli_follow_finish(follow, false);
}

/* CLI_DONE once the trial has ended or time is up. */
static int follow_rounds(struct smoke *smoke, struct cli_follow *follow)
{
    for (;;) {
        struct ht_error err;
        struct cli_study study;
        const struct node *events = NULL;
        const enum ht_status status =
            cli_follow_round(follow, &study, &events, &err);
        if (status != HT_OK && status != HT_UNAVAILABLE)
            return cli_fail_error(smoke->cli, &err);
        if (status == HT_OK && cli_study_is_over(study.state))
            return CLI_DONE;
        if (status == HT_OK)
            stop_when_enough(smoke, follow);
        const int code = cli_follow_pause(follow, LOOK_MS);
        smoke->overdue = code == CLI_OVERDUE;
        if (code != CLI_DONE)
            return smoke->overdue ? CLI_DONE : code;
    }
}

static int follow(struct smoke *smoke)
{
    struct cli_follow follow;
    const int64_t timeout_ms = smoke->cli->set.timeout_ms;
    smoke->limit_ms = timeout_ms == CLI_UNSET ? TIMEOUT_MS : timeout_ms;
    smoke->cli->set.timeout_ms = smoke->limit_ms;
    cli_follow_open(&follow, smoke->cli, smoke->study, 0);
    const int code = follow_rounds(smoke, &follow);
    cli_follow_close(&follow);
    smoke->cli->set.timeout_ms = CLI_UNSET; /* the clean-up has its own time */
    if (smoke->overdue) {
        cli_control_post(smoke->cli, smoke->study, "stop", NULL);
        cli_watch_wait(smoke->cli, smoke->study);
    }
    smoke->cli->set.timeout_ms = timeout_ms;
    return code;
}

/* ---- the report ---- */

/* How long a trial takes is known of one that ended by itself. */
static void say_estimate(const struct smoke *smoke, const struct node *trial)
{
    char span[CLOCK_DURATION_BYTES], whole[CLOCK_DURATION_BYTES];
    const struct job *job = smoke->spec->job;
    const int64_t took_ms = cli_trial_elapsed(trial, 0);
    const int64_t rounds =
        (job->max_trials + job->parallel - 1) / job->parallel;
    if (smoke->step_ms > 0)
        cli_say(smoke->cli, "smoke: %s between reports",
                clock_duration(span, smoke->step_ms));
    if (smoke->stopped || smoke->overdue)
        cli_say(smoke->cli,
                "smoke: the trial was stopped; with --full%s it "
                "tells how long the study takes",
                smoke->overdue ? " and a longer --timeout" : "");
    else
        cli_say(smoke->cli,
                "smoke: %lld trials, %lld at a time, may take about %s",
                (long long)job->max_trials, (long long)job->parallel,
                clock_duration(whole, rounds * took_ms));
}

static int say_success(const struct smoke *smoke, const struct node *trial)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    cli_say(smoke->cli,
            "smoke: one trial ran in %s and reported %s=%.6g (step %s)",
            clock_duration(span, cli_trial_elapsed(trial, 0)),
            smoke->spec->job->metrics[0].name, cli_trial_score(trial),
            cli_scalar(node_find(ours, "step")));
    say_estimate(smoke, trial);
    return CLI_DONE;
}

static void say_seen(struct cli *cli, const struct node *ours)
{
    struct text lines = {0};
    const struct node *metrics =
        node_find(node_find(ours, "latest"), "metrics");
    const struct node *doctor = node_find(ours, "doctor");
    cli_describe_doctor(doctor, &lines);
    /* A trial that did not end by itself was not examined. */
    if (doctor == NULL && metrics == NULL)
        text_puts(&lines, "  seen      no metric\n");
    NODE_EACH (metric, doctor == NULL ? node_items(metrics) : NULL)
        text_printf(&lines, "  seen      %s = %s\n", metric->key,
                    cli_scalar(metric));
    cli_say(cli, "%.*s", (int)lines.len - 1, lines.data);
    text_free(&lines);
}

/* The cause, without the metrics of say_seen(): a reason with a diagnosis
 * contains them. */
static int say_failure(const struct smoke *smoke, const struct node *trial)
{
    char span[CLOCK_DURATION_BYTES];
    struct cli *cli = smoke->cli;
    const struct node *ours = node_find(trial, "hypertune");
    const char *metric = smoke->spec->job->metrics[0].name;
    const char *reason = node_get_string(ours, "reason", "");
    const char *state = cli_trial_state(trial);
    if (smoke->overdue)
        return cli_fail(cli, CLI_OVERDUE,
                        "smoke: the trial did not report %s within %s; "
                        "--timeout gives it more",
                        metric, clock_duration(span, smoke->limit_ms));
    if (node_find(ours, "doctor") != NULL && strcmp(state, "INFEASIBLE") == 0)
        return cli_fail(cli, CLI_FAILED,
                        "smoke: the trial ended without reporting %s", metric);
    return cli_fail(cli, CLI_FAILED, "smoke: the trial ended %s%s%s", state,
                    reason[0] != '\0' ? ": " : "", reason);
}

static int report_end(const struct smoke *smoke, const struct node *trial)
{
    struct cli *cli = smoke->cli;
    const struct node *ours = node_find(trial, "hypertune");
    if (node_find(ours, "objective") != NULL &&
        (strcmp(cli_trial_state(trial), "SUCCEEDED") == 0 || smoke->stopped ||
         smoke->overdue))
        return say_success(smoke, trial);
    const int code = say_failure(smoke, trial);
    say_seen(cli, ours);
    cli_log_say_last(cli, smoke->study, "stdout");
    cli_log_say_last(cli, smoke->study, "stderr");
    return code;
}

static void remove_study(struct cli *cli, const char *name)
{
    struct ht_error err;
    struct cli_study study;
    if (cli_study_get(cli, name, &study, &err) != HT_OK)
        return;
    if (!cli_study_is_over(study.state)) {
        bool quiet = cli->set.quiet;
        cli_control_post(cli, name, "cancel", NULL);
        cli->set.quiet = true;
        cli_watch_wait(cli, name);
        cli->set.quiet = quiet;
    }
    if (cli_control_remove(cli, &study, &err) != HT_OK)
        cli_say(cli, "study %s could not be removed: %s", name, err.text);
}

static int submit(struct smoke *smoke)
{
    struct cli *cli = smoke->cli;
    struct cli_study study;
    int code = cli_connect(cli);
    if (code == CLI_DONE)
        code = cli_code_send(cli, smoke->spec);
    if (code != CLI_DONE)
        return code;
    struct job job = *smoke->spec->job;
    struct cli_spec one = *smoke->spec;
    job.name = arena_printf(cli->arena, "%.64s-smoke-%08x", job.name,
                            (unsigned)(token_random64() & 0xFFFFFFFFu));
    job.display = job.name;
    job.max_trials = job.parallel = 1;
    job.retries = 0;
    one.job = &job;
    smoke->study = job.name;
    cli_say(cli, "smoke: running one trial...");
    const bool quiet = cli->set.quiet;
    cli->set.quiet = true;
    code = cli_submit_spec(cli, &one, &study);
    cli->set.quiet = quiet;
    return code;
}

int cli_smoke(struct cli *cli, const struct cli_spec *spec)
{
    struct ht_error err;
    const struct node *trial;
    struct smoke smoke = {.cli = cli, .spec = spec};
    if (spec->job->kind == JOB_CUSTOM)
        return cli_fail(cli, CLI_USAGE,
                        "--smoke runs one trial of a search; run this job: "
                        "hypertune run %s",
                        spec->file);
    int code = cli_sbatch_try(cli, spec->job);
    if (code == CLI_DONE)
        code = cli_kube_try(cli, spec->job);
    if (code == CLI_DONE)
        code = submit(&smoke);
    if (code != CLI_DONE)
        return code;
    code = follow(&smoke);
    if (code == CLI_DONE) {
        look(&smoke);
        code = cli_trial_get(cli, smoke.study, "1", &trial, &err) == HT_OK
                   ? report_end(&smoke, trial)
                   : cli_fail_error(cli, &err);
    }
    remove_study(cli, smoke.study);
    return code;
}
