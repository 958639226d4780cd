/* follow.h - following one study: its events in order, signals, a deadline.
 *
 * While a study is followed SIGINT, SIGTERM, SIGHUP and SIGWINCH are blocked
 * and read here, so that the caller decides what they mean. */
#ifndef HT_HYPERTUNE_CLI_STUDY_FOLLOW_H
#define HT_HYPERTUNE_CLI_STUDY_FOLLOW_H

#include <signal.h>
#include <stdint.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"

struct cli_follow {
    struct cli *cli;
    const char *study;
    int64_t since;       /* revision up to which events were seen */
    int64_t deadline_ms; /* monotonic, INT64_MAX: none */
    struct arena *round; /* of one round; cli->arena while following */
    struct arena *spare; /* of the next one, until it has succeeded */
    int64_t round_ms;    /* monotonic, of the newest round */
    bool behind;         /* that round had as many events as fit */
    int signals;         /* signalfd */
    sigset_t taken;      /* what is read from it */
    sigset_t before;     /* mask to restore */
};

/* Starts after revision `since`; --timeout counts from here. Until
 * cli_follow_close() cli->arena is that of a round. */
void cli_follow_open(struct cli_follow *follow, struct cli *cli,
                     const char *study, int64_t since);
/* Restores the signal mask and cli->arena; what rounds returned is no longer
 * valid. */
void cli_follow_close(struct cli_follow *follow);

/* Fetches the next events (a list, at most 500) and the study, in this order:
 * the study is never older than they are. What the last round allocated in
 * cli->arena is released, but not before this one has succeeded: while the
 * server is away the newest picture stays. Rounds are 100 ms apart, unless
 * there is a backlog.
 * HT_UNAVAILABLE  the server is away; ask again later
 * HT_NOT_FOUND    the study is not there (any more) */
enum ht_status cli_follow_round(struct cli_follow *follow,
                                struct cli_study *study,
                                const struct node **events,
                                struct ht_error *err);

/* A round that fetches something else: begin() gives cli->arena an empty one
 * in its place. finish() makes that the newest, or, when it did not succeed,
 * keeps what was there. */
void cli_follow_begin(struct cli_follow *follow);
void cli_follow_finish(struct cli_follow *follow, bool success);

/* Takes one more signal that cli_follow_wait() shall return. */
void cli_follow_take(struct cli_follow *follow, int signal);
/* Lets a taken signal do what it does by default. Returns when the process is
 * continued after a signal that stops it. */
void cli_follow_default(int signal);

/* Waits for news, a signal, a byte on `fd` (-1: none), or `timeout_ms`.
 * Returns the signal that came, 0 for none. */
int cli_follow_wait(struct cli_follow *follow, int fd, int timeout_ms);
/* The exit code of a signal that asks this program to end; CLI_DONE of any
 * other, and of 0. */
int cli_follow_exit(int signal);
/* Waits as above without `fd`; the exit code of the signal that came,
 * CLI_OVERDUE after the deadline, else CLI_DONE. */
int cli_follow_pause(struct cli_follow *follow, int timeout_ms);
bool cli_follow_overdue(const struct cli_follow *follow);

#endif
