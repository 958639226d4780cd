#include "runner/talk/req_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"

enum { REDIAL_FIRST_MS = 100, REDIAL_MOST_MS = 2000 };

/* nng 1.5.2 can wait for ever in nng_close() after it has refused a message for
 * its length. So it refuses only messages far too long for memory; others above
 * HT_MAX_MESSAGE are received and dropped here. */
#define REFUSED_BYTES ((size_t)64 * HT_MAX_MESSAGE)

/* nng 1.5.2 waits for ever when a message arrives during nng_close(): one in
 * fifty closes did with an answer under way, none of 12,000 without. So a
 * connection that waits for an answer is retired, and closed once the answer
 * has come or the server has disconnected. */
struct connection {
    struct connection *next; /* among the retired */
    int event;               /* borrowed: a flag below became true */
    atomic_bool settled;     /* no operation of `aio` is under way */
    atomic_bool joined;      /* the server has connected */
    atomic_bool parted;      /* ... and disconnected again */
    nng_aio *aio;
    nng_socket socket;
    nng_ctx ctx;
    bool receiving; /* the operation of `aio` is the newest answer's */
    bool asked;     /* the newest request has no answer yet */
    bool passed;    /* an older one was replaced without an answer */
};

struct req_socket {
    int kick;                   /* borrowed */
    int event;                  /* eventfd, cleared by await() */
    struct connection *current; /* NULL: not connected */
    struct connection *retired;
    struct req_socket *older; /* in left_behind */
};

/* Freed sockets with a retired connection: kept until the program ends, since
 * nng's threads use the connection. */
static struct req_socket *_Atomic left_behind;

/* ---- called by nng's threads ---- */

static void set_flag(const struct connection *connection, atomic_bool *flag)
{
    atomic_store(flag, true);
    eventfd_write(connection->event, 1); /* fails when full, which also wakes */
}

static void operation_settled(void *context)
{
    struct connection *connection = context;
    set_flag(connection, &connection->settled);
}

static void pipe_changed(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    struct connection *connection = context;
    (void)pipe;
    set_flag(connection, event == NNG_PIPE_EV_ADD_POST ? &connection->joined
                                                       : &connection->parted);
}

/* Waits until the flag is true: REQ_ANSWERED. */
static enum req_socket_result await(const struct req_socket *req,
                                    const atomic_bool *flag, int timeout_ms)
{
    const int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (!atomic_load(flag)) {
        struct pollfd fds[] = {{.fd = req->event, .events = POLLIN},
                               {.fd = req->kick, .events = POLLIN}};
        const int64_t left = deadline - clock_monotonic_ms();
        const int n = poll(fds, 2, left > 0 ? (int)left : 0);
        if (n < 0 && errno != EINTR)
            return REQ_SILENT;
        if (n > 0 && fds[1].revents != 0)
            return REQ_KICKED;
        if (n == 0 && left <= 0)
            return REQ_SILENT;
        eventfd_t count;
        if (n > 0)
            eventfd_read(req->event, &count);
    }
    return REQ_ANSWERED;
}

/* ---- connections ---- */

static int set_up(struct connection *connection)
{
    const nng_socket socket = connection->socket;
    int code = nng_socket_set_ms(socket, NNG_OPT_REQ_RESENDTIME,
                                 NNG_DURATION_INFINITE);
    if (code == 0)
        code = nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, REFUSED_BYTES);
    if (code == 0)
        code = nng_socket_set_ms(socket, NNG_OPT_RECONNMINT, REDIAL_FIRST_MS);
    if (code == 0)
        code = nng_socket_set_ms(socket, NNG_OPT_RECONNMAXT, REDIAL_MOST_MS);
    if (code == 0)
        code = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_POST, pipe_changed,
                               connection);
    if (code == 0)
        code = nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, pipe_changed,
                               connection);
    return code != 0 ? code : nng_ctx_open(&connection->ctx, socket);
}

/* NULL: err has the reason. */
static struct connection *open_connection(int event, struct ht_error *err)
{
    struct connection *made = ht_xcalloc(1, sizeof *made);
    made->event = event;
    atomic_init(&made->settled, true);
    int code = nng_aio_alloc(&made->aio, operation_settled, made);
    if (code == 0)
        code = nng_req0_open(&made->socket);
    if (code == 0) {
        code = set_up(made);
        if (code != 0)
            nng_close(made->socket);
    }
    if (code == 0)
        return made;
    nng_aio_free(made->aio);
    free(made);
    (void)ht_fail(err, HT_IO, "no socket: %s", nng_strerror(code));
    return NULL;
}

/* Ends the operation under way; a message that was not taken is freed. */
static void settle(struct connection *connection)
{
    nng_aio *aio = connection->aio;
    nng_aio_cancel(aio);
    nng_aio_wait(aio);
    nng_msg *message = nng_aio_get_msg(aio);
    const bool ours = !connection->receiving || nng_aio_result(aio) == 0;
    if (message != NULL && ours)
        nng_msg_free(message);
    nng_aio_set_msg(aio, NULL);
    connection->receiving = false;
}

