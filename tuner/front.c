#include "tuner/front.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/net/address.h"
#include "proto/net/relay.h"
#include "proto/net/tls_files.h"
#include "tuner/base/budget.h"
#include "tuner/base/tls_board.h"
#include "tuner/core/audit.h"
#include "tuner/http/gate.h"
#include "tuner/http/http.h"
#include "tuner/http/raw_heads.h"
#include "tuner/http/refused.h"
#include "tuner/options.h"
#include "tuner/wire/nng_socket.h"

enum {
    LOOK_MS = 60000,     /* between two looks at the files */
    DAY_MS = 86400000,   /* between two warnings of the certificate's end */
    LISTENERS = 3,       /* HTTP, reports, control */
    MOST = 4096,         /* connections; each has three descriptors */
    RESERVED_FILES = 256 /* for the database, logs and others */
};

struct stamp { /* of one file */
    ino_t inode;
    struct timespec changed;
};

enum { CERT, KEY, NEXT, CA, CLIENTS, CRL, FILES };

struct front {
    const struct options *options;
    char *files[FILES]; /* NULL: none */
    struct stamp stamps[FILES];
    struct tls_server *for_http, *for_wire; /* NULL: plain */
    struct relay *relay;
    struct refused_log refused; /* the relay's thread's */
    struct relay_check heads;
    size_t most;
    struct http *http;
    struct tls_board *board; /* NULL: no TLS */
    int64_t looked_ms, warned_ms;
    pthread_mutex_t lock; /* of `core` */
    struct core *core;    /* NULL: not yet, or no more */
};

static bool has_tls(const struct options *options)
{
    return options->tls_cert != NULL;
}

bool front_has_https(const struct options *options)
{
    return has_tls(options) && options->behind_proxy == NULL;
}

bool front_has_http(const struct options *options)
{
    char host[OPTIONS_HOST_BYTES];
    int port;
    return front_has_https(options) ||
           (options_split_address(options->listen, host, &port, NULL) ==
                HT_OK &&
            !address_is_loopback(host));
}

struct tls_board *front_board(struct front *front)
{
    return front == NULL ? NULL : front->board;
}

/* ---- files ---- */

static void stamp_files(const struct front *front, struct stamp stamps[FILES])
{
    memset(stamps, 0, FILES * sizeof *stamps);
    for (int i = 0; i < FILES; i++) {
        struct stat found;
        if (front->files[i] != NULL && stat(front->files[i], &found) == 0)
            stamps[i] = (struct stamp){found.st_ino, found.st_mtim};
    }
}

static bool have_changed(const struct stamp a[FILES],
                         const struct stamp b[FILES])
{
    for (int i = 0; i < FILES; i++)
        if (a[i].inode != b[i].inode ||
            a[i].changed.tv_sec != b[i].changed.tv_sec ||
            a[i].changed.tv_nsec != b[i].changed.tv_nsec)
            return true;
    return false;
}

static char *copy(const char *text)
{
    return text != NULL ? ht_xstrdup(text) : NULL;
}

static void find_files(struct front *front)
{
    const struct options *options = front->options;
    struct arena *arena = arena_new();
    front->files[CERT] = ht_xstrdup(options->tls_cert);
    front->files[KEY] = ht_xstrdup(options->tls_key);
    front->files[CLIENTS] = copy(options->tls_clients);
    front->files[CRL] = copy(options->tls_crl);
    if (options->tls != NULL) {
        front->files[NEXT] =
            ht_xstrdup(arena_printf(arena, "%s/next-key.pem", options->tls));
        front->files[CA] =
            ht_xstrdup(arena_printf(arena, "%s/ca.pem", options->tls));
    }
    arena_free(arena);
}

/* The pins that clients may see: of the key in use and of the next one. */
static enum ht_status read_state(const struct front *front,
                                 struct tls_state *state, struct ht_error *err)
{
    struct tls_file_facts facts;
    char next[TLS_PIN_BYTES] = "";
    const char *next_file = front->files[NEXT], *ca = front->files[CA];
    enum ht_status status = tls_facts_of_file(front->files[CERT], &facts, err);
    if (status == HT_OK && next_file != NULL && access(next_file, F_OK) == 0)
        status = tls_pin_of_file(next_file, next, err);
    if (status != HT_OK)
        return status;
    snprintf(state->pins, sizeof state->pins, "%s%s%s", facts.pin,
             next[0] != '\0' ? ";" : "", next);
    snprintf(state->ca, sizeof state->ca, "%s",
             ca != NULL && access(ca, R_OK) == 0 ? ca : "");
    state->ends_ms = facts.ends;
    return HT_OK;
}

static void warn_of_end(struct front *front)
{
    struct tls_state state;
    tls_board_get(front->board, &state);
    const int64_t left_ms = state.ends_ms - clock_wall_ms();
    front->warned_ms = clock_monotonic_ms();
    if (left_ms < 0)
        log_event(LOG_ERROR, "tls.expired", "days_ago=%lld",
                  (long long)(-left_ms / DAY_MS));
    else if (left_ms < (int64_t)14 * DAY_MS)
        log_event(LOG_WARN, "tls.expires", "days=%lld",
                  (long long)(left_ms / DAY_MS));
}

