#include "tuner/wire/nng_socket.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>

#include <arpa/inet.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/supplemental/util/platform.h>

#include "proto/base/limits.h"
#include "proto/net/relay.h"
#include "tuner/core/core.h"
#include "tuner/core/request.h"
#include "tuner/wire/control.h"
#include "tuner/wire/envelope.h"
#include "tuner/wire/log_messages.h"
#include "tuner/wire/pipe_peers.h"
#include "tuner/wire/report.h"

enum {
    ANSWERS = 8192, /* held by the socket; sending never blocks the core */
    RECEIVED = 64,  /* held by the socket before they are read */
    UNANSWERED_BYTES = 64 << 20, /* beyond, nothing more is read: TCP slows the
                                    senders, and memory stays bounded */
    MOST = 20000,                /* connections */
    URL_BYTES = 160
};

struct nng_socket {
    nng_socket nng;
    nng_aio *receive; /* the thread's one operation */
    struct core *core;
    struct logs *logs; /* NULL: no log messages here */
    request_handler *handle;
    char url[URL_BYTES];
    char url_behind[URL_BYTES]; /* for the relay; "": there is none */
    struct pipes *pipes;
    pthread_t thread;
    pthread_mutex_t lock; /* guards unanswered, bytes */
    pthread_cond_t answered;
    size_t unanswered; /* requests that are not ours at the moment */
    size_t bytes;      /* of their messages */
};

/* What the callbacks of nng use; never freed, since they may come until the
 * process ends. */
struct pipes {
    pthread_mutex_t lock; /* of `relay` and `polls` */
    struct relay *relay;  /* NULL: there is none, or it has ended */
    struct pipe_peers *peers;
    atomic_int behind; /* the listener that the relay uses; 0: none */
    struct core *core;
    LIST_HEAD(, pending) polls; /* those without an answer */
};

/* A message under way; its header routes the answer back. */
struct pending {
    LIST_ENTRY(pending) link; /* of a poll */
    struct nng_socket *socket;
    struct request *req;
    nng_msg *msg; /* the request; reused for the answer */
    size_t len;   /* of the request */
    uint32_t pipe;
    bool poll; /* may be held, and its answer has no use without the pipe */
};

/* --- answering --- */

static void send_answer(struct nng_socket *socket, nng_msg *msg,
                        const struct text *text)
{
    nng_msg_clear(msg);
    /* A peer that was closed asks again and gets the same answer; as one does
     * that hears nothing since there is no memory. */
    if (text->len == 0 || nng_msg_append(msg, text->data, text->len) != 0 ||
        nng_sendmsg(socket->nng, msg, NNG_FLAG_NONBLOCK) != 0)
        nng_msg_free(msg);
}

struct answer_text {
    const struct request *req;
    struct text text;
};

static void write_answer(void *context)
{
    struct answer_text *written = context;
    wire_answer(written->req, &written->text);
}

static void answer(struct request *req)
{
    struct pending *pending = req->owner;
    struct nng_socket *socket = pending->socket;
    const size_t len = pending->len;
    struct answer_text written = {req, {0}};
    if (pending->poll) {
        pthread_mutex_lock(&socket->pipes->lock);
        LIST_REMOVE(pending, link);
        pthread_mutex_unlock(&socket->pipes->lock);
    }
    if (req->status == HT_OK)
        pipe_peers_prove(socket->pipes->peers, pending->pipe);
    if (!memory_try(write_answer, &written))
        text_free(&written.text);
    send_answer(socket, pending->msg, &written.text);
    text_free(&written.text);
    request_free(req);
    pthread_mutex_lock(&socket->lock);
    socket->unanswered--;
    socket->bytes -= len;
    pthread_cond_broadcast(&socket->answered);
    pthread_mutex_unlock(&socket->lock);
}

/* --- receiving --- */

static void refuse(struct request *req, const struct diag *diag)
{
    const struct diag_item *item = diag->first;
    req->status =
        ht_fail(&req->err, HT_INVALID, "line %d column %d: %s",
                item == NULL ? 1 : item->line, item == NULL ? 1 : item->column,
                item == NULL ? "no JSON object" : item->text);
    answer(req);
}

