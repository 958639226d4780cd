/* confirm.c - `confirm`: runs the best points again with other seeds. */

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/study/follow.h"
#include "proto/doc/json.h"

enum { POLL_MS = 1000 }; /* without news; the event stream wakes earlier */

/* ---- the table ---- */

static bool has_chance(const struct node *item)
{
    return node_find(item, "probability") != NULL;
}

static void figure_cell(struct cli *cli, struct table *table,
                        const struct node *item, const char *key)
{
    const struct node *value = node_find(item, key);
    if (value == NULL)
        table_cell(table, cli_output_nothing(cli));
    else if (cli->format == FORMAT_CSV)
        table_cell(table, cli_scalar(value));
    else
        table_cell_printf(table, "%.5g", node_get_double(item, key, 0));
}

static struct table *make_table(struct cli *cli, const struct node *answer)
{
    static const char *const figures[] = {"found", "mean", "sd", "low", "high"};
    struct table *table = table_new(cli->arena);
    table_columns(table, "TRIAL,>RUNS,>OPEN,>LOST,>FOUND,>MEAN,>SD,>LOW,>HIGH,"
                         ">BEST");
    NODE_EACH (item, node_first(answer, "finalists")) {
        table_row(table);
        table_cells(table, node_get_string(item, "trial", ""),
                    cli_scalar(node_find(item, "n")),
                    cli_scalar(node_find(item, "open")),
                    cli_scalar(node_find(item, "lost")), NULL);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            figure_cell(cli, table, item, figures[i]);
        if (cli->format == FORMAT_CSV || !has_chance(item))
            figure_cell(cli, table, item, "probability");
        else
            table_cell_printf(table, "%.1f %%",
                              100 * node_get_double(item, "probability", 0));
    }
    return table;
}

/* ---- the verdict ---- */

static void add_verdict(const struct node *answer, struct text *out)
{
    const struct node *first = node_first(answer, "finalists");
    const struct node *second = first != NULL ? first->next : NULL;
    const char *take = node_get_string(answer, "take", "");
    const double percent = 100 * node_get_double(first, "probability", 0);
    if (take[0] == '\0')
        return;
    if (!has_chance(first))
        text_printf(out, "trial %s leads after one run\n", take);
    else if (!has_chance(second))
        text_printf(out, "take trial %s\n", take);
    else if (node_get_bool(answer, "sure", false))
        text_printf(out, "take trial %s: the best with %.1f %%\n", take,
                    percent);
    else
        text_printf(out,
                    "take trial %s, the best with %.1f %%; it cannot be told "
                    "from trial %s (%.1f %%)\n",
                    take, percent, node_get_string(second, "trial", ""),
                    100 * node_get_double(second, "probability", 0));
}

static bool is_of_clients(const struct cli_study *study)
{
    return study->home->kind == JOB_STUDY;
}

static void say_rest(struct cli *cli, const struct cli_study *study,
                     const struct node *answer)
{
    const struct node *first = node_first(answer, "finalists");
    const int64_t open = node_get_int(answer, "open", 0);
    if (open > 0 && is_of_clients(study) && cli_study_is_over(study->state))
        cli_say(cli, "%lld runs were left when the study ended",
                (long long)open);
    else if (open > 0 && is_of_clients(study))
        cli_say(cli, "%lld runs are still to come, once clients ask for them",
                (long long)open);
    else if (open > 0)
        cli_say(cli,
                "%lld runs are still to come; wait for them: hypertune confirm "
                "%s --wait%s",
                (long long)open, study->name, cli_where(cli));
    else if (has_chance(first) && node_get_double(first, "sd", 1) == 0)
        /* A trainer that ignores the seed does the same again and again. */
        cli_say(cli,
                "all runs of trial %s came out alike: does the trainer "
                "begin with HYPERTUNE_SEED?",
                node_get_string(first, "trial", ""));
}

static int print_answer(struct cli *cli, const struct cli_study *study,
                        const struct node *answer)
{
    struct text out = {0};
    const char *take = node_get_string(answer, "take", "");
    if (cli->format == FORMAT_NAME && take[0] == '\0')
        return cli_fail(cli, CLI_ABSENT, "no run of study %s has a result yet",
                        study->name);
    if (cli->format == FORMAT_NAME) {
        text_escape(&out, study->name);
        text_printf(&out, "/%s\n", take);
    } else if (!cli_output_resource(cli->format, answer, &out)) {
        cli_output_table(cli, make_table(cli, answer), &out);
        if (cli->format != FORMAT_CSV)
            add_verdict(answer, &out);
    }
    const int code = cli_print(&out);
    if (code == CLI_DONE && cli_is_table(cli))
        say_rest(cli, study, answer);
    return code;
}

