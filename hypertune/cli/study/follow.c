#include "hypertune/cli/study/follow.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/base/clock.h"

enum { EVENTS_A_ROUND = 500, ROUND_MS = 100 };

void cli_follow_open(struct cli_follow *follow, struct cli *cli,
                     const char *study, int64_t since)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
    *follow = (struct cli_follow){.cli = cli,
                                  .signals = -1,
                                  .study = arena_strdup(cli->lasting, study),
                                  .since = since,
                                  .deadline_ms = INT64_MAX,
                                  .round = arena_new(),
                                  .spare = arena_new()};
    if (cli->set.timeout_ms != CLI_UNSET)
        follow->deadline_ms = clock_monotonic_ms() + cli->set.timeout_ms;
    sigemptyset(&follow->taken);
    sigprocmask(SIG_BLOCK, NULL, &follow->before);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        cli_follow_take(follow, signals[i]);
    cli->arena = follow->round;
}

void cli_follow_close(struct cli_follow *follow)
{
    follow->cli->arena = follow->cli->lasting;
    arena_free(follow->round);
    arena_free(follow->spare);
    close(follow->signals);
    sigprocmask(SIG_SETMASK, &follow->before, NULL);
}

void cli_follow_take(struct cli_follow *follow, int signal)
{
    sigaddset(&follow->taken, signal);
    sigprocmask(SIG_BLOCK, &follow->taken, NULL);
    follow->signals =
        signalfd(follow->signals, &follow->taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (follow->signals < 0)
        abort();
}

void cli_follow_default(int signal)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
}

/* A busy study has news all the time; a person reads no faster than this. A
 * signal ends the pause and stays for cli_follow_wait(). */
static void pace(const struct cli_follow *follow)
{
    int64_t left = follow->round_ms + ROUND_MS - clock_monotonic_ms();
    struct pollfd signals = {.fd = follow->signals, .events = POLLIN};
    if (left > 0 && !follow->behind)
        poll(&signals, 1, (int)left);
}

void cli_follow_begin(struct cli_follow *follow)
{
    pace(follow);
    arena_reset(follow->spare);
    follow->cli->arena = follow->spare;
}

void cli_follow_finish(struct cli_follow *follow, bool success)
{
    if (success) {
        follow->spare = follow->round;
        follow->round = follow->cli->arena;
    }
    follow->cli->arena = follow->round;
    follow->round_ms = clock_monotonic_ms();
}

enum ht_status cli_follow_round(struct cli_follow *follow,
                                struct cli_study *study,
                                const struct node **events,
                                struct ht_error *err)
{
    struct cli *cli = follow->cli;
    struct cli_study fetched;
    const struct node *answer = NULL;
    cli_follow_begin(follow);
    const char *path =
        cli_study_path(cli, follow->study, "/events?since=%lld&limit=%d",
                       (long long)follow->since, EVENTS_A_ROUND);
    /* The study first: when it is over by then, no event is later. */
    enum ht_status status = cli_study_get(cli, follow->study, &fetched, err);
    if (status == HT_OK)
        status = cli_get(cli, path, &answer, err);
    cli_follow_finish(follow, status == HT_OK);
    if (status != HT_OK)
        return status == HT_TIMEOUT ? HT_UNAVAILABLE : status;
    const struct node *list = node_find(answer, "events");
    NODE_EACH (event, node_items(list))
        follow->since = node_get_int(event, "revision", follow->since);
    follow->behind = list != NULL && list->count == EVENTS_A_ROUND;
    *study = fetched;
    *events = list;
    return HT_OK;
}

int cli_follow_wait(struct cli_follow *follow, int fd, int timeout_ms)
{
    int64_t left = follow->deadline_ms - clock_monotonic_ms();
    if (left < timeout_ms)
        timeout_ms = left > 0 ? (int)left : 0;
    const int fds[] = {follow->signals, fd};
    cli_http_wait(follow->cli->http, fd >= 0 ? 2 : 1, fds, timeout_ms);
    struct signalfd_siginfo info;
    if (read(follow->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return (int)info.ssi_signo;
}

int cli_follow_exit(int signal)
{
    if (signal == SIGINT)
        return CLI_INTERRUPTED;
    return signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT
               ? CLI_TERMINATED
               : CLI_DONE;
}

int cli_follow_pause(struct cli_follow *follow, int timeout_ms)
{
    const int code = cli_follow_exit(cli_follow_wait(follow, -1, timeout_ms));
    return code == CLI_DONE && cli_follow_overdue(follow) ? CLI_OVERDUE : code;
}

bool cli_follow_overdue(const struct cli_follow *follow)
{
    return clock_monotonic_ms() >= follow->deadline_ms;
}
