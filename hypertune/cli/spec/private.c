#include "hypertune/cli/spec/private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "hypertune/cli/frame/tree.h"
#include "proto/base/clock.h"

enum { END_MS = 20000, POLL_MS = 20, MOST_FLAGS = 32 };

static void remove_folder(struct cli *cli, const char *folder)
{
    struct ht_error err;
    if (tree_remove(folder, &err) != HT_OK)
        cli_say(cli, "warning: %s", err.text);
}

static int refuse(struct cli *cli, const char *folder,
                  const struct ht_error *err)
{
    struct text log = {0};
    int code = cli_fail(cli, CLI_REFUSED, "%s", err->text);
    cli_server_last_words(cli->lasting, folder, "server.log", &log);
    fputs(log.data != NULL ? log.data : "", stderr);
    text_free(&log);
    remove_folder(cli, folder);
    return code;
}

int cli_private_start(struct cli *cli, const char *const flags[],
                      struct cli_private *private)
{
    /* Idle is what nobody asks: the time in which a command that was killed
     * could have asked. */
    static const char *const own[] = {"--listen",         "127.0.0.1:0",
                                      "--report-listen",  "tcp://127.0.0.1:0",
                                      "--control-listen", "tcp://127.0.0.1:0",
                                      "--idle-exit",      "1m"};
    enum { N_OWN = sizeof own / sizeof *own };
    const char *all[N_OWN + MOST_FLAGS + 1] = {NULL};
    const char *base = cli_variable(cli, "TMPDIR");
    struct ht_error err;
    memcpy(all, own, sizeof own);
    for (size_t i = 0; i < MOST_FLAGS && flags[i] != NULL; i++)
        all[N_OWN + i] = flags[i];
    char *folder = arena_printf(cli->lasting, "%s/hypertune-local-XXXXXX",
                                base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return cli_fail(cli, CLI_REFUSED, "cannot make %s: %s", folder,
                        strerror(errno));
    private->folder = folder;
    if (cli_server_start(cli->lasting, folder, all, &private->info, &err) !=
        HT_OK)
        return refuse(cli, folder, &err);
    cli->set.server = private->info.url;
    cli->set.token_file = private->info.token_file;
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        cli_private_stop(cli, private, false);
    return code;
}

static bool has_ended(pid_t pid)
{
    pid_t got = waitpid(pid, NULL, WNOHANG);
    return got == pid || (got < 0 && errno == ECHILD);
}

static bool await_end(pid_t pid)
{
    const struct timespec span = {.tv_nsec = POLL_MS * 1000000L};
    int64_t deadline = clock_monotonic_ms() + END_MS;
    while (!has_ended(pid)) {
        if (clock_monotonic_ms() >= deadline)
            return false;
        nanosleep(&span, NULL);
    }
    return true;
}

/* A runner that its server did not see end still writes in the folder. */
static void await_runners(struct cli *cli, const char *folder)
{
    static const char *const locks[] = {"runs", "runs/docker"};
    const struct timespec span = {.tv_nsec = POLL_MS * 1000000L};
    int64_t deadline = clock_monotonic_ms() + END_MS;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        const char *lock =
            arena_printf(cli->lasting, "%s/%s/runner.lock", folder, locks[i]);
        while (cli_server_is_locked(lock) && clock_monotonic_ms() < deadline)
            nanosleep(&span, NULL);
    }
}

void cli_private_stop(struct cli *cli, const struct cli_private *private,
                      bool keep)
{
    pid_t pid = private->info.pid;
    bool known = pid > 1; /* else a signal would go to many */
    if (known)
        kill(pid, SIGTERM);
    if (known && !await_end(pid)) {
        kill(pid, SIGKILL);
        await_end(pid);
    }
    await_runners(cli, private->folder);
    if (keep)
        cli_say(cli, "kept: %s", private->folder);
    else
        remove_folder(cli, private->folder);
}
