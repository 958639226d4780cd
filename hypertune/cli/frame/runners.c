#include "hypertune/cli/frame/runners.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/base/clock.h"
#include "proto/base/program.h"

/* This user's own server starts processes. A separate runner, which ends with
 * the server, runs its containers; it uses the folder of a runner that the
 * server supervises, so that there are never two. */
#define CONTAINERS "runs/docker"
#define CONTAINERS_LOG "containers.log"

/* The runner asks the engine two questions, 30 s each at most. */
enum { START_MS = 70000, POLL_MS = 50 };

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

/* ---- the own server's runner of containers ---- */

static bool is_running(struct cli *cli, const char *folder)
{
    return program_holds(
        arena_printf(cli->arena, "%s/" CONTAINERS "/runner.lock", folder));
}

/* A user can read his own home folder anyway. NULL: there is none, or the
 * runner's own variable names the folders. */
static const char *volume_roots(const struct cli *cli)
{
    struct stat info;
    const char *home = cli_variable(cli, "HOME");
    if (home == NULL ||
        cli_variable(cli, "HYPERTUNE_RUNNER_VOLUME_ROOT") != NULL ||
        strchr(home, ',') != NULL || stat(home, &info) != 0 ||
        !S_ISDIR(info.st_mode))
        return NULL;
    return home;
}

static enum ht_status start(struct cli *cli, const char *folder,
                            const char *url, const struct cli_engine *engine,
                            pid_t *pid, struct ht_error *err)
{
    const char *roots = volume_roots(cli);
    const char *args[] = {"--exit-when-alone",
                          "--gpus", /* they belong to the runner of processes */
                          "none",
                          "--server",
                          url,
                          "--token-file",
                          arena_printf(cli->arena, "%s/runner-token", folder),
                          "--engine",
                          "docker",
                          "--docker-host",
                          engine->url,
                          "--state",
                          arena_printf(cli->arena, "%s/" CONTAINERS, folder),
                          roots != NULL ? "--volume-root" : NULL,
                          roots,
                          NULL};
    const struct cli_spawn spawn = {.program = "hypertune-runner",
                                    .args = args,
                                    .folder = folder,
                                    .log = CONTAINERS_LOG};
    return cli_spawn_detached(cli->arena, &spawn, pid, err);
}

void cli_runners_restart(struct cli *cli, const char *folder, const char *url)
{
    struct cli_engine engine;
    pid_t pid;
    const char *mark =
        arena_printf(cli->arena, "%s/" CONTAINERS "/runner-id", folder);
    if (access(mark, F_OK) == 0 && !is_running(cli, folder) &&
        cli_engine_find(cli, &engine))
        start(cli, folder, url, &engine, &pid, NULL);
}

/* ---- before a job is submitted ---- */

struct runner_count {
    bool any;    /* some runner is registered */
    bool images; /* one that is online runs images */
};

static bool count_runner(const struct node *runner, void *context)
{
    struct runner_count *count = context;
    count->any = true;
    count->images |=
        cli_runners_is_online(runner) && cli_runners_has_images(runner);
    return true;
}

/* Waits until the new runner is registered; `pid` is 0 for an existing one. */
static int await_runner(struct cli *cli, const char *folder, pid_t pid)
{
    struct ht_error err;
    struct timespec span = {.tv_nsec = POLL_MS * 1000000L};
    int64_t deadline = clock_monotonic_ms() + START_MS;
    bool ended = false;
    while (!ended && clock_monotonic_ms() < deadline) {
        struct runner_count count = {0};
        if (cli_runners_each(cli, count_runner, &count, &err) != HT_OK)
            return cli_fail_error(cli, &err);
        if (count.images)
            return CLI_DONE;
        ended = pid != 0 && waitpid(pid, NULL, WNOHANG) == pid;
        nanosleep(&span, NULL);
    }
    struct text log = {0};
    cli_server_log_tail(cli->arena, folder, CONTAINERS_LOG, &log);
    return cli_fail(cli, CLI_REFUSED, "the runner of containers %s\n%s",
                    ended ? "ended at once" : "is not ready in time",
                    text_take(&log, cli->arena));
}

static int start_own(struct cli *cli, const struct cli_engine *engine)
{
    struct ht_error err;
    pid_t pid = 0;
    const char *folder = cli_real_path(cli->arena, cli->state_folder);
    if (!is_running(cli, folder) && start(cli, folder, cli_http_url(cli->http),
                                          engine, &pid, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    int code = await_runner(cli, folder, pid);
    if (code == CLI_DONE && pid != 0)
        cli_say(cli, "started a runner of containers (%s)", engine->name);
    return code;
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
    return start_own(cli, &engine);
}

int cli_runners_prepare(struct cli *cli, const struct job *job,
                        const char *file)
{
    bool available = false;
    const struct pool *pool = job->pools;
    const struct pool *end = pool + job->n_pools;
    while (pool < end && pool->image == NULL)
        pool++;
    if (pool == end)
        return CLI_DONE;
    int code = cli_runners_ensure_images(cli, &available);
    return code != CLI_DONE || available ? code : refuse(cli, pool, file);
}
