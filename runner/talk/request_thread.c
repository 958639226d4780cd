#include "runner/talk/request_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/talk/req_socket.h"
#include "runner/talk/server_address.h"

enum {
    CONNECT_MS = 10000, /* with the handshake of TLS on a slow link */
    SEND_MS = 5000,     /* for a megabyte to leave */
    PATIENCE_MOST_MS = 30000,
    CUT_PAUSE_MS = 50, /* a server that only cuts is not asked at once */
    CUTS_MOST = 4,     /* by then it may be elsewhere, or have another key */
    BACKOFF_FIRST_MS = 100,
    BACKOFF_MOST_MS = 2000,
    REFRESH_MS = 600000 /* the server's next key is announced before its use */
};

enum thread_state { THREAD_IDLE, THREAD_BUSY, THREAD_ANSWERED };

struct request_thread {
    struct server_address *address;
    int least_patience_ms;
    int wake; /* signals an answer to the supervising thread */
    int kick; /* signals a change to the thread; owned */
    pthread_t thread;
    pthread_mutex_t lock; /* of everything down to `answer` */
    enum thread_state state;
    bool stopping, failed;
    uint64_t posted; /* number of requests; shows that one was replaced */
    struct text request, answer;
    struct req_socket *req;     /* from here on the thread's own */
    char url[SERVER_URL_BYTES]; /* where the server was last, "" unknown */
    int64_t found_at;           /* monotonic: when it was asked there */
    int backoff_ms, patience_ms;
    int cuts;  /* connections that were lost in a row, without an answer */
    bool away; /* it was logged that the server is away */
};

/* ---- the supervising thread's side ---- */

void request_thread_post(struct request_thread *thread, struct text *request)
{
    pthread_mutex_lock(&thread->lock);
    text_free(&thread->request);
    text_free(&thread->answer);
    thread->request = *request;
    *request = (struct text){0};
    thread->state = THREAD_BUSY;
    thread->failed = false;
    thread->posted++;
    pthread_mutex_unlock(&thread->lock);
    eventfd_write(thread->kick, 1);
}

bool request_thread_take(struct request_thread *thread, struct text *answer)
{
    pthread_mutex_lock(&thread->lock);
    const bool answered = thread->state == THREAD_ANSWERED;
    if (answered) {
        *answer = thread->answer;
        thread->answer = (struct text){0};
        thread->state = THREAD_IDLE;
    }
    pthread_mutex_unlock(&thread->lock);
    return answered;
}

bool request_thread_has_failed(struct request_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    const bool failed = thread->state == THREAD_BUSY && thread->failed;
    pthread_mutex_unlock(&thread->lock);
    return failed;
}

/* ---- the thread's own side ---- */

/* The number of the request to carry, 0 when there is none; false when the
 * thread has to end. */
static bool look(struct request_thread *thread, uint64_t *number)
{
    eventfd_t count;
    eventfd_read(thread->kick, &count); /* the lock has the reason */
    pthread_mutex_lock(&thread->lock);
    const bool running = !thread->stopping;
    *number = thread->state == THREAD_BUSY ? thread->posted : 0;
    pthread_mutex_unlock(&thread->lock);
    return running;
}

/* Ends early when something changes. */
static void pause_ms(const struct request_thread *thread, int ms)
{
    struct pollfd fd = {.fd = thread->kick, .events = POLLIN};
    poll(&fd, 1, ms);
}

static void back_off(struct request_thread *thread)
{
    pause_ms(thread, thread->backoff_ms);
    thread->backoff_ms *= 2;
    if (thread->backoff_ms > BACKOFF_MOST_MS)
        thread->backoff_ms = BACKOFF_MOST_MS;
}

static void note_away(struct request_thread *thread, const struct ht_error *err)
{
    if (!thread->away)
        log_event(LOG_WARN, "server.away", "reason=\"%s\"", err->text);
    thread->away = true;
}

/* Keeps the addresses behind an open connection up to date. */
static void refresh(struct request_thread *thread)
{
    char url[SERVER_URL_BYTES];
    if (clock_monotonic_ms() - thread->found_at < REFRESH_MS)
        return;
    thread->found_at = clock_monotonic_ms();
    (void)server_address_find(thread->address, url, NULL);
}

static bool connect_server(struct request_thread *thread)
{
    struct ht_error err;
    if (req_socket_is_open(thread->req)) {
        refresh(thread);
        return true;
    }
    if (!thread->away && thread->cuts % CUTS_MOST != 0 &&
        req_socket_connect(thread->req, thread->url, CONNECT_MS, NULL) == HT_OK)
        return true;
    thread->found_at = clock_monotonic_ms();
    enum ht_status status =
        server_address_find(thread->address, thread->url, &err);
    if (status == HT_OK)
        status = req_socket_connect(thread->req, thread->url, CONNECT_MS, &err);
    if (status != HT_OK)
        note_away(thread, &err);
    return status == HT_OK;
}

