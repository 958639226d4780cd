/* trials.c - `trials` and `trial`: the trials of a study as a table, and one of
 * them in words. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/filter.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/words.h"

enum { DEFAULT_LIMIT = 50, MOST_A_PAGE = 1000 };

/* The trials that were asked for, in order. */
struct selection {
    struct cli *cli;
    const struct cli_study *study;
    struct cli_filter *filter; /* NULL: all */
    size_t limit;              /* rows to show, 0: all */
    size_t n;
    bool more; /* more match than are kept */
    const struct node **trials;
    size_t n_others;
    const char **others; /* metrics that are no goal */
};

/* Without an order to make, what comes behind the limit is not asked for. */
static bool select_trial(const struct node *trial, void *context)
{
    struct selection *selection = context;
    if (selection->filter != NULL || selection->cli->set.sort != NULL)
        selection->others =
            cli_trial_others(selection->cli, selection->study, trial,
                             selection->others, &selection->n_others);
    if (selection->filter != NULL &&
        !cli_filter_match(selection->filter, trial))
        return true;
    selection->more = selection->limit > 0 && selection->n >= selection->limit;
    if (selection->more && selection->cli->set.sort == NULL)
        return false;
    selection->trials = arena_grow(selection->cli->arena, selection->trials,
                                   selection->n, sizeof(const struct node *));
    selection->trials[selection->n++] = trial;
    return true;
}

/* Keys that --sort and --where may use. */
static const char *const *trial_keys(struct cli *cli,
                                     const struct selection *selection)
{
    static const char *const own[] = {"id", "state", "step", "time",
                                      "objective"};
    const struct cli_study *study = selection->study;
    struct cli_parameters parameters;
    cli_parameters_read(study->job, &parameters);
    size_t n = 0, metrics = 0;
    NODE_EACH (metric, study->metrics)
        metrics++;
    const char **keys = arena_alloc(cli->arena,
                                    sizeof own / sizeof *own + metrics +
                                        selection->n_others + parameters.n + 1,
                                    sizeof *keys);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        keys[n++] = own[i];
    NODE_EACH (metric, study->metrics)
        keys[n++] = node_get_string(metric, "metricId", "");
    for (size_t i = 0; i < selection->n_others; i++)
        keys[n++] = selection->others[i];
    for (size_t i = 0; i < parameters.n; i++)
        keys[n++] = parameters.items[i].name;
    return keys;
}

/* A wrong word is an error, not an empty table. Writes the key to sort by:
 * "best" is the objective in the direction of its goal, unless the study has
 * a name like this. */
static int check_keys(struct cli *cli, const struct selection *selection,
                      const char **key)
{
    const struct cli_study *study = selection->study;
    const char *const *keys = trial_keys(cli, selection);
    const char *sort = cli->set.sort, *unknown = NULL;
    const bool down = sort != NULL && sort[0] == '-';
    *key = sort;
    if (sort != NULL)
        sort += down || sort[0] == '+';
    if (sort != NULL && !cli_filter_has(keys, sort)) {
        if (strcmp(sort, "best") != 0)
            return cli_study_refuse(cli, study, "", sort, keys);
        *key = study->maximize != down ? "-objective" : "objective";
    }
    if (selection->filter != NULL)
        unknown = cli_filter_unknown(selection->filter, keys);
    return unknown != NULL ? cli_study_refuse(cli, study, "", unknown, keys)
                           : CLI_DONE;
}

static int select_trials(struct cli *cli, const struct cli_study *study,
                         struct selection *selection)
{
    struct ht_error err;
    *selection = (struct selection){.cli = cli, .study = study};
    if (cli->set.limit != CLI_UNSET)
        selection->limit = (size_t)cli->set.limit;
    else if (cli_is_table(cli))
        selection->limit = DEFAULT_LIMIT;
    if (cli->set.where != NULL &&
        cli_filter_read(cli->arena, cli->set.where, study->metric,
                        &selection->filter, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct cli_pages pages = cli_trial_pages(cli, study->name, cli->set.state);
    pages.keep = true;
    if (selection->limit > 0 && selection->limit < MOST_A_PAGE &&
        cli->set.sort == NULL && selection->filter == NULL)
        pages.size = (int)selection->limit + 1;
    if (cli_pages_each(cli, &pages, select_trial, selection, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *key;
    const int code = check_keys(cli, selection, &key);
    if (code != CLI_DONE)
        return code;
    if (key != NULL)
        cli_filter_sort(cli->arena, selection->trials, selection->n,
                        study->metric, key);
    if (selection->limit > 0 && selection->n > selection->limit)
        selection->n = selection->limit;
    return CLI_DONE;
}

static int print_selection(struct cli *cli, const struct selection *selection)
{
    const int code = cli_trial_table_print(cli, selection->study, selection->n,
                                           selection->trials);
    if (code != CLI_DONE || !cli_is_table(cli))
        return code;
    if (selection->more)
        cli_say(cli,
                "%zu of %lld trials; use --limit 0 for all, -o csv for a "
                "spreadsheet",
                selection->n, cli_study_all(selection->study));
    else if (selection->filter != NULL || cli->set.state != NULL ||
             cli->set.tag != NULL)
        cli_say(cli, "%zu of %lld trials match", selection->n,
                cli_study_all(selection->study));
    return code;
}

int cli_trials(struct cli *cli)
{
    struct cli_study study;
    struct selection selection;
    int code = cli_study_check_state(cli, cli->set.state, cli_trial_states);
    if (code == CLI_DONE)
        code = cli_study_open_trials(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    code = select_trials(cli, &study, &selection);
    return code == CLI_DONE ? print_selection(cli, &selection) : code;
}

/* ---- one trial ---- */

/* What git showed for an attempt, as a patch. */
static int print_changes(struct cli *cli, const char *study, const char *trial)
{
    struct ht_error err;
    const struct node *answer;
    const char *path = cli_study_path(cli, study, "/trials/%s/changes",
                                      cli_http_segment(cli->arena, trial));
    if (cli->set.attempt != CLI_UNSET)
        path = arena_printf(cli->arena, "%s?attempt=%lld", path,
                            (long long)cli->set.attempt);
    if (cli_get(cli, path, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text out = {0};
    const char *text = node_get_string(answer, "text", "");
    if (cli->set.raw)
        text_puts(&out, text);
    else
        cli_log_escape(arena_strdup(cli->arena, text), &out);
    const int code = cli_print(&out);
    if (code == CLI_DONE && node_get_bool(answer, "cut", false))
        cli_say(cli, "cut: the first %zu of %s%lld bytes were kept",
                strlen(text),
                node_get_bool(answer, "more", false) ? "more than " : "",
                (long long)node_get_int(answer, "bytes", 0));
    return code;
}

int cli_trial(struct cli *cli)
{
    struct ht_error err;
    struct cli_study study;
    const char *name, *id;
    const struct node *trial;
    struct text out = {0};
    int code = cli_study_want_trial(cli, cli->args.words.items[0], &name, &id);
    if (code == CLI_DONE)
        code = cli_study_open_trials(cli, name, &study);
    if (code == CLI_DONE)
        code = cli_study_resolve(cli, &study, &id);
    if (code != CLI_DONE)
        return code;
    if (cli->set.diff)
        return print_changes(cli, name, id);
    if (cli_trial_get(cli, name, id, &trial, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (!cli_trial_table_fields(cli, &study, trial, &out))
        cli_describe_trial(cli, &study, trial, &out);
    return cli_print(&out);
}
