#include "tuner/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/access.h"
#include "tuner/addresses.h"
#include "tuner/backup/backups.h"
#include "tuner/base/backup_board.h"
#include "tuner/base/disk_reserve.h"
#include "tuner/base/session_board.h"
#include "tuner/base/store_board.h"
#include "tuner/base/tls_board.h"
#include "tuner/base/token_board.h"
#include "tuner/core/core.h"
#include "tuner/datadir.h"
#include "tuner/front.h"
#include "tuner/http/http.h"
#include "tuner/http/sse.h"
#include "tuner/local_runners.h"
#include "tuner/logs/logs.h"
#include "tuner/notify.h"
#include "tuner/parts.h"
#include "tuner/read/reader.h"
#include "tuner/runners/last_seen.h"
#include "tuner/secrets.h"
#include "tuner/stop_limit.h"
#include "tuner/store/store.h"
#include "tuner/tracker/trackers.h"
#include "tuner/webhook/webhooks.h"
#include "tuner/wire/nng_socket.h"

enum {
    HOLD_MS = 20000,       /* of a runner's poll */
    LOST_AFTER_MS = 30000, /* silence of a runner */
    RETRY_MS = 1000,       /* before a trial starts again */
    STOP_SECONDS = 5,      /* for everything */
    RUNNER_WAIT_MS = 1500,
    CALLS_WAIT_MS = 2000,
    N_READERS = 3, /* threads, one of them for quick questions only */
    URL_BYTES = OPTIONS_HOST_BYTES + 32
};

struct server {
    const struct options *options;
    const char *fail;
    struct datadir dir;
    struct secrets secrets;
    char host[OPTIONS_HOST_BYTES];
    int port, listen_fd;
    int public_port, public_fd; /* of https; -1: none, or taken over */
    char http_url[URL_BYTES];
    struct logs *logs;
    struct sse *sse;
    struct webhooks *webhooks;
    struct trackers *trackers;
    struct store_board *store_board;
    struct store *store;
    struct backup_board *backup_board;
    struct backups *backups;
    struct last_seen *last_seen;
    struct token_board *tokens;
    struct session_board *left_sessions;
    struct front *front; /* NULL: not needed */
    struct core *core;
    struct nng_socket *report, *control;
    struct access access;
    struct server_facts facts;
    int64_t started_ms; /* wall clock */
    struct reader_pool *readers, *models;
    struct http *http;
    struct local_runners *runners;
};

/* --- the steps, in order --- */

static enum ht_status start_datadir(struct server *server, struct ht_error *err)
{
    return datadir_open(server->options->data, &server->dir, err);
}

static void stop_datadir(struct server *server)
{
    datadir_close(&server->dir);
}

static enum ht_status start_secrets(struct server *server, struct ht_error *err)
{
    return secrets_open(&server->secrets, server->options, server->dir.path,
                        server->fail, err);
}

static void stop_secrets(struct server *server)
{
    secrets_close(&server->secrets);
}

