#include "hypertune/cli_follow.h"

#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/clock.h"

enum { EVENTS_A_ROUND = 500, RETRY_MS = 10000, RETRY_PAUSE_MS = 300 };

void cli_follow_open(struct cli_follow *follow, struct cli *cli,
                     const char *study, int64_t since)
{
    *follow = (struct cli_follow){.cli = cli,
                                  .study = arena_strdup(cli->lasting, study),
                                  .since = since,
                                  .deadline_ms = INT64_MAX,
                                  .round = arena_new()};
    if (cli->set.timeout_ms != CLI_UNSET)
        follow->deadline_ms = clock_monotonic_ms() + cli->set.timeout_ms;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, &follow->before);
    follow->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (follow->signals < 0)
        abort();
    cli->arena = follow->round;
}

void cli_follow_close(struct cli_follow *follow)
{
    follow->cli->arena = follow->cli->lasting;
    arena_free(follow->round);
    close(follow->signals);
    sigprocmask(SIG_SETMASK, &follow->before, NULL);
}

static enum ht_status fetch(struct cli_follow *follow, struct cli_study *study,
                            const struct node **events, struct ht_error *err)
{
    struct cli *cli = follow->cli;
    struct cli_http_answer answer;
    char *path =
        arena_printf(cli->arena, CLI_OURS "/%s/events?since=%lld&limit=%d",
                     cli_http_segment(cli->arena, follow->study),
                     (long long)follow->since, EVENTS_A_ROUND);
    enum ht_status status = cli_call(cli, "GET", path, NULL, &answer, err);
    if (status == HT_OK)
        status = cli_study_get(cli, follow->study, study, err);
    if (status == HT_OK)
        *events = node_find(answer.root, "events");
    return status;
}

enum ht_status cli_follow_round(struct cli_follow *follow,
                                struct cli_study *study,
                                const struct node **events,
                                struct ht_error *err)
{
    int64_t give_up = clock_monotonic_ms() + RETRY_MS;
    enum ht_status status;
    for (;;) {
        arena_reset(follow->round);
        status = fetch(follow, study, events, err);
        if (status != HT_UNAVAILABLE || clock_monotonic_ms() >= give_up)
            break;
        usleep(RETRY_PAUSE_MS * 1000);
    }
    if (status != HT_OK)
        return status;
    for (const struct node *event = *events ? (*events)->first : NULL;
         event != NULL; event = event->next)
        follow->since = node_get_int(event, "revision", follow->since);
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

bool cli_follow_overdue(const struct cli_follow *follow)
{
    return clock_monotonic_ms() >= follow->deadline_ms;
}
