/* best.c - `best`: finds the best trial, or the trials that no other one beats,
 * for study/trial.h to print; and the result that `run` prints at its end. */

#include "hypertune/cli/spec/submit.h"

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "proto/job/command.h"

/* ---- one best trial ---- */

static int print_one(struct cli *cli, const struct cli_study *study,
                     const struct node *best)
{
    struct text out = {0};
    int code = CLI_DONE;
    if (!cli_trial_table_fields(cli, study, best, &out)) {
        struct ht_error err;
        cli_describe_best(study, best, &out);
        if (cli_confirm_verdict(cli, study, &out, &err) != HT_OK)
            code = cli_fail_error(cli, &err);
    }
    const int printed = cli_print(&out);
    return printed != CLI_DONE ? printed : code;
}

/* ---- trials that no other one beats ---- */

struct front {
    size_t n;
    const struct node **trials;
};

static enum ht_status get_front(struct cli *cli, const struct cli_study *study,
                                struct front *front, struct ht_error *err)
{
    struct cli_http_answer answer;
    const enum ht_status status =
        cli_call(cli, "POST",
                 cli_study_path(cli, study->id, "/trials:listOptimalTrials%s",
                                cli->set.within ? "?within=true" : ""),
                 "{}", &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *list = node_find(answer.root, "optimalTrials");
    const size_t room = list == NULL ? 0 : list->count;
    *front = (struct front){.trials = arena_alloc(cli->arena, room + 1,
                                                  sizeof(const struct node *))};
    NODE_EACH (trial, node_items(list))
        front->trials[front->n++] = trial;
    return HT_OK;
}

/* Best first by one metric, older first among equals. */
static void sort_front(struct front *front, const char *metric, bool maximize)
{
    const double sign = maximize ? 1 : -1;
    for (size_t i = 1; i < front->n; i++) {
        const struct node *trial = front->trials[i];
        const double value = sign * cli_trial_value(trial, metric);
        size_t at = i;
        for (; at > 0 &&
               value > sign * cli_trial_value(front->trials[at - 1], metric);
             at--)
            front->trials[at] = front->trials[at - 1];
        front->trials[at] = trial;
    }
}

/* The metric that --metric names; NULL after saying which is meant. */
static const struct node *find_metric(struct cli *cli,
                                      const struct cli_study *study)
{
    const struct node *list =
        node_find(node_find(study->job, "studySpec"), "metrics");
    const char **names =
        arena_alloc(cli->arena, list->count + 1, sizeof *names);
    size_t n = 0;
    NODE_EACH (metric, list->first) {
        names[n++] = node_get_string(metric, "metricId", "");
        if (strcmp(names[n - 1], cli->set.metric) == 0)
            return metric;
    }
    cli_study_refuse(cli, study, "metric ", cli->set.metric, names);
    return NULL;
}

/* Why there is none. */
static int fail_without(struct cli *cli, const struct cli_study *study)
{
    const long long ended =
        cli_study_count(study, "succeeded") + cli_study_count(study, "stopped");
    if (cli->set.within && study->best != NULL)
        return cli_fail(cli, CLI_ABSENT,
                        "study \"%s\" has no best trial inside the space as it "
                        "is now",
                        study->name);
    if (ended > 0)
        return cli_fail(cli, CLI_ABSENT,
                        "study \"%s\" has no trial within its bounds (%lld "
                        "succeeded outside)",
                        study->name, ended);
    return cli_fail(cli, CLI_ABSENT,
                    "study \"%s\" has no succeeded trial yet (%lld running)",
                    study->name, cli_study_count(study, "active"));
}

static int print_front(struct cli *cli, const struct cli_study *study)
{
    struct front front;
    struct ht_error err;
    if (get_front(cli, study, &front, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (front.n == 0)
        return fail_without(cli, study);
    if (cli->set.metric != NULL) {
        const struct node *metric = find_metric(cli, study);
        if (metric == NULL)
            return CLI_USAGE;
        const char *goal = node_get_string(metric, "goal", "");
        sort_front(&front, cli->set.metric, strcmp(goal, "MINIMIZE") != 0);
        return print_one(cli, study, front.trials[0]);
    }
    if (cli->format == FORMAT_ARGS && front.n > 1)
        return cli_fail(cli, CLI_USAGE,
                        "no other trial beats any of these %zu: choose one "
                        "with --metric NAME, the best in that",
                        front.n);
    sort_front(&front, study->metric, study->maximize);
    return cli_trial_table_print(cli, study, front.n, front.trials);
}

static int print_best(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    const struct node *best = study->best;
    if (best == NULL)
        return fail_without(cli, study);
    if (study->front != NULL)
        return print_front(cli, study);
    if (cli->set.metric != NULL && strcmp(cli->set.metric, study->metric) != 0)
        return cli_fail(cli, CLI_USAGE, "study %s has one goal, %s",
                        study->name, study->metric);
    if (cli->set.within &&
        cli_get(cli, cli_study_path(cli, study->id, "/best?within=true"), &best,
                &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return print_one(cli, study, best);
}

/* The best of few is less than it looks like. */
int cli_best(struct cli *cli)
{
    struct cli_study study;
    int code = cli_study_open_trials(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    code = print_best(cli, &study);
    if (code == CLI_DONE && cli_study_failed_mostly(&study)) {
        struct text failures = {0};
        cli_study_failures(&study, ", ", &failures);
        cli_say(cli, "study %s %s%s", study.name, study.state,
                text_take(&failures, cli->arena));
    }
    return code;
}

/* ---- at the end of a run ---- */

static void add_word(const char *word, struct text *out)
{
    text_puts(out, " ");
    text_shell_word(out, word);
}

/* Appends the user's own command with this trial's values, which some specs
 * hand over in variables. */
static void add_command(struct cli *cli, const struct cli_spec *spec,
                        const struct node *trial, struct text *out)
{
    const struct job *job = spec->job;
    const struct node *params =
        node_find(node_find(trial, "hypertune"), "params");
    struct value *point =
        arena_alloc(cli->arena, job->space.n + 1, sizeof *point);
    if (job->pools[0].image != NULL ||
        space_point_restore(&job->space, params, point, NULL) != HT_OK)
        return;
    struct strings words =
        command_line(cli->arena, job, &job->pools[0], point, 0);
    struct pairs env = command_env(cli->arena, job, &job->pools[0], point, 0);
    text_puts(out, env.n > 0 ? "again: env" : "again:");
    for (size_t i = 0; i < env.n; i++)
        add_word(arena_printf(cli->arena, "%s=%s", env.items[i].name,
                              env.items[i].value),
                 out);
    for (size_t i = 0; i < words.n; i++)
        add_word(words.items[i], out);
    text_puts(out, "\n");
}

int cli_best_of_run(struct cli *cli, const struct cli_spec *spec,
                    const char *name, int code)
{
    struct ht_error err;
    struct cli_study study;
    struct text out = {0}, failures = {0};
    if (cli_study_get(cli, name, &study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const struct node *best = study.best;
    cli_study_failures(&study, "; ", &failures);
    cli_study_stops(&study, "; ", &failures);
    cli_say(cli, "study %s %s%s%s%s", study.name, study.state,
            study.reason[0] != '\0' ? ": " : "", study.reason,
            text_take(&failures, cli->arena));
    if (best == NULL) {
        const char *advice = cli_study_is_over(study.state)
                                 ? cli_control_advice(cli, &study)
                                 : NULL; /* else it was said */
        cli_say(cli,
                "no trial succeeded; see: hypertune trials %s%s   "
                "hypertune logs %s/1%s%s%s",
                study.name, cli_where(cli), study.name, cli_where(cli),
                advice == NULL ? "" : "\n", advice == NULL ? "" : advice);
        return code;
    }
    if (study.front != NULL) {
        const int printed = print_front(cli, &study);
        return printed != CLI_DONE ? printed : code;
    }
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL) {
        json_print(json_of_node(best), &out);
        text_puts(&out, "\n");
    } else if (cli->format == FORMAT_ARGS) {
        cli_trial_args(best, &out);
        text_puts(&out, "\n");
    } else {
        cli_describe_best(&study, best, &out);
        add_command(cli, spec, best, &out);
    }
    int printed = cli_print(&out);
    return printed != CLI_DONE ? printed : code;
}
