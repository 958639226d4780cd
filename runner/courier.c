#include "runner/courier.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include "proto/arena.h"
#include "proto/limits.h"
#include "runner/locator.h"
#include "runner/log.h"

enum {
    RESEND_MS = 1500,
    SEND_MS = 2000, /* for a connection to come up */
    BACKOFF_FIRST_MS = 200,
    BACKOFF_MOST_MS = 5000
};

enum courier_state { COURIER_IDLE, COURIER_BUSY, COURIER_ANSWERED };

struct courier {
    struct locator *locator;
    int patience_ms;
    int wake;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    enum courier_state state;
    bool stopping;
    uint64_t posted; /* counts requests, so that a replaced one is noticed */
    struct text request, answer;
    bool connected;
    nng_socket socket;           /* while connected */
    char url[LOCATOR_URL_BYTES]; /* the thread's own: where it goes */
    int backoff_ms;              /* the thread's own */
};

/* ---- the supervising thread's side ---- */

static void close_socket(struct courier *courier)
{
    if (courier->connected)
        nng_close(courier->socket); /* wakes a waiting receive */
    courier->connected = false;
}

static void post(struct courier *courier, struct text *request)
{
    text_free(&courier->request);
    courier->request = *request;
    *request = (struct text){0};
    courier->state = COURIER_BUSY;
    courier->posted++;
    pthread_cond_signal(&courier->changed);
}

bool courier_is_idle(struct courier *courier)
{
    pthread_mutex_lock(&courier->lock);
    const bool idle = courier->state == COURIER_IDLE;
    pthread_mutex_unlock(&courier->lock);
    return idle;
}

void courier_post(struct courier *courier, struct text *request)
{
    pthread_mutex_lock(&courier->lock);
    post(courier, request);
    pthread_mutex_unlock(&courier->lock);
}

void courier_replace(struct courier *courier, struct text *request)
{
    pthread_mutex_lock(&courier->lock);
    text_free(&courier->answer);
    post(courier, request);
    close_socket(courier);
    pthread_mutex_unlock(&courier->lock);
}

void courier_relocate(struct courier *courier)
{
    pthread_mutex_lock(&courier->lock);
    close_socket(courier);
    pthread_mutex_unlock(&courier->lock);
}

bool courier_take(struct courier *courier, struct text *answer)
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

static bool is_wanted(struct courier *courier, uint64_t number)
{
    pthread_mutex_lock(&courier->lock);
    const bool wanted = !courier->stopping && courier->posted == number &&
                        courier->state == COURIER_BUSY;
    pthread_mutex_unlock(&courier->lock);
    return wanted;
}

/* Waits between two questions where the server is; stopping ends it. */
static void back_off(struct courier *courier)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += courier->backoff_ms / 1000;
    until.tv_nsec += (long)(courier->backoff_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&courier->lock);
    while (!courier->stopping &&
           pthread_cond_timedwait(&courier->changed, &courier->lock, &until) !=
               ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&courier->lock);
    courier->backoff_ms *= 2;
    if (courier->backoff_ms > BACKOFF_MOST_MS)
        courier->backoff_ms = BACKOFF_MOST_MS;
}

/* Learns where the server is. A changed address drops the connection. */
static bool locate(struct courier *courier)
{
    char url[LOCATOR_URL_BYTES];
    struct ht_error err;
    const enum ht_status status = locator_find(courier->locator, url, &err);
    if (status != HT_OK) {
        if (courier->backoff_ms == BACKOFF_FIRST_MS)
            runner_log(RUNNER_WARN, "server.away", "reason=\"%s\"", err.text);
        return false;
    }
    courier->backoff_ms = BACKOFF_FIRST_MS;
    pthread_mutex_lock(&courier->lock);
    if (strcmp(url, courier->url) != 0) {
        close_socket(courier);
        memcpy(courier->url, url, sizeof url);
    }
    pthread_mutex_unlock(&courier->lock);
    return true;
}

static int connect_socket(const struct courier *courier, nng_socket *socket)
{
    nng_socket made;
    int code = nng_req0_open(&made);
    if (code != 0)
        return code;
    nng_socket_set_size(made, NNG_OPT_RECVMAXSZ, HT_MAX_MESSAGE);
    nng_socket_set_ms(made, NNG_OPT_REQ_RESENDTIME,
                      courier->patience_ms > 2 * RESEND_MS
                          ? courier->patience_ms
                          : RESEND_MS);
    nng_socket_set_ms(made, NNG_OPT_RECVTIMEO, courier->patience_ms);
    nng_socket_set_ms(made, NNG_OPT_SENDTIMEO, SEND_MS);
    nng_socket_set_ms(made, NNG_OPT_RECONNMINT, 50);
    nng_socket_set_ms(made, NNG_OPT_RECONNMAXT, 1000);
    code = nng_dial(made, courier->url, NULL, NNG_FLAG_NONBLOCK);
    if (code != 0) {
        nng_close(made);
        return code;
    }
    *socket = made;
    return 0;
}