/* The address for a client on this machine. */
static const char *reachable_host(const char *host)
{
    if (strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

static int public_port(const struct server *server)
{
    return front_has_http(server->options) ? server->public_port : server->port;
}

/* Where the public address is the front's, HTTP listens at one of loopback,
 * which by TLS is the plain one for this machine's programs. */
static enum ht_status start_listen(struct server *server, struct ht_error *err)
{
    static const char own[] = "127.0.0.1";
    enum ht_status status = options_split_address(
        server->options->listen, server->host, &server->port, err);
    if (status == HT_OK)
        status =
            http_listen(server->host, &server->port, &server->listen_fd, err);
    if (status == HT_EXISTS && server->options->on_demand) {
        server->port = 0;
        status =
            http_listen(server->host, &server->port, &server->listen_fd, err);
    }
    if (status == HT_OK && front_has_http(server->options)) {
        server->public_port = server->port;
        server->public_fd = server->listen_fd;
        server->port = 0;
        server->listen_fd = -1;
        status = http_listen(own, &server->port, &server->listen_fd, err);
    }
    if (status != HT_OK)
        return status;
    const bool by_tls = front_has_https(server->options);
    const char *host = by_tls ? own : reachable_host(server->host);
    snprintf(server->http_url, sizeof server->http_url,
             strchr(host, ':') != NULL ? "http://[%s]:%d" : "http://%s:%d",
             host, by_tls ? server->port : public_port(server));
    return HT_OK;
}

static void stop_listen(struct server *server)
{
    if (server->listen_fd >= 0)
        close(server->listen_fd);
    if (server->public_fd >= 0)
        close(server->public_fd);
}

static enum ht_status start_logs(struct server *server, struct ht_error *err)
{
    char *path = datadir_path(&server->dir, "logs.db");
    enum ht_status status = logs_start(path, &server->logs, err);
    free(path);
    return status;
}

static void stop_logs(struct server *server)
{
    logs_stop(server->logs);
}

/* The core has ended, so nothing can answer a call of HTTP any more. */
static void stop_streams(struct server *server)
{
    http_free(server->http);
    sse_free(server->sse);
    webhooks_free(server->webhooks);
    trackers_free(server->trackers);
    store_free(server->store);
    store_board_free(server->store_board);
    backup_board_free(server->backup_board);
    last_seen_free(server->last_seen);
    token_board_free(server->tokens);
    session_board_free(server->left_sessions);
}

static enum ht_status start_streams(struct server *server, struct ht_error *err)
{
    const char *login = server->options->mlflow_own_login;
    const struct trackers_options trackers = {
        .folder = server->dir.path,
        .mlflow = server->options->mlflow,
        .login_file = server->options->mlflow_login,
        .login = login[0] != '\0' ? login : NULL};
    server->sse = sse_new();
    server->webhooks = webhooks_new();
    server->backup_board = backup_board_new();
    server->store_board = store_board_new();
    server->store = store_new(server->store_board, server->fail);
    server->last_seen = last_seen_new();
    server->tokens = token_board_new();
    server->left_sessions = session_board_new();
    const enum ht_status status =
        trackers_new(&trackers, &server->trackers, err);
    if (status != HT_OK)
        stop_streams(server);
    return status;
}

static enum ht_status start_front(struct server *server, struct ht_error *err)
{
    return front_start(server->options, &server->front, err);
}

static void stop_front(struct server *server)
{
    front_stop(server->front);
}

static void on_revision(void *context, int64_t study, int64_t revision)
{
    struct server *server = context;
    sse_publish(server->sse, study, revision, NULL);
    webhooks_note(server->webhooks, study);
    trackers_note(server->trackers, study);
}

static void on_deleted(void *context, int64_t study)
{
    struct server *server = context;
    logs_forget(server->logs, study);
    webhooks_note(server->webhooks, study);
    trackers_note(server->trackers, study);
}

static void on_seen(void *context, const char *runner, int64_t wall_ms)
{
    struct server *server = context;
    last_seen_note(server->last_seen, runner, wall_ms);
}

static void on_elements(void *context, const char *runner, const char *json)
{
    struct server *server = context;
    last_seen_note_elements(server->last_seen, runner, json);
}

static enum ht_status start_core(struct server *server, struct ht_error *err)
{
    const struct core_options options = {
        .parts = server_parts,
        .data_dir = server->dir.path,
        .runner_token = server->dir.runner_token,
        .hold_ms = HOLD_MS,
        .lost_after_ms = LOST_AFTER_MS,
        .retry_ms = RETRY_MS,
        .on_revision = on_revision,
        .on_deleted = on_deleted,
        .on_seen = on_seen,
        .on_elements = on_elements,
        .context = server,
        .webhooks = webhooks_board(server->webhooks),
        .trackers = trackers_board(server->trackers),
        .tokens = server->tokens,
        .sessions = server->left_sessions,
        .backups = server->backup_board,
        .store = server->store,
        .fail = server->fail,
    };
    const enum ht_status status = core_start(&options, &server->core, err);
    if (status == HT_OK)
        front_audit(server->front, server->core);
    return status;
}

static void stop_core(struct server *server)
{
    front_audit(server->front, NULL);
    core_stop(server->core);
}

static struct addresses addresses_of(const struct server *server)
{
    return (struct addresses){server->options, server->core, server->logs,
                              server->front};
}

static enum ht_status start_report(struct server *server, struct ht_error *err)
{
    const struct addresses addresses = addresses_of(server);
    return addresses_start_report(&addresses, &server->report, err);
}

static void stop_report(struct server *server)
{
    nng_socket_stop(server->report);
}

static enum ht_status start_control(struct server *server, struct ht_error *err)
{
    const struct addresses addresses = addresses_of(server);
    return addresses_start_control(&addresses, &server->control, err);
}

static void stop_control(struct server *server)
{
    nng_socket_stop(server->control);
}

static enum ht_status start_access(struct server *server, struct ht_error *err)
{
    const struct access_wanted wanted = {
        .options = server->options,
        .dir = &server->dir,
        .tokens = server->tokens,
        .left_sessions = server->left_sessions,
        .front = server->front,
        .host = server->host,
        .any_address = strcmp(reachable_host(server->host), server->host) != 0,
        .port = server->port,
        .public_port = public_port(server),
    };
    return access_open(&wanted, &server->access, err);
}

static void stop_access(struct server *server)
{
    access_close(&server->access);
}

static void publish(void *stream, int64_t study, int64_t revision,
                    const char *project)
{
    sse_publish(stream, study, revision, project);
}

static enum ht_status start_readers(struct server *server, struct ht_error *err)
{
    char *path = datadir_path(&server->dir, "hypertune.db");
    server->facts = (struct server_facts){
        .server_id = core_server_id(server->core),
        .http = server->http_url,
        .report = nng_socket_url(server->report),
        .control = nng_socket_url(server->control),
        .folder = server->dir.path,
        .last_seen = server->last_seen,
        .webhooks = webhooks_board(server->webhooks),
        .trackers = trackers_board(server->trackers),
        .backups = server->backup_board,
        .store = server->store_board,
        .tls = front_board(server->front),
        .secrets = &server->secrets.state,
        .started_ms = clock_monotonic_ms(),
    };
    struct reader_options options = {.path = path,
                                     .logs = server->logs,
                                     .publish = publish,
                                     .stream = server->sse,
                                     .facts = &server->facts,
                                     .threads = N_READERS};
    enum ht_status status = reader_start(&options, &server->readers, err);
    options.threads = 1;
    if (status == HT_OK)
        status = reader_start(&options, &server->models, err);
    free(path);
    return status;
}

static void stop_readers(struct server *server)
{
    reader_stop(server->models);
    reader_stop(server->readers);
}

static enum ht_status start_store(struct server *server, struct ht_error *err)
{
    return store_start(server->store, server->dir.path, core_path(server->core),
                       err);
}

static void stop_store(struct server *server)
{
    store_stop(server->store);
}

static enum ht_status start_webhooks(struct server *server,
                                     struct ht_error *err)
{
    return webhooks_start(server->webhooks, server->dir.path, server->http_url,
                          server->core, err);
}

static void stop_webhooks(struct server *server)
{
    webhooks_stop(server->webhooks);
}

static enum ht_status start_trackers(struct server *server,
                                     struct ht_error *err)
{
    return trackers_start(server->trackers, core_server_id(server->core), err);
}

static void stop_trackers(struct server *server)
{
    trackers_stop(server->trackers);
}

static enum ht_status start_backups(struct server *server, struct ht_error *err)
{
    const struct backups_options options = {
        .data = server->dir.path,
        .folder = server->options->backups,
        .every_ms = server->options->backup_every_ms,
        .board = server->backup_board,
        .store = server->store_board,
        .fail = server->fail,
    };
    return backups_start(&options, &server->backups, err);
}

static void stop_backups(struct server *server)
{
    backups_stop(server->backups);
}

static enum ht_status start_http(struct server *server, struct ht_error *err)
{
    const struct http_options options = {
        .listen_fd = server->listen_fd,
        .gate = server->access.gate,
        .proxies = server->access.proxies,
        .sessions = server->access.sessions,
        .core = server->core,
        .readers = server->readers,
        .models = server->models,
        .store = server->store,
        .sse = server->sse,
        .page_most = (size_t)server->options->max_page,
        .relay_is_tls = front_has_https(server->options),
    };
    enum ht_status status = http_start(&options, &server->http, err);
    if (status != HT_OK)
        return status;
    server->listen_fd = -1; /* taken over */
    if (front_has_http(server->options))
        status = front_open_http(server->front, server->http, server->public_fd,
                                 server->host, err);
    server->public_fd = -1;
    if (status != HT_OK)
        http_stop(server->http, 0);
    return status;
}

static void stop_http(struct server *server)
{
    http_stop(server->http, CALLS_WAIT_MS);
}

static enum ht_status write_note(const struct server *server,
                                 struct ht_error *err)
{
    struct tls_state tls = {.https = ""};
    struct tls_board *board = front_board(server->front);
    if (board != NULL)
        tls_board_get(board, &tls);
    const struct datadir_note note = {
        .http = server->facts.http,
        .report = server->facts.report,
        .control = server->facts.control,
        .started_ms = server->started_ms,
        .https = board != NULL ? tls.https : NULL,
        .ca = tls.ca,
        .pins = tls.pins,
    };
    return datadir_announce(&server->dir, &note, err);
}

static enum ht_status start_note(struct server *server, struct ht_error *err)
{
    server->started_ms = clock_wall_ms();
    enum ht_status status = write_note(server, err);
    if (status != HT_OK)
        return status;
    printf("ready http=%s report=%s token-file=%s/token\n", server->facts.http,
           server->facts.report, server->dir.path);
    fflush(stdout);
    notify_manager("READY=1");
    reader_check(server->readers);
    return HT_OK;
}

static void stop_note(struct server *server)
{
    datadir_retract(&server->dir);
}

static enum ht_status start_runners(struct server *server, struct ht_error *err)
{
    (void)err;
    server->runners =
        local_runners_start(server->options, &server->dir, server->http_url);
    return HT_OK;
}

static void stop_runners(struct server *server)
{
    local_runners_stop(server->runners, RUNNER_WAIT_MS);
}

static const struct step {
    const char *name;
    enum ht_status (*start)(struct server *server, struct ht_error *err);
    void (*stop)(struct server *server);
} steps[] = {
    {"data folder", start_datadir, stop_datadir},
    {"secrets", start_secrets, stop_secrets},
    {"HTTP address", start_listen, stop_listen},
    {"logs", start_logs, stop_logs},
    {"streams", start_streams, stop_streams},
    {"TLS", start_front, stop_front},
    {"core", start_core, stop_core},
    {"report address", start_report, stop_report},
    {"control address", start_control, stop_control},
    {"access", start_access, stop_access},
    {"readers", start_readers, stop_readers},
    {"store", start_store, stop_store},
    {"webhooks", start_webhooks, stop_webhooks},
    {"trackers", start_trackers, stop_trackers},
    {"backups", start_backups, stop_backups},
    {"HTTP", start_http, stop_http},
    {"note", start_note, stop_note},
    {"runner", start_runners, stop_runners},
};
enum { N_STEPS = sizeof steps / sizeof *steps };

/* --- running --- */

/* Monotonic time of the next idle check; *over when the idle time is over. */
static int64_t check_idle(struct server *server, int64_t now_ms,
                          int64_t *busy_ms, bool *over)
{
    int64_t idle_ms = server->options->idle_exit_ms;
    if (idle_ms == 0)
        return INT64_MAX;
    int64_t active_ms = http_active_ms(server->http);
    if (core_is_busy(server->core))
        *busy_ms = now_ms;
    if (active_ms > *busy_ms)
        *busy_ms = active_ms;
    *over = now_ms - *busy_ms >= idle_ms;
    /* Work may end without a call, hence often enough to notice. */
    int64_t step_ms = idle_ms / 4 < 10000 ? idle_ms / 4 + 1 : 10000;
    return now_ms + step_ms;
}

static struct timespec until(int64_t now_ms, int64_t next_ms)
{
    int64_t ms = next_ms - now_ms > 3600000 ? 3600000 : next_ms - now_ms;
    ms = ms > 0 ? ms : 0;
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

/* Commands on this machine read the pins in server.json. */
static int64_t look_at_certificates(struct server *server, bool now,
                                    int64_t now_ms)
{
    struct ht_error err;
    int64_t next_ms;
    if (front_tick(server->front, now, now_ms, &next_ms) &&
        write_note(server, &err) != HT_OK)
        log_event(LOG_ERROR, "tls.not_announced", "why=\"%s\"", err.text);
    return next_ms;
}

/* The name of the signal or reason that ended it. */
static const char *serve(struct server *server)
{
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGHUP);
    bool hung_up = false;
    int64_t busy_ms = clock_monotonic_ms();
    for (;;) {
        bool over = false;
        int64_t now_ms = clock_monotonic_ms();
        int64_t next_ms = check_idle(server, now_ms, &busy_ms, &over);
        if (over)
            return "idle";
        const int64_t wanted_ms = local_runners_tick(server->runners, now_ms);
        next_ms = wanted_ms < next_ms ? wanted_ms : next_ms;
        const int64_t look_ms = look_at_certificates(server, hung_up, now_ms);
        next_ms = look_ms < next_ms ? look_ms : next_ms;
        struct timespec left = until(now_ms, next_ms);
        int sig = sigtimedwait(&awaited, NULL, &left);
        if (sig == SIGTERM)
            return "SIGTERM";
        if (sig == SIGINT)
            return "SIGINT";
        hung_up = sig == SIGHUP;
    }
}

/* A disk that is full keeps no server down: a step that fails for it is tried
 * again. False: it is not that, or the server is to stop. */
static bool await_room(const struct server *server, enum ht_status status,
                       const struct ht_error *why)
{
    const struct timespec pause = {.tv_nsec = 500000000};
    sigset_t ends;
    if ((status != HT_IO && status != HT_UNAVAILABLE) ||
        !disk_reserve_is_used_up(server->options->data))
        return false;
    log_event(LOG_ERROR, "server.waits", "for=disk why=\"%s\"", why->text);
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    return sigtimedwait(&ends, NULL, &pause) < 0;
}

enum ht_status server_run(const struct options *options, const char *fail,
                          struct ht_error *err)
{
    struct server *server = ht_xcalloc(1, sizeof *server);
    server->options = options;
    server->fail = fail;
    server->listen_fd = server->public_fd = -1;
    server->dir = (struct datadir){.folder_lock = -1, .lock = -1};
    enum ht_status status = HT_OK;
    size_t started = 0;
    while (status == HT_OK && started < N_STEPS) {
        status = steps[started].start(server, err);
        if (status == HT_OK)
            started++;
        else if (await_room(server, status, err))
            status = HT_OK;
        else if (status != HT_CONFLICT)
            ht_wrap(err, status, "%s", steps[started].name);
    }
    if (status == HT_OK) {
        log_event(LOG_INFO, "server.stopping", "reason=%s", serve(server));
        notify_manager("STOPPING=1");
    }
    stop_limit_set(STOP_SECONDS);
    while (started > 0)
        steps[--started].stop(server);
    stop_limit_lift();
    free(server);
    return status;
}