static void close_connection(struct connection *connection)
{
    settle(connection);
    nng_ctx_close(connection->ctx);
    nng_close(connection->socket);
    nng_aio_free(connection->aio);
    free(connection);
}

static bool is_quiet(const struct connection *connection)
{
    const bool answered =
        !connection->asked ||
        (connection->receiving && atomic_load(&connection->settled));
    return atomic_load(&connection->parted) ||
           (answered && !connection->passed);
}

static void start_receive(struct connection *connection)
{
    if (connection->receiving)
        return;
    connection->receiving = true;
    atomic_store(&connection->settled, false);
    nng_ctx_recv(connection->ctx, connection->aio);
}

static void close_retired(struct req_socket *req)
{
    struct connection **link = &req->retired;
    while (*link != NULL) {
        struct connection *connection = *link;
        if (!is_quiet(connection)) {
            link = &connection->next;
            continue;
        }
        *link = connection->next;
        close_connection(connection);
    }
}

void req_socket_close(struct req_socket *req)
{
    struct connection *connection = req->current;
    req->current = NULL;
    if (connection != NULL) {
        if (connection->asked)
            start_receive(connection);
        connection->next = req->retired;
        req->retired = connection;
    }
    close_retired(req);
}

static enum req_socket_result cut(struct req_socket *req)
{
    close_connection(req->current);
    req->current = NULL;
    return REQ_CUT;
}

/* ---- the socket ---- */

enum ht_status req_socket_new(int kick, struct req_socket **req,
                              struct ht_error *err)
{
    const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return ht_fail_errno(err, errno, "no descriptor for events");
    *req = ht_xcalloc(1, sizeof **req);
    (*req)->kick = kick;
    (*req)->event = event;
    return HT_OK;
}

void req_socket_free(struct req_socket *req)
{
    if (req == NULL)
        return;
    req_socket_close(req);
    if (req->retired != NULL) {
        /* nng's threads may still set its flags. */
        req->older = atomic_exchange(&left_behind, req);
        return;
    }
    close(req->event);
    free(req);
}

bool req_socket_is_open(const struct req_socket *req)
{
    return req->current != NULL;
}

enum ht_status req_socket_connect(struct req_socket *req, const char *url,
                                  int timeout_ms, struct ht_error *err)
{
    req_socket_close(req);
    struct connection *made = open_connection(req->event, err);
    if (made == NULL)
        return HT_IO;
    const int code = nng_dial(made->socket, url, NULL, NNG_FLAG_NONBLOCK);
    if (code == 0 && await(req, &made->joined, timeout_ms) == REQ_ANSWERED) {
        req->current = made;
        return HT_OK;
    }
    close_connection(made);
    if (code != 0)
        return ht_fail(err, HT_INVALID, "%s: %s", url, nng_strerror(code));
    return ht_fail(err, HT_UNAVAILABLE, "%s does not answer", url);
}

/* ---- requests ---- */

static void start_send(struct connection *connection, const char *bytes,
                       size_t len)
{
    nng_msg *message;
    if (nng_msg_alloc(&message, 0) != 0 ||
        nng_msg_append(message, bytes, len) != 0)
        ht_out_of_memory();
    nng_aio_set_msg(connection->aio, message);
    atomic_store(&connection->settled, false);
    nng_ctx_send(connection->ctx, connection->aio);
}

enum req_socket_result req_socket_send(struct req_socket *req,
                                       const char *bytes, size_t len,
                                       int timeout_ms)
{
    struct connection *connection = req->current;
    settle(connection);
    if (atomic_load(&connection->parted))
        return cut(req);
    connection->passed |= connection->asked;
    connection->asked = true;
    start_send(connection, bytes, len);
    const enum req_socket_result result =
        await(req, &connection->settled, timeout_ms);
    if (result != REQ_ANSWERED) {
        settle(connection);
        return result;
    }
    nng_aio_wait(connection->aio);
    if (nng_aio_result(connection->aio) != 0)
        return cut(req);
    nng_aio_set_msg(connection->aio, NULL); /* now owned by nng */
    return REQ_ANSWERED;
}

enum req_socket_result req_socket_wait(struct req_socket *req, int timeout_ms,
                                       struct text *answer)
{
    struct connection *connection = req->current;
    start_receive(connection);
    const enum req_socket_result result =
        await(req, &connection->settled, timeout_ms);
    if (result != REQ_ANSWERED)
        return result;
    nng_aio_wait(connection->aio);
    if (nng_aio_result(connection->aio) != 0)
        return cut(req);
    nng_msg *message = nng_aio_get_msg(connection->aio);
    if (nng_msg_len(message) > HT_MAX_MESSAGE)
        return cut(req);
    text_append(answer, nng_msg_body(message), nng_msg_len(message));
    settle(connection);
    connection->asked = false;
    return REQ_ANSWERED;
}
