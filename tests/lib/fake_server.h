/* fake_server.h - a server's control and HTTP addresses for the runner's tests:
 * every request is recorded, and a test sets the answers.
 *
 * One thread answers HTTP; control requests are served by fake_server_serve()
 * in the calling thread, one at a time, leases without any hold. */
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

void fake_server_open(struct fake_server *fake);
void fake_server_close(struct fake_server *fake);

/* Serves one request, waiting 20 ms for it. */
void fake_server_serve(struct fake_server *fake);

/* Sends an answer with further members ("" or ",..."), to a request that was
 * left without one. */
void fake_server_answer(struct fake_server *fake, int64_t id,
                        const char *status, const char *more);

/* Serves until the condition holds or the time for it has passed. */
#define SERVE_UNTIL(fake, condition)                                           \
    do {                                                                       \
        const int64_t until_ = clock_monotonic_ms() + PATIENCE_MS;             \
        while (!(condition) && clock_monotonic_ms() < until_)                  \
            fake_server_serve(fake);                                           \
        CHECK(condition);                                                      \
    } while (0)

/* Whether the journal, or the bodies, contain these words. */
bool fake_server_saw(const struct fake_server *fake, const char *words);
bool fake_server_heard(const struct fake_server *fake, const char *words);

#endif
