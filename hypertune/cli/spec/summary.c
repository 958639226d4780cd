#include "hypertune/cli/spec/summary.h"

#include "hypertune/cli/spec/best.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/trial.h"
#include "proto/doc/json.h"
#include "proto/job/command.h"

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
        space_point_read(&job->space, params, point, NULL) != HT_OK)
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

static void say_end(struct cli *cli, const struct cli_study *study)
{
    struct text out = {0};
    const char *reason = node_get_string(study->status, "reason", "");
    text_puts(&out, reason[0] != '\0' ? ": " : "");
    text_puts(&out, reason);
    cli_study_failures(study, "; ", &out);
    cli_say(cli, "study %s %s%s", study->name, study->state, out.data);
    text_free(&out);
}

int cli_summary_run(struct cli *cli, const struct cli_spec *spec,
                    const char *name, int code)
{
    struct ht_error err;
    struct cli_study study;
    struct text out = {0};
    if (cli_study_get(cli, name, &study, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const struct node *best = node_find(study.status, "best");
    say_end(cli, &study);
    if (best == NULL) {
        cli_say(cli,
                "no trial succeeded; see: hypertune trials %s%s   "
                "hypertune logs %s/1%s",
                study.name, cli_where(cli), study.name, cli_where(cli));
        return code;
    }
    if (cli_study_has_front(&study)) {
        const int printed = cli_best_front(cli, &study);
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
