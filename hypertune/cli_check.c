#include <stdio.h>
#include <string.h>

#include "hypertune/cli_commands.h"
#include "hypertune/cli_control.h"
#include "hypertune/cli_output.h"
#include "hypertune/cli_spec.h"
#include "hypertune/cli_study.h"
#include "hypertune/cli_submit.h"
#include "hypertune/cli_watch.h"
#include "proto/clock.h"
#include "proto/json.h"
#include "proto/token.h"

enum { LOG_TAIL = 2000, LOG_LINES = 8 };

static int show_plan(struct cli *cli, const struct cli_spec *spec)
{
    struct text out = {0};
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL ||
        cli->format == FORMAT_YAML) {
        struct text json = {0};
        struct diag diag;
        json_print(job_write_native(spec->job), &json);
        diag_init(&diag, cli->arena, "job", json.data, json.len);
        cli_output_resource(
            cli->format, node_read_json(cli->arena, json.data, json.len, &diag),
            &out);
        text_free(&json);
    } else {
        cli_spec_describe(cli, spec, &out);
    }
    return cli_print(&out);
}

/* ---- one real trial ---- */

/* What the trial printed last, so that a person sees why. */
static void show_log(struct cli *cli, const char *study, const char *stream)
{
    char *data = arena_strdup(
        cli->arena, cli_trial_log_tail(cli, study, "1", stream, LOG_TAIL));
    char *start = data + strlen(data);
    for (int lines = 0; start > data; start--) {
        if (start[-1] == '\n' && ++lines == LOG_LINES)
            break;
    }
    if (*start == '\0')
        return;
    cli_say(cli, "last lines of %s:", stream);
    char *rest = NULL;
    for (char *line = strtok_r(start, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        cli_say(cli, "  %s", line);
}

static void show_metrics(struct cli *cli, const struct node *trial)
{
    struct text seen = {0};
    const struct node *metrics = node_find(
        node_find(node_find(trial, "hypertune"), "latest"), "metrics");
    for (const struct node *metric = metrics ? metrics->first : NULL;
         metric != NULL; metric = metric->next)
        text_printf(&seen, " %s=%s", metric->key, cli_scalar(metric));
    cli_say(cli, "metrics seen:%s", seen.len > 0 ? seen.data : " none");
    text_free(&seen);
}

static int judge(struct cli *cli, const struct cli_spec *spec,
                 const struct node *trial, const char *study)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    const struct metric_goal *goal = &spec->job->metrics[0];
    bool succeeded = strcmp(cli_trial_state(trial), "SUCCEEDED") == 0;
    if (succeeded && node_find(ours, "objective") != NULL) {
        struct text value = {0};
        cli_trial_objective(trial, &value);
        cli_say(cli, "smoke: one trial ran in %s and reported %s=%s (step %s)",
                clock_duration(span, cli_trial_elapsed(trial, 0)), goal->name,
                value.data, cli_scalar(node_find(ours, "step")));
        text_free(&value);
        return CLI_DONE;
    }
    cli_fail(cli, CLI_FAILED, "smoke: the trial ended %s%s%s",
             cli_trial_state(trial),
             node_get_string(ours, "reason", "")[0] ? ": " : "",
             node_get_string(ours, "reason", ""));
    if (node_find(ours, "objective") == NULL)
        cli_say(cli, "the objective \"%s\" was not seen", goal->name);
    show_metrics(cli, trial);
    show_log(cli, study, "stdout");
    show_log(cli, study, "stderr");
    return CLI_FAILED;
}

static void remove_study(struct cli *cli, const char *name)
{
    struct ht_error err;
    struct cli_study study;
    struct cli_http_answer answer;
    if (cli_study_get(cli, name, &study, &err) != HT_OK)
        return;
    if (!cli_study_is_over(study.state)) {
        bool quiet = cli->set.quiet;
        cli_control_post(cli, name, "cancel", NULL);
        cli->set.quiet = true;
        cli_watch_wait(cli, name);
        cli->set.quiet = quiet;
    }
    char *path = arena_printf(cli->arena, CLI_JOBS "/%s",
                              cli_http_segment(cli->arena, name));
    if (cli_call(cli, "DELETE", path, NULL, &answer, &err) != HT_OK)
        cli_say(cli, "study %s could not be removed: %s", name, err.text);
}

static int smoke(struct cli *cli, const struct cli_spec *spec)
{
    struct ht_error err;
    struct cli_study study;
    enum submit_result result;
    const struct node *trial;
    struct job job = *spec->job;
    struct cli_spec one = *spec;
    job.name = arena_printf(cli->arena, "%.64s-smoke-%08x", spec->job->name,
                            (unsigned)(token_random64() & 0xFFFFFFFFu));
    job.display = job.name;
    job.max_trials = job.parallel = 1;
    job.retries = 0;
    one.job = &job;
    cli_say(cli, "smoke: running one trial...");
    bool quiet = cli->set.quiet;
    cli->set.quiet = true;
    int code = cli_submit_spec(cli, &one, &study, &result);
    cli->set.quiet = quiet;
    if (code != CLI_DONE)
        return code;
    code = cli_watch_wait(cli, job.name);
    if (code == CLI_DONE || code == CLI_FAILED) {
        code = cli_trial_get(cli, job.name, "1", &trial, &err) == HT_OK
                   ? judge(cli, spec, trial, job.name)
                   : cli_fail_error(cli, &err);
    }
    remove_study(cli, job.name);
    return code;
}

int cli_check(struct cli *cli)
{
    struct cli_spec spec;
    int code = cli_spec_load(cli, &spec);
    if (code == CLI_DONE)
        code = show_plan(cli, &spec);
    return code == CLI_DONE && cli->set.smoke ? smoke(cli, &spec) : code;
}
