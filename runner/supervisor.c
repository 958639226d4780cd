#include "runner/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/discard.h"
#include "runner/base/child.h"
#include "runner/base/gpu_meter.h"
#include "runner/talk/request_thread.h"
#include "runner/talk/server_address.h"
#include "runner/talk/talk.h"
#include "runner/talk/uplink.h"
#include "runner/transfer/output_sends.h"
#include "runner/transfer/transfers.h"
#include "runner/transfer/trees.h"

enum {
    SHORT_PATIENCE_MS =
        3000,            /* without an answer, then the server is searched */
    TICK_MS = 1000,      /* between ticks without an event */
    BUSY_TICK_MS = 250,  /* ... soon after a change */
    TICK_GAP_MS = 20,    /* closer events share a tick */
    FIRST_OPEN_MS = 500, /* before the engine is tried again */
    LAST_OPEN_MS = 10000
};

struct supervisor {
    const struct supervisor_settings *settings;
    struct sender sender;
    int signals, wake;
    int moved; /* eventfd: a transfer has a result */
    struct uplink *uplink;
    struct server_address *address;
    struct request_thread *talk_thread, *lease_thread;
    struct discard *discard;
    struct server_found found; /* of the thread of the trees */
    struct trees_settings trees_settings;
    struct trees *trees;
    struct transfers *transfers;
    struct output_sends *sends;
    struct attempts attempts;
    struct talk talk;
    int64_t ticked_at; /* monotonic */
    int64_t all_at;    /* monotonic: when every attempt was ticked */
    int64_t moved_at;  /* monotonic: when a folder last changed */
    bool opened;       /* the engine is */
    bool ending;
};

static enum ht_status open_events(struct supervisor *supervisor,
                                  struct ht_error *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    supervisor->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    supervisor->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    supervisor->moved = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (supervisor->signals < 0 || supervisor->wake < 0 ||
        supervisor->moved < 0)
        return ht_fail_errno(err, errno, "no descriptor for events");
    return HT_OK;
}

/* For transfers, on their thread. */
static enum ht_status find_server(void *context, struct transfer_server *server,
                                  struct ht_error *err)
{
    struct supervisor *supervisor = context;
    struct server_found *found = &supervisor->found;
    const enum ht_status status =
        server_address_get(supervisor->address, found, err);
    if (status == HT_OK)
        *server = (struct transfer_server){
            .url = found->url, .token = found->token, .trust = found->trust};
    return status;
}

/* The same on the threads of the checkpoints. */
static enum ht_status find_store(void *context, struct transfers_server *server,
                                 struct ht_error *err)
{
    const struct supervisor *supervisor = context;
    struct server_found found;
    const enum ht_status status =
        server_address_get(supervisor->address, &found, err);
    if (status != HT_OK)
        return status;
    memcpy(server->url, found.url, sizeof found.url);
    memcpy(server->token, found.token, sizeof found.token);
    memcpy(server->pins, found.pins, sizeof found.pins);
    server->trust = found.trust;
    if (server->trust.pin != NULL)
        server->trust.pin = server->pins;
    return HT_OK;
}

/* On the disk of the trials' own folders, for hard links. */
static enum ht_status start_sends(struct supervisor *supervisor,
                                  const struct transfers_settings *settings,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status = output_sends_start(
        settings, arena_printf(arena, "%s/sends", settings->site->state),
        &supervisor->sends, err);
    arena_free(arena);
    return status;
}

