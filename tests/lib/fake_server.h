/* fake_server.h - a server's control and HTTP addresses in a test's own hands:
 * every request is written down, every answer can be bent.
 *
 * One thread answers HTTP; control requests are served by fake_serve() in the
 * calling thread, one at a time, leases without any hold. */
#ifndef HT_TESTS_LIB_FAKE_SERVER_H
#define HT_TESTS_LIB_FAKE_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <nng/nng.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "tests/check.h"

struct fake_server {
    nng_socket control;
    char control_url[128], http_url[128];
    int http;
    pthread_t thread;
    const char *attempt; /* ATTEMPT to lease once, NULL: none */
    const char *hello;   /* further members of hello's answer */
    const char *beat;    /* ... of every heartbeat's answer */
    const char *report;  /* ... of every report's answer */
    const char *mute;    /* type that is left unanswered once */
    const char *refuse;  /* type that gets `refusal` once */
    const char *refusal; /* a status */
    int64_t repeat_id;   /* id of the request that was muted or refused */
    struct text journal; /* " type" of each answered request, polls and logs
                            left out */
    struct text bodies;  /* every request's whole text, one a line */
    struct text log;     /* data of all log chunks */
};

/* Listens at both addresses; the thread answers HTTP. */
void fake_open(struct fake_server *fake);

/* Ends the thread and frees what was written down. */
void fake_close(struct fake_server *fake);

/* Answers the request just read with that status and more members. */
void fake_answer(struct fake_server *fake, int64_t id, const char *status,
                 const char *more);

/* Serves one request, waiting 20 ms for it. */
void fake_serve(struct fake_server *fake);

/* Serves until the condition holds or 20 s have passed. */
#define SERVE_UNTIL(fake, condition)                                           \
    do {                                                                       \
        const int64_t until_ = clock_monotonic_ms() + PATIENCE_MS;             \
        while (!(condition) && clock_monotonic_ms() < until_)                  \
            fake_serve(fake);                                                  \
        CHECK(condition);                                                      \
    } while (0)

/* Whether requests of these types were answered in this order. */
bool fake_saw(const struct fake_server *fake, const char *words);

/* Whether the text of some request has these words. */
bool fake_heard(const struct fake_server *fake, const char *words);

#endif
