/* plan.c - what a spec will search, in words, before it is sent. */

#include "hypertune/cli/study/describe.h"

#include "hypertune/cli/frame/table.h"
#include "proto/form/form.h"

static void describe_parameters(struct cli *cli, const struct space *space,
                                struct text *out)
{
    struct table *table = table_new(cli->arena);
    table_columns(table, "  parameters,,,"); /* type, values, condition */
    for (size_t i = 0; i < space->n; i++) {
        struct text range = {0}, when = {0};
        form_plan_range(&space->params[i], &range);
        form_plan_condition(space, &space->params[i], &when);
        table_row(table);
        table_cell_printf(table, "    %s", space->params[i].name);
        table_cell(table, form_plan_type(space->params[i].type));
        table_cell_text(table, &range, "");
        table_cell_text(table, &when, "");
    }
    table_print(table, cli->width, out);
}

void cli_plan_line(const char *label, const char *value, struct text *out)
{
    text_printf(out, "  %-11s ", label);
    text_print_safe(out, "%s\n", value != NULL ? value : "");
}

/* "  goal        maximize accuracy"; nothing without words, which are
 * released. */
static void add_labelled(const char *label, struct text *words,
                         struct text *out)
{
    if (words->len > 0)
        cli_plan_line(label, words->data, out);
    text_free(words);
}

/* Goals, parameters, constraints, and how they are searched. */
static void describe_search(struct cli *cli, const struct job *job,
                            struct text *out)
{
    struct text words = {0};
    form_plan_goals(job, false, &words);
    add_labelled("goal", &words, out);
    form_plan_goals(job, true, &words);
    add_labelled("safety", &words, out);
    describe_parameters(cli, &job->space, out);
    for (size_t i = 0; i < job->constraints.n; i++)
        cli_plan_line(i == 0 ? "constraints" : "", job->constraints.items[i],
                      out);
    form_plan_search(job, &words);
    add_labelled("search", &words, out);
}

static void describe_examples(struct cli *cli, const struct job *job, size_t n,
                              struct text *out)
{
    struct strings lines[CLI_PLAN_EXAMPLES];
    const bool search = job->kind != JOB_CUSTOM;
    n = search ? n : 1;
    form_plan_examples(cli->arena, job, n, lines);
    for (size_t i = 0; i < n; i++) {
        struct text words = {0};
        for (size_t j = 0; j < lines[i].n; j++) {
            text_puts(&words, j > 0 ? " " : "");
            text_shell_word(&words, lines[i].items[j]);
        }
        cli_plan_line(i > 0    ? ""
                      : search ? "for example"
                               : "command",
                      text_string(&words), out);
        text_free(&words);
    }
}

void cli_plan_describe(struct cli *cli, const struct job *job, size_t examples,
                       struct text *out)
{
    if (job->kind != JOB_CUSTOM)
        describe_search(cli, job, out);
    if (job->kind == JOB_STUDY)
        return; /* others run its trials */
    for (size_t i = 0; i < job->n_pools && job->n_pools > 1; i++)
        text_printf(out, "%s%d %s%s", i == 0 ? "  replicas    " : ", ",
                    job->pools[i].count, job->pools[i].type,
                    i + 1 < job->n_pools ? "" : "\n");
    describe_examples(cli, job, examples, out);
    if (job->pools[0].image != NULL)
        cli_plan_line("image", job->pools[0].image, out);
    else
        cli_plan_line("folder",
                      job->own_workdir
                          ? arena_printf(cli->arena,
                                         "%s, a copy for each trial",
                                         job->workdir)
                          : job->workdir,
                      out);
    if (job->service_account != NULL)
        cli_plan_line("account", job->service_account, out);
}