/* ---- asking ---- */

static enum ht_status ask(struct cli *cli, const char *study,
                          const struct node **answer, struct ht_error *err)
{
    return cli_get(cli, cli_study_path(cli, study, "/confirmation"), answer,
                   err);
}

/* Without --top and --seeds an existing confirmation is shown. */
static enum ht_status begin_or_show(struct cli *cli, const char *study,
                                    const struct node **answer,
                                    struct ht_error *err)
{
    const int64_t top = cli->set.top, seeds = cli->set.seeds;
    struct cli_http_answer got;
    enum ht_status status = HT_NOT_FOUND;
    if (top == CLI_UNSET && seeds == CLI_UNSET)
        status = ask(cli, study, answer, err);
    if (status != HT_NOT_FOUND)
        return status;
    cJSON *body = cJSON_CreateObject();
    if (top != CLI_UNSET)
        json_add_int(body, "top", top);
    if (seeds != CLI_UNSET)
        json_add_int(body, "seeds", seeds);
    status = cli_call(cli, "POST", cli_study_path(cli, study, ":confirm"),
                      json_text(cli->arena, body), &got, err);
    if (status == HT_OK)
        *answer = got.root;
    return status;
}

/* Until no run is open; a server that is away is waited for. Only the newest
 * answer is kept. */
static int await(struct cli *cli, const char *study, struct cli_follow *follow,
                 const struct node **answer)
{
    struct ht_error err;
    int64_t open = node_get_int(*answer, "open", 0);
    while (open > 0) {
        const int code = cli_follow_pause(follow, POLL_MS);
        if (code == CLI_OVERDUE)
            return cli_fail(
                cli, code,
                "study %s is not confirmed in time; its runs continue", study);
        if (code == CLI_INTERRUPTED)
            cli_say(cli, "the runs continue; hypertune confirm %s%s shows them",
                    study, cli_where(cli));
        if (code != CLI_DONE)
            return code;
        arena_reset(cli->arena);
        const enum ht_status status = ask(cli, study, answer, &err);
        if (status == HT_OK)
            open = node_get_int(*answer, "open", 0);
        else if (status != HT_UNAVAILABLE)
            return cli_fail_error(cli, &err);
    }
    return CLI_DONE;
}

static int wait_and_print(struct cli *cli, const struct cli_study *study,
                          const struct node *answer)
{
    struct cli_follow follow;
    cli_follow_open(&follow, cli, study->name, 0);
    int code = await(cli, study->name, &follow, &answer);
    if (code == CLI_DONE)
        code = print_answer(cli, study, answer);
    if (code == CLI_DONE && node_find(answer, "take") == NULL)
        code = CLI_FAILED;
    cli_follow_close(&follow);
    return code;
}

int cli_confirm(struct cli *cli)
{
    struct ht_error err;
    struct cli_study study;
    const struct node *answer;
    int code = cli_study_open_trials(cli, cli->args.words.items[0], &study);
    /* Clients may never ask for the runs, so the wait needs an end. */
    if (code == CLI_DONE && cli->set.wait && is_of_clients(&study) &&
        cli->set.timeout_ms == CLI_UNSET)
        return cli_fail(cli, CLI_USAGE,
                        "the trials of study %s run when clients ask for them; "
                        "say how long to wait, too: --wait --timeout 1h",
                        study.name);
    if (code != CLI_DONE)
        return code;
    if (begin_or_show(cli, study.name, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return cli->set.wait ? wait_and_print(cli, &study, answer)
                         : print_answer(cli, &study, answer);
}

enum ht_status cli_confirm_verdict(struct cli *cli,
                                   const struct cli_study *study,
                                   struct text *out, struct ht_error *err)
{
    const struct node *answer;
    if (node_find(study->status, "confirming") == NULL)
        return HT_OK;
    const enum ht_status status = ask(cli, study->name, &answer, err);
    if (status != HT_OK) /* all of them were deleted */
        return status == HT_NOT_FOUND ? HT_OK : status;
    if (node_find(answer, "take") != NULL)
        text_puts(out, "confirmed: ");
    add_verdict(answer, out);
    return HT_OK;
}
