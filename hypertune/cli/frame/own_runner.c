#include "hypertune/cli/frame/own_runner.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/kubernetes.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/frame/slurm.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/base/clock.h"
#include "proto/base/program.h"

/* A runner asks its engine two questions, 30 s each at most. */
enum { START_MS = 70000, POLL_MS = 50 };

/* The folders are those of runners that the server supervises, so that there
 * are never two in one. */
static const struct kind {
    const char *engine, *folder, *log, *words;
} kinds[] = {
    [OWN_RUNNER_CONTAINERS] = {"docker", "runs/docker", "containers.log",
                               "a runner of containers"},
    [OWN_RUNNER_SLURM] = {"slurm", "runs/slurm", "slurm.log",
                          "a runner of Slurm"},
    [OWN_RUNNER_KUBERNETES] = {"kubernetes", "runs/kubernetes",
                               "kubernetes.log", "a runner of Kubernetes"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- what it runs on ---- */

bool own_runner_can_start(struct cli *cli, enum own_runner which)
{
    struct cli_engine engine;
    switch (which) {
    case OWN_RUNNER_CONTAINERS:
        return cli_engine_find(cli, &engine);
    case OWN_RUNNER_SLURM:
        return cli_slurm_sign(cli) != NULL;
    case OWN_RUNNER_KUBERNETES:
        return cli_kube_is_known(cli);
    }
    return false;
}

/* ---- start ---- */

struct server { /* this user's own */
    struct cli *cli;
    const char *folder, *url;
};

static bool is_running(const struct server *server, const struct kind *kind)
{
    return program_holds(arena_printf(server->cli->arena, "%s/%s/runner.lock",
                                      server->folder, kind->folder));
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

/* What the command line says of the cluster; else the runner finds it by
 * itself. */
static size_t add_cluster(const struct cli *cli, const struct kind *kind,
                          const char *args[])
{
    size_t n = 0;
    struct pair options[CLI_KUBE_OPTIONS + 1];
    cli_kube_options(cli, options);
    options[CLI_KUBE_OPTIONS] =
        (struct pair){"--slurm-ssh", cli->set.slurm_ssh};
    for (size_t i = 0; i <= CLI_KUBE_OPTIONS; i++) {
        const bool of_slurm = i == CLI_KUBE_OPTIONS;
        if (options[i].value == NULL ||
            kind != &kinds[of_slurm ? OWN_RUNNER_SLURM : OWN_RUNNER_KUBERNETES])
            continue;
        args[n++] = options[i].name;
        args[n++] = options[i].value;
    }
    return n;
}

/* HT_UNAVAILABLE: no engine of containers answers. *pid: its process. */
static enum ht_status start(const struct server *server,
                            const struct kind *kind, pid_t *pid,
                            struct ht_error *err)
{
    struct cli_engine engine = {.url = NULL};
    struct arena *arena = server->cli->arena;
    const char *roots = volume_roots(server->cli);
    const char *args[24] = {
        "--exit-when-alone",
        "--server",
        server->url,
        "--engine",
        kind->engine,
        "--gpus",
        "none", /* they belong to the runner of processes */
        "--token-file",
        arena_printf(arena, "%s/runner-token", server->folder),
        "--state",
        arena_printf(arena, "%s/%s", server->folder, kind->folder)};
    size_t n = 11;
    if (kind == &kinds[OWN_RUNNER_CONTAINERS]) {
        if (!cli_engine_find(server->cli, &engine))
            return ht_fail(err, HT_UNAVAILABLE, "no container engine answers");
        args[n++] = "--docker-host";
        args[n++] = engine.url;
    }
    n += add_cluster(server->cli, kind, args + n);
    if (roots != NULL) {
        args[n++] = "--volume-root";
        args[n++] = roots;
    }
    const struct cli_spawn spawn = {.program = "hypertune-runner",
                                    .args = args,
                                    .folder = server->folder,
                                    .log = kind->log};
    return cli_spawn_detached(arena, &spawn, pid, err);
}

void own_runner_restart_all(struct cli *cli, const char *folder,
                            const char *url)
{
    const struct server server = {cli, folder, url};
    for (size_t i = 0; i < N_KINDS; i++) {
        pid_t pid;
        const char *mark = arena_printf(cli->arena, "%s/%s/runner-id", folder,
                                        kinds[i].folder);
        if (access(mark, F_OK) == 0 && !is_running(&server, &kinds[i]))
            start(&server, &kinds[i], &pid, NULL);
    }
}

/* ---- start, and wait for it ---- */

struct look {
    const char *engine;
    const char *version; /* "Docker 20.10.24"; NULL: it is not there */
};

static bool look_at(const struct node *runner, void *context)
{
    struct look *look = context;
    if (!cli_runners_is_online(runner) ||
        strcmp(node_get_string(runner, "engine", ""), look->engine) != 0)
        return true;
    look->version =
        node_get_string(node_find(runner, "rules"), "engine", look->engine);
    return false;
}

/* `pid`: 0 for one that ran before. */
static int await(const struct server *server, const struct kind *kind,
                 pid_t pid)
{
    struct ht_error err;
    struct cli *cli = server->cli;
    const struct timespec span = {.tv_nsec = POLL_MS * 1000000L};
    const int64_t deadline = clock_monotonic_ms() + START_MS;
    bool ended = false;
    while (!ended && clock_monotonic_ms() < deadline) {
        struct look look = {.engine = kind->engine};
        if (cli_runners_each(cli, look_at, &look, &err) != HT_OK)
            return cli_fail_error(cli, &err);
        if (look.version != NULL && pid != 0)
            cli_say(cli, "started %s (%s)", kind->words, look.version);
        if (look.version != NULL)
            return CLI_DONE;
        ended = pid != 0 && waitpid(pid, NULL, WNOHANG) == pid;
        nanosleep(&span, NULL);
    }
    struct text log = {0};
    cli_server_log_tail(cli->arena, server->folder, kind->log, &log);
    return cli_fail(cli, CLI_REFUSED, "%s %s\n%s", kind->words,
                    ended ? "ended at once" : "is not ready in time",
                    text_take(&log, cli->arena));
}

int own_runner_start(struct cli *cli, enum own_runner which)
{
    struct ht_error err;
    pid_t pid = 0;
    const struct kind *kind = &kinds[which];
    const struct server server = {cli,
                                  cli_real_path(cli->arena, cli->state_folder),
                                  cli_http_url(cli->http)};
    if (!is_running(&server, kind) && start(&server, kind, &pid, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return await(&server, kind, pid);
}
