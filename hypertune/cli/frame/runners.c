#include "hypertune/cli/frame/runners.h"

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/own_runner.h"
#include "proto/job/kubernetes_section.h"

enum ht_status cli_runners_each(struct cli *cli, cli_visitor *visit,
                                void *context, struct ht_error *err)
{
    const struct node *answer;
    enum ht_status status = cli_get(cli, "/hypertune/v1/runners", &answer, err);
    if (status != HT_OK)
        return status;
    NODE_EACH (runner, node_first(answer, "runners")) {
        if (!visit(runner, context))
            break;
    }
    return HT_OK;
}

/* ---- one runner ---- */

bool cli_runners_is_online(const struct node *runner)
{
    return strcmp(node_get_string(runner, "state", ""), "ONLINE") == 0;
}

bool cli_runners_has_images(const struct node *runner)
{
    /* Rules come with the first hello; before it the engine's name decides. */
    bool likely = strcmp(node_get_string(runner, "engine", ""), "process") != 0;
    return node_get_bool(node_find(runner, "rules"), "images", likely);
}

static void add_list(const char *what, const struct node *list,
                     struct text *out)
{
    if (list == NULL || list->first == NULL)
        return;
    text_puts(out, what);
    cli_scalars(list, out);
}

void cli_runners_add_elements(const struct node *runner, struct text *out)
{
    int64_t run = 0, wait = 0;
    const char *why = "";
    NODE_EACH (item, node_first(runner, "elements")) {
        run += node_get_int(item, "run", 0);
        wait += node_get_int(item, "wait", 0);
        if (*why == '\0')
            why = node_get_string(item, "why", "");
    }
    text_printf(out, "%lld run, %lld wait", (long long)run, (long long)wait);
    if (*why != '\0')
        text_print_safe(out, " (%s)", why);
    NODE_EACH (item, node_first(runner, "elements")) {
        const char *refused = node_get_string(item, "refused", "");
        if (*refused != '\0')
            text_print_safe(out, "; %s: %s", node_get_string(item, "study", ""),
                            refused);
    }
}

void cli_runners_describe(const struct node *runner, struct text *out)
{
    const struct node *rules = node_find(runner, "rules");
    const char *engine = node_get_string(rules, "engine", "");
    text_print_safe(out, "%s on %s%s%s", node_get_string(runner, "engine", "?"),
                    node_get_string(runner, "host", "?"),
                    engine[0] != '\0' ? ", " : "", engine);
    if (!cli_runners_is_online(runner)) {
        text_puts(out, ", away");
        return;
    }
    const bool elastic = node_get_bool(rules, "elastic", false);
    text_printf(out, ", %lld of %s%lld slots busy",
                (long long)node_get_int(runner, "busy", 0),
                elastic ? "at most " : "",
                (long long)node_get_int(runner, "slots", 0));
    if (elastic) {
        text_puts(out, ", ");
        cli_runners_add_elements(runner, out);
    }
    add_list(", GPUs ", node_find(rules, "gpus"), out);
    add_list(", credentials of ", node_find(rules, "credentials"), out);
}

/* ---- before a job is submitted ---- */

struct runner_count {
    const char *engine; /* NULL: whichever */
    bool any;           /* some runner is registered */
    bool images;        /* one that is online runs them */
    bool has_engine;    /* one that is online is of the engine */
};

static bool count_runner(const struct node *runner, void *context)
{
    struct runner_count *count = context;
    count->any = true;
    if (!cli_runners_is_online(runner))
        return true;
    count->images |= cli_runners_has_images(runner);
    count->has_engine |=
        count->engine != NULL &&
        strcmp(node_get_string(runner, "engine", ""), count->engine) == 0;
    return true;
}

/* What to write behind "--": the pool's own command, or an example. */
static const char *own_command(struct cli *cli, const struct pool *pool)
{
    struct text words = {0};
    for (size_t i = 0; i < pool->command.n; i++) {
        text_puts(&words, i > 0 ? " " : "");
        text_shell_word(&words, pool->command.items[i]);
    }
    if (words.len == 0)
        text_puts(&words, "python3 -m trainer.task");
    return text_take(&words, cli->arena);
}

static int refuse(struct cli *cli, const struct pool *pool, const char *file)
{
    const char *why = cli->detached
                          ? "but this server's runners start processes"
                          : "but no container engine answers on this machine "
                            "(hypertune doctor)";
    return cli_fail(cli, CLI_USAGE,
                    "the %s runs in image %s, %s\n"
                    "  say which command runs it here: hypertune %s %s -- %s",
                    pool->type, pool->image, why, cli->command->name, file,
                    own_command(cli, pool));
}

int cli_runners_ensure_images(struct cli *cli, bool *available)
{
    struct ht_error err;
    struct runner_count count = {0};
    struct cli_engine engine;
    if (cli_runners_each(cli, count_runner, &count, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    *available = count.images || (cli->detached && !count.any);
    if (*available || cli->detached || !cli_engine_find(cli, &engine))
        return CLI_DONE;
    *available = true;
    return own_runner_start(cli, OWN_RUNNER_CONTAINERS);
}

static const struct cluster {
    enum own_runner own;
    const char *engine, *name, *missing;
} clusters[] = {
    {OWN_RUNNER_SLURM, "slurm", "Slurm",
     "squeue is not in PATH, and neither SLURM_REST_URL nor "
     "HYPERTUNE_RUNNER_SLURM_SSH names a cluster"},
    {OWN_RUNNER_KUBERNETES, KUBERNETES_ENGINE, "Kubernetes",
     "there is no ~/.kube/config, and KUBECONFIG does not name another"}};

/* A named server may get a runner of the cluster later, and says until then why
 * the study waits. */
static int ensure_cluster(struct cli *cli, const struct cluster *cluster,
                          const char *file)
{
    struct ht_error err;
    struct runner_count count = {.engine = cluster->engine};
    if (cli->detached)
        return CLI_DONE;
    if (cli_runners_each(cli, count_runner, &count, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (count.has_engine)
        return CLI_DONE;
    if (own_runner_can_start(cli, cluster->own))
        return own_runner_start(cli, cluster->own);
    return cli_fail(cli, CLI_REFUSED,
                    "%s runs on %s, to which this machine has no way\n  %s",
                    file, cluster->name, cluster->missing);
}

int cli_runners_prepare(struct cli *cli, const struct job *job,
                        const char *file)
{
    bool available = false;
    const struct pool *pool = job->pools;
    const struct pool *end = pool + job->n_pools;
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        if (job->run_on.engine != NULL &&
            strcmp(job->run_on.engine, clusters[i].engine) == 0)
            return ensure_cluster(cli, &clusters[i], file);
    while (pool < end && pool->image == NULL)
        pool++;
    if (pool == end)
        return CLI_DONE;
    int code = cli_runners_ensure_images(cli, &available);
    return code != CLI_DONE || available ? code : refuse(cli, pool, file);
}
