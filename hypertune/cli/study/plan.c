/* plan.c - what a spec will search, in words, before it is sent. */

#include "hypertune/cli/study/describe.h"

#include <string.h>

#include "hypertune/cli/frame/table.h"
#include "proto/form/form.h"
#include "proto/job/kubernetes_section.h"

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

/* ---- where it runs ---- */

/* The replicas beside the master, with the command of each. */
static void describe_others(struct cli *cli, const struct job *job,
                            struct text *out)
{
    for (size_t i = 1; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const struct strings words =
            form_plan_replica(cli->arena, job, pool).words;
        struct text line = {0};
        for (size_t k = 0; k < words.n; k++) {
            text_puts(&line, k > 0 ? " " : "");
            text_shell_word(&line, words.items[k]);
        }
        cli_plan_line(pool->type, text_string(&line), out);
        text_free(&line);
    }
}

/* One line for each variable, those of other replicas with their type. */
static void describe_variables(struct cli *cli, const struct job *job,
                               struct text *out)
{
    const char *label = "environment";
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const struct pairs env = form_plan_replica(cli->arena, job, pool).env;
        for (size_t k = 0; k < env.n; k++, label = "")
            cli_plan_line(label,
                          arena_printf(cli->arena, "%s%s%s=%s",
                                       i > 0 ? pool->type : "",
                                       i > 0 ? ": " : "", env.items[k].name,
                                       env.items[k].value),
                          out);
    }
    for (size_t i = 0; i < job->n_secrets; i++, label = "")
        cli_plan_line(label,
                      arena_printf(cli->arena, "%s from the runner's secrets",
                                   job->secrets[i].name),
                      out);
    struct text names = {0};
    for (size_t i = 0; i < job->captured_env.n; i++)
        text_printf(&names, "%s%s", i > 0 ? " " : "",
                    job->captured_env.items[i].name);
    add_labelled("from shell", &names, out);
}

/* GPUs, processors and memory of each replica that asks for any. */
static void describe_resources(struct arena *arena, const struct job *job,
                               struct text *out)
{
    static const double gib = 1024.0 * 1024 * 1024;
    const char *label = "resources";
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const double cpus = pool->cpus > 0 ? pool->cpus : job->cpus;
        const int64_t memory =
            pool->memory_bytes > 0 ? pool->memory_bytes : job->memory_bytes;
        struct text words = {0};
        if (pool->gpus > 0)
            text_printf(&words, "%lld GPU%s, ", (long long)pool->gpus,
                        pool->gpus == 1 ? "" : "s");
        if (cpus > 0)
            text_printf(&words, "%.4g CPU%s, ", cpus, cpus == 1 ? "" : "s");
        if (memory > 0)
            text_printf(&words, "%.6gGi of memory, ", (double)memory / gib);
        if (words.len > 0)
            cli_plan_line(label,
                          arena_printf(arena, "%.*s for each %s",
                                       (int)words.len - 2, words.data,
                                       pool->type),
                          out);
        label = words.len > 0 ? "" : label;
        text_free(&words);
    }
}

/* Where an option is not said, and of the runner's own folders. */
struct usual_container {
    const char *mounts, *network, *user;
};

static const struct usual_container usual_container = {
    "/hypertune/kit (read-only), /hypertune/trial, /hypertune/output",
    "one of its own",
    "the runner's; the image's where the runner is root or its engine "
    "rootless"};
static const struct usual_container usual_pod = {
    "/hypertune/trial, /hypertune/output; none where it is read by its log",
    "that of its pod", "the image's, or as `kubernetes` and the cluster say"};

/* What containers get beside their image; the runner adds its own folders. */
static void describe_container(const struct job *job, struct text *out)
{
    const struct container_options *options = &job->container;
    const char *engine = job->run_on.engine;
    const struct usual_container *usual =
        engine != NULL && strcmp(engine, KUBERNETES_ENGINE) == 0
            ? &usual_pod
            : &usual_container;
    for (size_t i = 0; i < job->volumes.n; i++)
        cli_plan_line(i == 0 ? "mounts" : "", job->volumes.items[i], out);
    cli_plan_line(job->volumes.n == 0 ? "mounts" : "", usual->mounts, out);
    cli_plan_line("network",
                  options->network != NULL ? options->network : usual->network,
                  out);
    cli_plan_line("user", options->user != NULL ? options->user : usual->user,
                  out);
    if (options->privileged || options->host_pid || options->read_only)
        cli_plan_line("container",
                      options->privileged ? "privileged"
                      : options->host_pid ? "sees the machine's processes"
                                          : "read-only but for its mounts",
                      out);
}

static void describe_images(struct cli *cli, const struct job *job,
                            struct text *out)
{
    for (size_t i = 0; i < job->n_pools; i++) {
        const char *image = job->pools[i].image;
        if (i == 0)
            cli_plan_line("image", image, out);
        else if (image != NULL && strcmp(image, job->pools[0].image) != 0)
            cli_plan_line(
                "",
                arena_printf(cli->arena, "%s: %s", job->pools[i].type, image),
                out);
    }
    describe_container(job, out);
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
    describe_others(cli, job, out);
    describe_resources(cli->arena, job, out);
    if (job->pools[0].image != NULL)
        describe_images(cli, job, out);
    else
        cli_plan_line("folder",
                      job->own_workdir
                          ? arena_printf(cli->arena,
                                         "%s, a copy for each trial",
                                         job->workdir)
                          : job->workdir,
                      out);
    describe_variables(cli, job, out);
    if (job->service_account != NULL)
        cli_plan_line("account", job->service_account, out);
}