static bool is_of_type(const struct node *body, const char *type)
{
    return body->kind == NODE_MAP &&
           strcmp(node_get_string(body, "type", ""), type) == 0;
}

/* A runner that has gone gets no work: its trial would wait until the runner
 * counts as lost. */
static void note_poll(struct pipes *pipes, struct pending *pending)
{
    nng_sockaddr at;
    pending->poll = true;
    pthread_mutex_lock(&pipes->lock);
    LIST_INSERT_HEAD(&pipes->polls, pending, link);
    pthread_mutex_unlock(&pipes->lock);
    /* It may have ended before it was noted. */
    if (nng_pipe_get_addr(nng_msg_get_pipe(pending->msg), NNG_OPT_REMADDR,
                          &at) != 0)
        atomic_store(&pending->req->abandoned, true);
}

static void post(struct nng_socket *socket, struct pending *pending)
{
    if (is_of_type(pending->req->body, "lease"))
        note_poll(socket->pipes, pending);
    core_post(socket->core, pending->req);
}

/* A message on its way to the core. */
struct arriving {
    struct nng_socket *socket;
    nng_msg *msg;
    struct request *req; /* NULL: not made yet */
    struct diag diag;
};

static void read_message(void *context)
{
    struct arriving *arriving = context;
    struct nng_socket *socket = arriving->socket;
    nng_msg *msg = arriving->msg;
    const size_t len = nng_msg_len(msg);
    struct request *req = arriving->req = request_new();
    struct pending *pending = arena_alloc(req->arena, 1, sizeof *pending);
    *pending =
        (struct pending){.socket = socket, .req = req, .msg = msg, .len = len};
    req->owner = pending;
    pending->pipe = (uint32_t)nng_pipe_id(nng_msg_get_pipe(msg));
    (void)pipe_peers_find(socket->pipes->peers, pending->pipe, &req->from);
    req->handle = socket->handle;
    req->answer = answer;
    const char *text = arena_strndup(req->arena, nng_msg_body(msg), len);
    diag_init(&arriving->diag, req->arena, "message", text, len);
    req->body = node_read_json(req->arena, text, len, &arriving->diag);
}

static void count_in(struct nng_socket *socket, size_t len)
{
    pthread_mutex_lock(&socket->lock);
    while (socket->bytes > UNANSWERED_BYTES)
        pthread_cond_wait(&socket->answered, &socket->lock);
    socket->unanswered++;
    socket->bytes += len;
    pthread_mutex_unlock(&socket->lock);
}

/* Without memory the message is dropped: its sender repeats it. */
static void take(struct nng_socket *socket, nng_msg *msg)
{
    struct arriving arriving = {.socket = socket, .msg = msg};
    if (!memory_is_enough() || !memory_try(read_message, &arriving)) {
        request_free(arriving.req);
        nng_msg_free(msg);
        return;
    }
    struct request *req = arriving.req;
    count_in(socket, nng_msg_len(msg));
    if (req->body == NULL)
        refuse(req, &arriving.diag);
    else if (socket->logs != NULL && is_of_type(req->body, "log"))
        log_messages_handle(socket->core, socket->logs, req);
    else
        post(socket, req->owner);
}

static void *run(void *argument)
{
    struct nng_socket *socket = argument;
    int code;
    do {
        nng_recv_aio(socket->nng, socket->receive);
        nng_aio_wait(socket->receive);
        code = nng_aio_result(socket->receive);
        if (code == 0)
            take(socket, nng_aio_get_msg(socket->receive));
        else if (code != NNG_ECANCELED)
            nng_msleep(10); /* out of memory or descriptors: not a hot loop */
    } while (code != NNG_ECANCELED);
    return NULL;
}

/* --- pipes --- */

/* An eighth of the descriptors for reports, another one for control. */
static size_t most_connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 8 > MOST)
        return MOST;
    return files.rlim_cur / 8;
}

static struct pipes *new_pipes(struct core *core)
{
    struct pipes *pipes = ht_xcalloc(1, sizeof *pipes);
    pthread_mutex_init(&pipes->lock, NULL);
    pipes->peers = pipe_peers_new(most_connections());
    pipes->core = core;
    LIST_INIT(&pipes->polls);
    return pipes;
}