static enum ht_status open_all(struct supervisor *supervisor,
                               struct ht_error *err)
{
    const struct supervisor_settings *settings = supervisor->settings;
    enum ht_status status = server_address_token(settings->token_file,
                                                 supervisor->sender.token, err);
    if (status == HT_OK)
        status = open_events(supervisor, err);
    if (status != HT_OK)
        return status;
    const struct uplink_settings uplink = {.state = settings->site->state,
                                           .server = settings->server,
                                           .trust = settings->trust};
    status = uplink_open(&uplink, &supervisor->uplink, err);
    if (status != HT_OK)
        return status;
    supervisor->address =
        server_address_new(settings->server, settings->token_file,
                           &settings->trust, supervisor->uplink);
    status =
        request_thread_start(supervisor->address, SHORT_PATIENCE_MS,
                             supervisor->wake, &supervisor->talk_thread, err);
    if (status == HT_OK)
        status = request_thread_start(supervisor->address,
                                      TALK_LEASE_PATIENCE_MS, supervisor->wake,
                                      &supervisor->lease_thread, err);
    if (status == HT_OK)
        status = discard_start(settings->site, &supervisor->discard, err);
    if (status != HT_OK)
        return status;
    attempts_init(&supervisor->attempts, settings->site, settings->engine);
    supervisor->attempts.gpus = gpu_meter_start(settings->site);
    supervisor->trees_settings =
        (struct trees_settings){.state = settings->site->state,
                                .find = find_server,
                                .context = supervisor};
    status = trees_start(&supervisor->trees_settings, &supervisor->trees, err);
    supervisor->attempts.trees = supervisor->trees;
    const struct transfers_settings transfers = {.site = settings->site,
                                                 .find = find_store,
                                                 .context = supervisor,
                                                 .wake = supervisor->moved};
    if (status == HT_OK)
        status = transfers_start(&transfers, &supervisor->transfers, err);
    if (status == HT_OK)
        status = start_sends(supervisor, &transfers, err);
    supervisor->attempts.transfers = supervisor->transfers;
    return status;
}

static void close_all(struct supervisor *supervisor)
{
    if (supervisor->address != NULL)
        server_address_stop(supervisor->address);
    request_thread_stop(supervisor->talk_thread);
    request_thread_stop(supervisor->lease_thread);
    talk_fini(&supervisor->talk);
    discard_stop(supervisor->discard);
    gpu_meter_stop(supervisor->attempts.gpus);
    attempts_fini(&supervisor->attempts);
    trees_stop(supervisor->trees);
    transfers_stop(supervisor->transfers);
    output_sends_stop(supervisor->sends);
    server_address_free(supervisor->address);
    uplink_free(supervisor->uplink);
    if (supervisor->opened && supervisor->settings->engine->close != NULL)
        supervisor->settings->engine->close();
    if (supervisor->signals >= 0)
        close(supervisor->signals);
    if (supervisor->wake >= 0)
        close(supervisor->wake);
    if (supervisor->moved >= 0)
        close(supervisor->moved);
}