static enum ht_status reload(struct front *front, struct ht_error *err)
{
    struct tls_state state;
    tls_board_get(front->board, &state);
    enum ht_status status = read_state(front, &state, err);
    if (status == HT_OK)
        status = tls_server_reload(front->for_http, err);
    if (status == HT_OK)
        status = tls_server_reload(front->for_wire, err);
    if (status != HT_OK)
        return status;
    tls_board_set(front->board, &state);
    log_event(LOG_INFO, "tls.loaded", "pins=%s", state.pins);
    warn_of_end(front);
    return HT_OK;
}

bool front_tick(struct front *front, bool now, int64_t now_ms, int64_t *next_ms)
{
    struct stamp stamps[FILES];
    struct ht_error err;
    const bool has_files = front_board(front) != NULL;
    if (!has_files || (!now && now_ms - front->looked_ms < LOOK_MS)) {
        *next_ms = has_files ? front->looked_ms + LOOK_MS : INT64_MAX;
        return false;
    }
    *next_ms = now_ms + LOOK_MS;
    front->looked_ms = now_ms;
    stamp_files(front, stamps);
    if (now_ms - front->warned_ms >= DAY_MS)
        warn_of_end(front);
    if (!now && !have_changed(stamps, front->stamps))
        return false;
    if (reload(front, &err) != HT_OK) {
        log_event(LOG_ERROR, "tls.not_loaded", "why=\"%s\"", err.text);
        return false;
    }
    memcpy(front->stamps, stamps, sizeof stamps);
    return true;
}

/* ---- life ---- */

static enum ht_status open_certificates(struct front *front,
                                        struct ht_error *err)
{
    struct tls_state state = {.pins = ""};
    find_files(front);
    stamp_files(front, front->stamps);
    front->board = tls_board_new();
    struct tls_server_settings settings = {.cert = front->files[CERT],
                                           .key = front->files[KEY],
                                           .client_ca = front->files[CLIENTS],
                                           .crl = front->files[CRL],
                                           .http = true};
    enum ht_status status = tls_server_open(&settings, &front->for_http, err);
    settings.http = false;
    if (status == HT_OK)
        status = tls_server_open(&settings, &front->for_wire, err);
    if (status == HT_OK)
        status = read_state(front, &state, err);
    if (status != HT_OK)
        return status;
    tls_board_set(front->board, &state);
    warn_of_end(front);
    return HT_OK;
}

static size_t most_connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
        files.rlim_cur / 4 > MOST + RESERVED_FILES)
        return MOST;
    return files.rlim_cur > (rlim_t)2 * RESERVED_FILES
               ? (files.rlim_cur - RESERVED_FILES) / 6
               : RESERVED_FILES / 8;
}

enum ht_status front_start(const struct options *options, struct front **front,
                           struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (!has_tls(options) && !front_has_http(options))
        return HT_OK;
    struct front *made = ht_xcalloc(1, sizeof *made);
    made->options = options;
    made->most = most_connections();
    made->heads = raw_heads_check(&made->refused);
    made->looked_ms = clock_monotonic_ms();
    pthread_mutex_init(&made->lock, NULL);
    if (has_tls(options))
        status = open_certificates(made, err);
    if (status == HT_OK)
        status = relay_start(made->most, &made->relay, err);
    if (status == HT_OK)
        *front = made;
    else
        front_stop(made);
    return status;
}

void front_stop(struct front *front)
{
    if (front == NULL)
        return;
    relay_stop(front->relay);
    tls_server_free(front->for_http);
    tls_server_free(front->for_wire);
    tls_board_free(front->board);
    pthread_mutex_destroy(&front->lock);
    for (int i = 0; i < FILES; i++)
        free(front->files[i]);
    free(front);
}

/* ---- what the relay calls ---- */

static bool take(void *context, int fd, const struct relay_peer *peer)
{
    const struct front *front = context;
    http_adopt(front->http, fd, (const struct sockaddr *)&peer->from,
               peer->from_len, peer->certificate);
    return true;
}

static void exceeded(void *context, bool each)
{
    (void)context;
    budget_exceeded(each ? BUDGET_HANDSHAKES : BUDGET_HANDSHAKES_ALL);
}

void front_audit(struct front *front, struct core *core)
{
    if (front == NULL)
        return;
    pthread_mutex_lock(&front->lock);
    front->core = core;
    pthread_mutex_unlock(&front->lock);
}

static void refused(void *context, const struct relay_peer *peer,
                    const char *why)
{
    struct front *front = context;
    const struct audit_note note = {.peer = peer->address,
                                    .method = "tls",
                                    .pattern = "handshake",
                                    .status = HT_UNAUTHENTICATED,
                                    .error = why};
    pthread_mutex_lock(&front->lock);
    if (front->core != NULL)
        audit_note(front->core, &note);
    pthread_mutex_unlock(&front->lock);
}