/* Of a socket that did not start: others keep theirs, see nng_socket_stop(). */
static void free_pipes(struct pipes *pipes)
{
    pipe_peers_free(pipes->peers);
    pthread_mutex_destroy(&pipes->lock);
    free(pipes);
}

static void end_pipe(struct pipes *pipes, uint32_t number)
{
    struct pending *pending;
    pipe_peers_end(pipes->peers, number);
    pthread_mutex_lock(&pipes->lock);
    bool some = false;
    LIST_FOREACH(pending, &pipes->polls, link)
    {
        if (pending->pipe == number) {
            atomic_store(&pending->req->abandoned, true);
            some = true;
        }
    }
    if (some) /* one without an answer keeps the core */
        core_drop_abandoned(pipes->core);
    pthread_mutex_unlock(&pipes->lock);
}

static bool is_of_relay(struct pipes *pipes, int port, struct relay_peer *peer)
{
    pthread_mutex_lock(&pipes->lock);
    const bool found =
        pipes->relay != NULL && relay_peer_of_port(pipes->relay, port, peer);
    pthread_mutex_unlock(&pipes->lock);
    return found;
}

static void write_address(const nng_sockaddr *at,
                          char address[INET6_ADDRSTRLEN])
{
    if (at->s_family == NNG_AF_INET)
        inet_ntop(AF_INET, &at->s_in.sa_addr, address, INET6_ADDRSTRLEN);
    else if (at->s_family == NNG_AF_INET6)
        inet_ntop(AF_INET6, at->s_in6.sa_addr, address, INET6_ADDRSTRLEN);
}

/* Before a connection is used, and after its end. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev what, void *context)
{
    struct pipes *pipes = context;
    const uint32_t number = (uint32_t)nng_pipe_id(pipe);
    nng_sockaddr at;
    if (what == NNG_PIPE_EV_REM_POST) {
        end_pipe(pipes, number);
        return;
    }
    struct relay_peer peer = {.address = ""};
    if (nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &at) != 0)
        at.s_family = NNG_AF_UNSPEC;
    if (nng_listener_id(nng_pipe_listener(pipe)) != atomic_load(&pipes->behind))
        write_address(&at, peer.address);
    else if (at.s_family != NNG_AF_INET ||
             !is_of_relay(pipes, ntohs(at.s_in.sa_port), &peer)) {
        nng_pipe_close(pipe);
        return;
    }
    const nng_pipe excess = {.id = pipe_peers_begin(pipes->peers, number,
                                                    peer.address,
                                                    peer.certificate)};
    if (excess.id != 0)
        nng_pipe_close(excess);
}

/* --- life --- */

static enum ht_status fail(struct ht_error *err, int code, const char *url)
{
    return ht_fail(err, HT_IO, "cannot listen on %s: %s", url,
                   nng_strerror(code));
}

static enum ht_status note_url(char bound[URL_BYTES], nng_listener listener,
                               const char *url, struct ht_error *err)
{
    int port;
    const int code =
        nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port);
    if (code != 0)
        return fail(err, code, url);
    const char *colon = strrchr(url, ':');
    snprintf(bound, URL_BYTES, "%.*s:%d", (int)(colon - url), url, port);
    return HT_OK;
}

static enum ht_status listen_at(struct nng_socket *socket, const char *url,
                                struct ht_error *err)
{
    if (strncmp(url, "tcp://", 6) != 0 || strrchr(url, ':') == url + 3 ||
        strlen(url) > URL_BYTES - 8)
        return ht_fail(err, HT_INVALID, "%s is not tcp://HOST:PORT", url);
    nng_listener listener;
    int code = nng_rep0_open_raw(&socket->nng);
    if (code != 0)
        return fail(err, code, url);
    code = nng_socket_set_size(socket->nng, NNG_OPT_RECVMAXSZ, HT_MAX_MESSAGE);
    if (code == 0)
        code = nng_socket_set_int(socket->nng, NNG_OPT_SENDBUF, ANSWERS);
    if (code == 0)
        code = nng_socket_set_int(socket->nng, NNG_OPT_RECVBUF, RECEIVED);
    if (code == 0)
        code = nng_pipe_notify(socket->nng, NNG_PIPE_EV_ADD_PRE, on_pipe,
                               socket->pipes);
    if (code == 0)
        code = nng_pipe_notify(socket->nng, NNG_PIPE_EV_REM_POST, on_pipe,
                               socket->pipes);
    if (code == 0)
        code = nng_listener_create(&listener, socket->nng, url);
    if (code == 0)
        code = nng_listener_start(listener, 0);
    return code != 0 ? fail(err, code, url)
                     : note_url(socket->url, listener, url, err);
}