/* The socket to use for request `number`, connected when there was none. */
static int get_socket(struct courier *courier, uint64_t number,
                      nng_socket *socket)
{
    int code = 0;
    pthread_mutex_lock(&courier->lock);
    if (courier->stopping || courier->posted != number)
        code = NNG_ECANCELED;
    else if (!courier->connected)
        code = connect_socket(courier, &courier->socket);
    if (code == 0) {
        courier->connected = true;
        *socket = courier->socket;
    }
    pthread_mutex_unlock(&courier->lock);
    return code;
}

static int send_copy(struct courier *courier, uint64_t number,
                     nng_socket socket)
{
    nng_msg *message;
    int code = nng_msg_alloc(&message, 0);
    if (code != 0)
        return code;
    pthread_mutex_lock(&courier->lock);
    code = courier->posted == number
               ? nng_msg_append(message, courier->request.data,
                                courier->request.len)
               : NNG_ECANCELED;
    pthread_mutex_unlock(&courier->lock);
    if (code == 0)
        code = nng_sendmsg(socket, message, 0);
    if (code != 0)
        nng_msg_free(message);
    return code;
}

static void keep_answer(struct courier *courier, uint64_t number,
                        nng_msg *message)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&courier->lock);
    if (courier->posted == number && courier->state == COURIER_BUSY) {
        text_append(&courier->answer, nng_msg_body(message),
                    nng_msg_len(message));
        courier->state = COURIER_ANSWERED;
    }
    pthread_mutex_unlock(&courier->lock);
    nng_msg_free(message);
    const ssize_t n = write(courier->wake, &one, sizeof one);
    (void)n; /* a full counter wakes just as well */
}

/* One try; 0 when an answer came. */
static int exchange(struct courier *courier, uint64_t number)
{
    nng_socket socket;
    nng_msg *message = NULL;
    int code = get_socket(courier, number, &socket);
    if (code == 0)
        code = send_copy(courier, number, socket);
    if (code == 0)
        code = nng_recvmsg(socket, &message, 0);
    if (code == 0)
        keep_answer(courier, number, message);
    return code;
}

static void carry(struct courier *courier, uint64_t number)
{
    while (is_wanted(courier, number)) {
        if (courier->url[0] == '\0' && !locate(courier)) {
            back_off(courier);
            continue;
        }
        if (exchange(courier, number) == 0)
            return;
        /* Silence: is it still there, and still at this address? */
        if (is_wanted(courier, number) && !locate(courier))
            back_off(courier);
    }
}

static void *run_courier(void *context)
{
    struct courier *courier = context;
    pthread_mutex_lock(&courier->lock);
    while (!courier->stopping) {
        if (courier->state != COURIER_BUSY) {
            pthread_cond_wait(&courier->changed, &courier->lock);
            continue;
        }
        const uint64_t number = courier->posted;
        pthread_mutex_unlock(&courier->lock);
        carry(courier, number);
        pthread_mutex_lock(&courier->lock);
    }
    pthread_mutex_unlock(&courier->lock);
    return NULL;
}

enum ht_status courier_start(struct locator *locator, int patience_ms, int wake,
                             struct courier **courier, struct ht_error *err)
{
    struct courier *made = ht_xcalloc(1, sizeof *made);
    made->locator = locator;
    made->patience_ms = patience_ms;
    made->wake = wake;
    made->backoff_ms = BACKOFF_FIRST_MS;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const int code = pthread_create(&made->thread, NULL, run_courier, made);
    if (code != 0) {
        free(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    *courier = made;
    return HT_OK;
}

void courier_stop(struct courier *courier)
{
    if (courier == NULL)
        return;
    pthread_mutex_lock(&courier->lock);
    courier->stopping = true;
    close_socket(courier);
    pthread_cond_signal(&courier->changed);
    pthread_mutex_unlock(&courier->lock);
    pthread_join(courier->thread, NULL);
    text_free(&courier->request);
    text_free(&courier->answer);
    pthread_mutex_destroy(&courier->lock);
    pthread_cond_destroy(&courier->changed);
    free(courier);
}