/* ---- addresses ---- */

static enum ht_status open_at(struct front *front,
                              struct relay_listener *wanted, int *port,
                              struct ht_error *err)
{
    wanted->most = front->most / LISTENERS; /* none takes another's */
    wanted->unfinished = (size_t)budget_of(BUDGET_HANDSHAKES_ALL);
    wanted->unfinished_each = (size_t)budget_of(BUDGET_HANDSHAKES);
    wanted->exceeded = exceeded;
    wanted->refused = refused;
    wanted->context = front;
    const enum ht_status status = relay_open(front->relay, wanted, port, err);
    if (status != HT_OK)
        close(wanted->fd);
    return status;
}

static void write_url(char url[TLS_URL_BYTES], const char *scheme,
                      const char *host, int port)
{
    snprintf(url, TLS_URL_BYTES,
             strchr(host, ':') != NULL ? "%s://[%s]:%d" : "%s://%s:%d", scheme,
             host, port);
}

static bool is_any(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

enum ht_status front_open_http(struct front *front, struct http *http, int fd,
                               const char *host, struct ht_error *err)
{
    struct relay_listener wanted = {
        .address = host, .fd = fd, .take = take, .check = &front->heads};
    const bool by_tls = front_has_https(front->options);
    struct tls_state state;
    struct tls_file_facts facts;
    int port;
    front->http = http;
    if (by_tls)
        wanted.accept_tls = front->for_http;
    enum ht_status status = open_at(front, &wanted, &port, err);
    if (status == HT_OK && by_tls)
        status = tls_facts_of_file(front->files[CERT], &facts, err);
    if (status != HT_OK || !by_tls)
        return status;
    /* A server that listens everywhere is named by its first host. */
    facts.hosts[strcspn(facts.hosts, ",")] = '\0';
    tls_board_get(front->board, &state);
    write_url(state.https, "https",
              is_any(host) && facts.hosts[0] != '\0' ? facts.hosts : host,
              port);
    tls_board_set(front->board, &state);
    return HT_OK;
}

static enum ht_status open_wire(struct front *front, struct nng_socket *socket,
                                const char *url, bool any_port,
                                char public_url[TLS_URL_BYTES],
                                struct ht_error *err)
{
    char host[OPTIONS_HOST_BYTES];
    int port, fd;
    const char *to;
    struct relay_listener wanted = {.accept_tls = front->for_wire};
    enum ht_status status =
        options_split_address(url + strlen("tcp://"), host, &port, err);
    if (status != HT_OK)
        return status;
    if (strcmp(host, "*") == 0)
        snprintf(host, sizeof host, "0.0.0.0");
    status = http_listen(host, &port, &fd, err);
    if (status == HT_EXISTS && any_port) {
        port = 0;
        status = http_listen(host, &port, &fd, err);
    }
    if (status == HT_EXISTS)
        return ht_fail(err, status, "%s is in use; port 0 takes any", url);
    if (status != HT_OK)
        return status;
    status = nng_socket_listen_behind(socket, front->relay, &to, err);
    if (status != HT_OK) {
        close(fd);
        return status;
    }
    wanted.address = host;
    wanted.fd = fd;
    wanted.to = to;
    status = open_at(front, &wanted, &port, err);
    if (status == HT_OK)
        write_url(public_url, "tls+tcp", host, port);
    return status;
}

enum ht_status front_open_report(struct front *front, struct nng_socket *socket,
                                 const char *url, bool any_port,
                                 struct ht_error *err)
{
    struct tls_state state;
    tls_board_get(front->board, &state);
    const enum ht_status status =
        open_wire(front, socket, url, any_port, state.report, err);
    tls_board_set(front->board, &state);
    return status;
}

enum ht_status front_open_control(struct front *front,
                                  struct nng_socket *socket, const char *url,
                                  bool any_port, struct ht_error *err)
{
    struct tls_state state;
    tls_board_get(front->board, &state);
    const enum ht_status status =
        open_wire(front, socket, url, any_port, state.control, err);
    tls_board_set(front->board, &state);
    return status;
}

enum ht_status front_allow_names(const struct front *front, struct gate *gate,
                                 int port, struct ht_error *err)
{
    struct tls_file_facts facts;
    enum ht_status status = tls_facts_of_file(front->files[CERT], &facts, err);
    const char *at = facts.hosts;
    while (status == HT_OK && *at != '\0') {
        const int len = (int)strcspn(at, ",");
        char host[256], url[TLS_URL_BYTES];
        snprintf(host, sizeof host, "%.*s", len, at);
        write_url(url, "https", host, port);
        status = gate_allow_name(gate, url, strlen(url), err);
        at += len + (at[len] == ',');
    }
    return status;
}