static void release(struct nng_socket *socket)
{
    nng_aio_free(socket->receive);
    pthread_cond_destroy(&socket->answered);
    pthread_mutex_destroy(&socket->lock);
    free(socket);
}

static enum ht_status start(const struct nng_socket *model, const char *url,
                            struct nng_socket **out, struct ht_error *err)
{
    struct nng_socket *socket = ht_xcalloc(1, sizeof *socket);
    *socket = *model;
    pthread_mutex_init(&socket->lock, NULL);
    pthread_cond_init(&socket->answered, NULL);
    socket->pipes = new_pipes(socket->core);
    int code = nng_aio_alloc(&socket->receive, NULL, NULL);
    enum ht_status status =
        code != 0 ? fail(err, code, url) : listen_at(socket, url, err);
    if (status == HT_OK &&
        (code = pthread_create(&socket->thread, NULL, run, socket)) != 0)
        status = ht_fail_errno(err, code, "cannot start the socket thread");
    if (status == HT_OK) {
        *out = socket;
    } else {
        nng_close(socket->nng); /* one that was never opened is accepted */
        free_pipes(socket->pipes);
        release(socket);
    }
    return status;
}

enum ht_status nng_socket_start_report(struct core *core, const char *url,
                                       struct nng_socket **socket,
                                       struct ht_error *err)
{
    const struct nng_socket model = {.core = core, .handle = report_handle};
    return start(&model, url, socket, err);
}

enum ht_status nng_socket_start_control(struct core *core, struct logs *logs,
                                        const char *url,
                                        struct nng_socket **socket,
                                        struct ht_error *err)
{
    const struct nng_socket model = {
        .core = core, .logs = logs, .handle = control_handle};
    return start(&model, url, socket, err);
}

const char *nng_socket_url(const struct nng_socket *socket)
{
    return socket->url;
}

enum ht_status nng_socket_listen_behind(struct nng_socket *socket,
                                        struct relay *relay, const char **url,
                                        struct ht_error *err)
{
    static const char any[] = "tcp://127.0.0.1:0";
    struct pipes *pipes = socket->pipes;
    nng_listener listener;
    int code = nng_listener_create(&listener, socket->nng, any);
    if (code != 0)
        return fail(err, code, any);
    pthread_mutex_lock(&pipes->lock);
    pipes->relay = relay;
    atomic_store(&pipes->behind, nng_listener_id(listener));
    pthread_mutex_unlock(&pipes->lock);
    code = nng_listener_start(listener, 0);
    if (code != 0)
        return fail(err, code, any);
    const enum ht_status status =
        note_url(socket->url_behind, listener, any, err);
    *url = socket->url_behind;
    return status;
}

/* The socket stays open until the program ends: with a message on its way in,
 * nng_close() of nng 1.5.2 waits for ever, leaks the message or locks a
 * destroyed mutex. It is no longer read, and messages without an answer are
 * sent again to the next server. */
void nng_socket_stop(struct nng_socket *socket)
{
    if (socket == NULL)
        return;
    pthread_mutex_lock(&socket->pipes->lock);
    socket->pipes->relay = NULL;
    pthread_mutex_unlock(&socket->pipes->lock);
    nng_aio_stop(socket->receive);
    core_stop_holding(socket->core);
    pthread_join(socket->thread, NULL);
    pthread_mutex_lock(&socket->lock);
    while (socket->unanswered > 0)
        pthread_cond_wait(&socket->answered, &socket->lock);
    pthread_mutex_unlock(&socket->lock);
    release(socket);
}
