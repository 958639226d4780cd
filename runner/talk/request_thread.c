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
#include "runner/base/log.h"
#include "runner/talk/req_socket.h"
#include "runner/talk/server_address.h"

enum {
    CONNECT_MS = 2000,
    SEND_MS = 5000, /* for a megabyte to leave */
    BACKOFF_FIRST_MS = 100,
    BACKOFF_MOST_MS = 2000
};

enum courier_state { COURIER_IDLE, COURIER_BUSY, COURIER_ANSWERED };

struct request_thread {
    struct server_address *locator;
    int patience_ms;
    int wake; /* tells the supervising thread of an answer */
    int kick; /* tells the courier's thread of a change; owned */
    pthread_t thread;
    pthread_mutex_t lock; /* of everything down to `answer` */
    enum courier_state state;
    bool stopping;
    uint64_t posted; /* counts requests, so that a replaced one is noticed */
    struct text request, answer;
    struct req_socket *req;      /* from here on the thread's own */
    char url[LOCATOR_URL_BYTES]; /* where the server was last, "" unknown */
    int backoff_ms;
    bool away; /* the log has been told that the server is away */
};

/* ---- the supervising thread's side ---- */

void request_thread_post(struct request_thread *courier, struct text *request)
{
    pthread_mutex_lock(&courier->lock);
    text_free(&courier->request);
    text_free(&courier->answer);
    courier->request = *request;
    *request = (struct text){0};
    courier->state = COURIER_BUSY;
    courier->posted++;
    pthread_mutex_unlock(&courier->lock);
    eventfd_write(courier->kick, 1);
}

bool request_thread_take(struct request_thread *courier, struct text *answer)
{
    pthread_mutex_lock(&courier->lock);
    const bool answered = courier->state == COURIER_ANSWERED;
    if (answered) {
        *answer = courier->answer;
        courier->answer = (struct text){0};
        courier->state = COURIER_IDLE;
    }
    pthread_mutex_unlock(&courier->lock);
    return answered;
}

/* ---- the courier's own side ---- */

/* The number of the request to carry, 0 when there is none; false when the
 * thread has to end. */
static bool look(struct request_thread *courier, uint64_t *number)
{
    eventfd_t count;
    eventfd_read(courier->kick, &count); /* what for is told under the lock */
    pthread_mutex_lock(&courier->lock);
    const bool go_on = !courier->stopping;
    *number = courier->state == COURIER_BUSY ? courier->posted : 0;
    pthread_mutex_unlock(&courier->lock);
    return go_on;
}

/* Ends early when something changes. */
static void pause_ms(const struct request_thread *courier, int ms)
{
    struct pollfd fd = {.fd = courier->kick, .events = POLLIN};
    poll(&fd, 1, ms);
}

static void back_off(struct request_thread *courier)
{
    pause_ms(courier, courier->backoff_ms);
    courier->backoff_ms *= 2;
    if (courier->backoff_ms > BACKOFF_MOST_MS)
        courier->backoff_ms = BACKOFF_MOST_MS;
}

static void note_away(struct request_thread *courier,
                      const struct ht_error *err)
{
    if (!courier->away)
        runner_log(RUNNER_WARN, "server.away", "reason=\"%s\"", err->text);
    courier->away = true;
}

static bool connect_server(struct request_thread *courier)
{
    struct ht_error err;
    if (req_socket_is_open(courier->req))
        return true;
    enum ht_status status =
        server_address_find(courier->locator, courier->url, &err);
    if (status == HT_OK)
        status =
            req_socket_connect(courier->req, courier->url, CONNECT_MS, &err);
    if (status != HT_OK)
        note_away(courier, &err);
    return status == HT_OK;
}

static void keep_answer(struct request_thread *courier, uint64_t number,
                        struct text *answer)
{
    courier->backoff_ms = BACKOFF_FIRST_MS;
    courier->away = false;
    pthread_mutex_lock(&courier->lock);
    if (courier->posted == number && courier->state == COURIER_BUSY) {
        courier->answer = *answer;
        *answer = (struct text){0};
        courier->state = COURIER_ANSWERED;
    }
    pthread_mutex_unlock(&courier->lock);
    eventfd_write(courier->wake, 1);
}

/* False when the request was replaced meanwhile. */
static bool copy_request(struct request_thread *courier, uint64_t number,
                         struct text *copy)
{
    pthread_mutex_lock(&courier->lock);
    const bool same = courier->posted == number;
    if (same)
        text_append(copy, courier->request.data, courier->request.len);
    pthread_mutex_unlock(&courier->lock);
    return same;
}

static bool is_wanted(struct request_thread *courier, uint64_t number)
{
    uint64_t newest;
    return look(courier, &newest) && newest == number;
}

/* A kick may be older than the request that is under way. */
static enum req_socket_result wait_for_answer(struct request_thread *courier,
                                              uint64_t number,
                                              struct text *answer)
{
    enum req_socket_result result;
    do {
        result = req_socket_wait(courier->req, courier->patience_ms, answer);
    } while (result == REQ_KICKED && is_wanted(courier, number));
    return result;
}

/* One try on the open connection. */
static void exchange(struct request_thread *courier, uint64_t number)
{
    struct text copy = {0};
    struct text answer = {0};
    enum req_socket_result result = REQ_KICKED;
    if (copy_request(courier, number, &copy)) {
        result = req_socket_send(courier->req, copy.data, copy.len, SEND_MS);
        if (result == REQ_ANSWERED)
            result = wait_for_answer(courier, number, &answer);
    }
    if (result == REQ_ANSWERED)
        keep_answer(courier, number, &answer);
    else if (result == REQ_SILENT)
        req_socket_close(courier->req); /* is it still there, and still here? */
    text_free(&copy);
    text_free(&answer);
}

static void *run_courier(void *context)
{
    struct request_thread *courier = context;
    uint64_t number;
    while (look(courier, &number)) {
        if (number == 0)
            pause_ms(courier, -1);
        else if (!connect_server(courier))
            back_off(courier);
        else
            exchange(courier, number);
    }
    return NULL;
}

static void free_courier(struct request_thread *courier)
{
    req_socket_free(courier->req);
    close(courier->kick);
    text_free(&courier->request);
    text_free(&courier->answer);
    pthread_mutex_destroy(&courier->lock);
    free(courier);
}

enum ht_status request_thread_start(struct server_address *locator,
                                    int patience_ms, int wake,
                                    struct request_thread **courier,
                                    struct ht_error *err)
{
    const int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kick < 0)
        return ht_fail_errno(err, errno, "no descriptor for events");
    struct request_thread *made = ht_xcalloc(1, sizeof *made);
    made->locator = locator;
    made->patience_ms = patience_ms;
    made->wake = wake;
    made->kick = kick;
    made->backoff_ms = BACKOFF_FIRST_MS;
    pthread_mutex_init(&made->lock, NULL);
    enum ht_status status = req_socket_new(kick, &made->req, err);
    if (status == HT_OK) {
        const int code = pthread_create(&made->thread, NULL, run_courier, made);
        if (code != 0)
            status = ht_fail_errno(err, code, "cannot start a thread");
    }
    if (status == HT_OK)
        *courier = made;
    else
        free_courier(made);
    return status;
}

void request_thread_stop(struct request_thread *courier)
{
    if (courier == NULL)
        return;
    pthread_mutex_lock(&courier->lock);
    courier->stopping = true;
    pthread_mutex_unlock(&courier->lock);
    eventfd_write(courier->kick, 1);
    pthread_join(courier->thread, NULL);
    free_courier(courier);
}
