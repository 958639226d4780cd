/* http_fixture.h - an HTTP server of its own core, on any port of 127.0.0.1,
 * and a client that sends it bytes. */
#ifndef HT_TESTS_LIB_HTTP_FIXTURE_H
#define HT_TESTS_LIB_HTTP_FIXTURE_H

#include "tests/check.h"
#include "tuner/read/reader.h"

struct fixture;
struct gate;
struct http;
struct sessions;
struct sse;

struct http_fixture {
    struct fixture *core;
    struct server_facts facts;
    struct gate *gate; /* with the token "secret" for all roles */
    struct sessions *sessions;
    struct reader_pool *readers; /* models, too */
    struct sse *sse;
    struct http *http;
    int port;
    const char *token; /* of the client; "secret" at first */
};

/* Opens, runs the case, closes. */
void http_fixture_run(void (*test)(struct http_fixture *f));

/* Runs a case with its own server. */
#define RUN_ON_HTTP(test) RUN_CALL(test, http_fixture_run(test))

/* Sends "METHOD PATH" with Host, the token, the headers (each with its line
 * end) and the body; returns the whole answer, in the arena. */
const char *http_fixture_ask(struct http_fixture *f, const char *line,
                             const char *headers, const char *body);

/* The status of such an answer, 0 without one. */
int http_fixture_status(const char *answer);

/* The same, but the connection is the caller's. */
int http_fixture_send(struct http_fixture *f, const char *line,
                      const char *headers, const char *body);
/* Reads until the text has come; returns all that was read, in the arena, or
 * NULL when the connection ends before. */
const char *http_fixture_await(struct http_fixture *f, int fd,
                               const char *text);

#endif
