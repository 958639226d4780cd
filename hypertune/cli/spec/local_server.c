#include "hypertune/cli/spec/local_server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/program.h"
#include "proto/base/text.h"

enum {
    END_MS = 20000, /* for the server and its runner */
    END_POLL_MS = 20
};

static void remove_folder(const struct local_server *server)
{
    struct ht_error err;
    if (file_tree_remove(server->folder, NULL, &err) != HT_OK)
        cli_say(server->cli, "warning: %s", err.text);
}

static int refuse(const struct local_server *server, const struct ht_error *err)
{
    struct text log = {0};
    const int code = cli_fail(server->cli, CLI_REFUSED, "%s", err->text);
    cli_server_log_tail(server->cli->lasting, server->folder, "server.log",
                        &log);
    cli_print_to(stderr, &log);
    remove_folder(server);
    return code;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = END_POLL_MS * 1000000L}, NULL);
}

static bool await_end(pid_t pid)
{
    const int64_t deadline = clock_monotonic_ms() + END_MS;
    for (;;) {
        const pid_t got = waitpid(pid, NULL, WNOHANG);
        if (got == pid || (got < 0 && errno == ECHILD))
            return true;
        if (clock_monotonic_ms() >= deadline)
            return false;
        pause_shortly();
    }
}

/* A runner that its server did not see end still writes in the folder. */
static void await_runners(const struct local_server *server)
{
    static const char *const locks[] = {"runs", "runs/docker", "runs/slurm",
                                        "runs/kubernetes"};
    const int64_t deadline = clock_monotonic_ms() + END_MS;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        const char *lock =
            arena_printf(server->cli->lasting, "%s/%s/runner.lock",
                         server->folder, locks[i]);
        while (program_holds(lock) && clock_monotonic_ms() < deadline)
            pause_shortly();
    }
}

void local_server_stop(const struct local_server *server, bool keep)
{
    const pid_t pid = server->info.pid;
    const bool known = pid > 1; /* else a signal would go to many */
    if (known)
        kill(pid, SIGTERM);
    if (known && !await_end(pid)) {
        kill(pid, SIGKILL);
        await_end(pid);
    }
    await_runners(server);
    if (keep)
        cli_say(server->cli, "kept: %s", server->folder);
    else
        remove_folder(server);
}

/* The flags of hypertuned, ended by NULL. */
static void choose_flags(const struct local_server *server,
                         const struct cli_engine *engine, const char *roots,
                         const char *flags[])
{
    const int64_t gpus = server->cli->set.gpus;
    /* A server without requests is idle; a killed command sends none. */
    const struct pair all[] = {
        {"--listen", "127.0.0.1:0"},
        {"--report-listen", "tcp://127.0.0.1:0"},
        {"--control-listen", "tcp://127.0.0.1:0"},
        {"--idle-exit", "1m"},
        {"--slots", "1"},
        {"--gpus",
         gpus > 0 ? arena_printf(server->cli->lasting, "%lld", (long long)gpus)
                  : "none"},
        {"--runner", engine != NULL ? "docker" : "process"},
        {"--docker-host", engine != NULL ? engine->url : NULL},
        {"--volume-root", roots}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value == NULL)
            continue;
        *flags++ = all[i].name;
        *flags++ = all[i].value;
    }
    *flags = NULL;
}

int local_server_start(struct local_server *server,
                       const struct cli_engine *engine, const char *roots)
{
    struct cli *cli = server->cli;
    const char *flags[32];
    const char *base = cli_variable(cli, "TMPDIR");
    struct ht_error err;
    char *folder = arena_printf(cli->lasting, "%s/hypertune-local-XXXXXX",
                                base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return cli_fail(cli, CLI_REFUSED, "cannot make %s: %s", folder,
                        strerror(errno));
    server->folder = folder;
    choose_flags(server, engine, roots, flags);
    if (cli_server_start(cli->lasting, folder, flags, &server->info, &err) !=
        HT_OK)
        return refuse(server, &err);
    cli->set.server = server->info.url;
    cli->set.token_file = server->info.token_file;
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        local_server_stop(server, false);
    return code;
}