static void read_signals(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;
    while (read(supervisor->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            supervisor->attempts.dirty = true;
        else
            supervisor->ending = true;
    }
}

/* Before that the runner sends nothing, so that it gets no work. A server that
 * started this runner may have ended and will start another. */
static enum ht_status open_engine(struct supervisor *supervisor,
                                  struct ht_error *err)
{
    const struct supervisor_settings *settings = supervisor->settings;
    const pid_t starter = getppid();
    int delay_ms = FIRST_OPEN_MS;
    while (!supervisor->ending) {
        struct ht_error why;
        const enum ht_status status =
            settings->engine->open(settings->site, &why);
        supervisor->opened = status == HT_OK;
        if (status == HT_OK)
            return HT_OK;
        if (status != HT_UNAVAILABLE)
            return ht_fail(err, status, "%s", why.text);
        if (settings->exit_when_alone && getppid() != starter)
            return ht_fail(err, status, "alone, and without an engine: %s",
                           why.text);
        log_event(LOG_WARN, "engine.unavailable",
                  "engine=%s reason=\"%s\" again_ms=%d", settings->engine->name,
                  why.text, delay_ms);
        struct pollfd signals = {.fd = supervisor->signals, .events = POLLIN};
        if (poll(&signals, 1, delay_ms) > 0)
            read_signals(supervisor);
        delay_ms = 2 * delay_ms < LAST_OPEN_MS ? 2 * delay_ms : LAST_OPEN_MS;
    }
    return HT_OK;
}

/* Finds attempts from before a restart and begins to send. */
static void begin(struct supervisor *supervisor)
{
    const struct supervisor_settings *settings = supervisor->settings;
    attempts_scan(&supervisor->attempts);
    supervisor->talk = (struct talk){
        .attempts = &supervisor->attempts,
        .thread = supervisor->talk_thread,
        .lease_thread = supervisor->lease_thread,
        .sender = &supervisor->sender,
        .discard = supervisor->discard,
        .sends = supervisor->sends,
        .uplink = supervisor->uplink,
        .token_file = settings->token_file,
        .host = settings->host,
    };
    talk_init(&supervisor->talk);
}

/* Every attempt; not all that changes is an event. */
static int64_t all_due_at(const struct supervisor *supervisor)
{
    if (supervisor->attempts.dirty)
        return supervisor->ticked_at + TICK_GAP_MS;
    const bool busy = supervisor->ticked_at - supervisor->moved_at < TICK_MS;
    return supervisor->all_at + (busy ? BUSY_TICK_MS : TICK_MS);
}

static int64_t tick_at(const struct supervisor *supervisor)
{
    const struct attempts *attempts = &supervisor->attempts;
    if (attempts->first == NULL && !attempts->dirty)
        return INT64_MAX;
    const int64_t all = all_due_at(supervisor);
    const int64_t some = supervisor->ticked_at + TICK_GAP_MS;
    return attempts->touched && some < all ? some : all;
}

static void tick(struct supervisor *supervisor, int64_t now)
{
    const bool all = now >= all_due_at(supervisor);
    if (now < tick_at(supervisor))
        return;
    if (supervisor->attempts.dirty || supervisor->attempts.touched)
        supervisor->moved_at = now;
    supervisor->ticked_at = now;
    if (all)
        supervisor->all_at = now;
    attempts_tick(&supervisor->attempts, supervisor->talk.beats_sent + 1, all);
    /* Orphans of dead shims are children of this subreaper. The engine has just
     * waited for its own children. */
    child_reap_others();
}

static int64_t alone_at(const struct supervisor *supervisor)
{
    if (!supervisor->settings->exit_when_alone ||
        supervisor->attempts.first != NULL)
        return INT64_MAX;
    return supervisor->talk.heard_at + supervisor->settings->alone_ms;
}

static int wait_ms(const struct supervisor *supervisor)
{
    int64_t wake = tick_at(supervisor);
    const int64_t others[] = {talk_wake_at(&supervisor->talk),
                              alone_at(supervisor)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        wake = others[i] < wake ? others[i] : wake;
    if (wake == INT64_MAX)
        return -1;
    const int64_t left = wake - clock_monotonic_ms();
    return left <= 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

static void loop(struct supervisor *supervisor)
{
    talk_tick(&supervisor->talk);
    while (!supervisor->ending) {
        struct pollfd fds[] = {
            {.fd = supervisor->signals, .events = POLLIN},
            {.fd = supervisor->wake, .events = POLLIN},
            {.fd = supervisor->attempts.watch, .events = POLLIN},
            {.fd = supervisor->moved, .events = POLLIN},
        };
        if (poll(fds, 4, wait_ms(supervisor)) < 0 && errno != EINTR)
            return;
        if (fds[0].revents != 0)
            read_signals(supervisor);
        eventfd_t count;
        if (fds[1].revents != 0)
            eventfd_read(supervisor->wake, &count);
        if (fds[2].revents != 0)
            attempts_read_watch(&supervisor->attempts);
        if (fds[3].revents != 0) {
            eventfd_read(supervisor->moved, &count);
            supervisor->attempts.dirty = true;
        }
        const int64_t now = clock_monotonic_ms();
        tick(supervisor, now);
        talk_tick(&supervisor->talk);
        if (now >= alone_at(supervisor)) {
            log_event(LOG_INFO, "runner.alone", "after_ms=%d",
                      supervisor->settings->alone_ms);
            return;
        }
    }
}

enum ht_status supervisor_run(const struct supervisor_settings *settings,
                              struct ht_error *err)
{
    struct supervisor supervisor = {
        .settings = settings,
        .sender = settings->sender,
        .signals = -1,
        .wake = -1,
        .moved = -1,
        .attempts = {.watch = -1},
    };
    enum ht_status status = open_all(&supervisor, err);
    if (status == HT_OK)
        status = open_engine(&supervisor, err);
    if (status == HT_OK && supervisor.opened) {
        begin(&supervisor);
        log_event(LOG_INFO, "runner.ready",
                  "runner=%s engine=%s slots=%d gpus=%zu found=%zu",
                  supervisor.sender.runner, settings->engine->name,
                  settings->site->slots, settings->site->gpus.n,
                  attempts_count(&supervisor.attempts));
        loop(&supervisor);
        log_event(LOG_INFO, "runner.end", "attempts=%zu",
                  attempts_count(&supervisor.attempts));
    }
    close_all(&supervisor);
    return status;
}