static void keep_answer(struct request_thread *thread, uint64_t number,
                        struct text *answer)
{
    thread->backoff_ms = BACKOFF_FIRST_MS;
    thread->away = false;
    pthread_mutex_lock(&thread->lock);
    if (thread->posted == number && thread->state == THREAD_BUSY) {
        thread->answer = *answer;
        *answer = (struct text){0};
        thread->state = THREAD_ANSWERED;
    }
    pthread_mutex_unlock(&thread->lock);
    eventfd_write(thread->wake, 1);
}

/* A link may be slow: the next try has more time. */
static void note_failure(struct request_thread *thread, uint64_t number,
                         bool was_silent)
{
    pthread_mutex_lock(&thread->lock);
    thread->failed |= thread->posted == number;
    pthread_mutex_unlock(&thread->lock);
    eventfd_write(thread->wake, 1);
    if (was_silent && thread->patience_ms < PATIENCE_MOST_MS)
        thread->patience_ms *= 2;
}

static void note_duration(struct request_thread *thread, int64_t ms)
{
    const int64_t wanted = 4 * ms; /* a message may double */
    thread->patience_ms = wanted < thread->least_patience_ms
                              ? thread->least_patience_ms
                          : wanted < PATIENCE_MOST_MS ? (int)wanted
                                                      : PATIENCE_MOST_MS;
}

/* False when the request was replaced meanwhile. */
static bool copy_request(struct request_thread *thread, uint64_t number,
                         struct text *copy)
{
    pthread_mutex_lock(&thread->lock);
    const bool same = thread->posted == number;
    if (same)
        text_append(copy, thread->request.data, thread->request.len);
    pthread_mutex_unlock(&thread->lock);
    return same;
}

static bool is_wanted(struct request_thread *thread, uint64_t number)
{
    uint64_t newest;
    return look(thread, &newest) && newest == number;
}

/* A kick may be older than the request that is under way. */
static enum req_socket_result wait_for_answer(struct request_thread *thread,
                                              uint64_t number,
                                              struct text *answer)
{
    enum req_socket_result result;
    do {
        result = req_socket_wait(thread->req, thread->patience_ms, answer);
    } while (result == REQ_KICKED && is_wanted(thread, number));
    return result;
}

/* One try on the open connection. */
static void exchange(struct request_thread *thread, uint64_t number)
{
    struct text copy = {0};
    struct text answer = {0};
    enum req_socket_result result = REQ_KICKED;
    const int64_t start = clock_monotonic_ms();
    if (copy_request(thread, number, &copy)) {
        result = req_socket_send(thread->req, copy.data, copy.len, SEND_MS);
        if (result == REQ_ANSWERED)
            result = wait_for_answer(thread, number, &answer);
    }
    const bool cut = result == REQ_CUT;
    thread->cuts = cut ? thread->cuts + 1 : 0;
    if (result == REQ_ANSWERED) {
        note_duration(thread, clock_monotonic_ms() - start);
        keep_answer(thread, number, &answer);
    } else if (result != REQ_KICKED) {
        note_failure(thread, number, result == REQ_SILENT);
    }
    if (result == REQ_SILENT)
        req_socket_close(thread->req); /* find the server again */
    if (cut)
        (void)poll(NULL, 0, CUT_PAUSE_MS);
    text_free(&copy);
    text_free(&answer);
}

static void *run_thread(void *context)
{
    struct request_thread *thread = context;
    uint64_t number;
    while (look(thread, &number)) {
        if (number == 0)
            pause_ms(thread, -1);
        else if (!connect_server(thread))
            back_off(thread);
        else
            exchange(thread, number);
    }
    return NULL;
}

static void free_thread(struct request_thread *thread)
{
    req_socket_free(thread->req);
    close(thread->kick);
    text_free(&thread->request);
    text_free(&thread->answer);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

enum ht_status request_thread_start(struct server_address *address,
                                    int patience_ms, int wake,
                                    struct request_thread **thread,
                                    struct ht_error *err)
{
    const int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kick < 0)
        return ht_fail_errno(err, errno, "no descriptor for events");
    struct request_thread *made = ht_xcalloc(1, sizeof *made);
    made->address = address;
    made->least_patience_ms = made->patience_ms = patience_ms;
    made->wake = wake;
    made->kick = kick;
    made->backoff_ms = BACKOFF_FIRST_MS;
    pthread_mutex_init(&made->lock, NULL);
    enum ht_status status = req_socket_new(kick, &made->req, err);
    if (status == HT_OK) {
        const int code = pthread_create(&made->thread, NULL, run_thread, made);
        if (code != 0)
            status = ht_fail_errno(err, code, "cannot start a thread");
    }
    if (status == HT_OK)
        *thread = made;
    else
        free_thread(made);
    return status;
}

void request_thread_stop(struct request_thread *thread)
{
    if (thread == NULL)
        return;
    pthread_mutex_lock(&thread->lock);
    thread->stopping = true;
    pthread_mutex_unlock(&thread->lock);
    eventfd_write(thread->kick, 1);
    pthread_join(thread->thread, NULL);
    free_thread(thread);
}
