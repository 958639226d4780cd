/* http.h - one keep-alive HTTP connection to a hypertune server. */
#ifndef HT_HYPERTUNE_CLI_FRAME_HTTP_H
#define HT_HYPERTUNE_CLI_FRAME_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/net/trust.h"

struct cli_http;

/* Where and how a server is asked. */
struct cli_http_settings {
    const char *url;    /* "http://127.0.0.1:8470", no slash at the end */
    const char *token;  /* bearer token, NULL: none */
    int64_t timeout_ms; /* of one request, 0: 30 s */
    struct trust trust; /* its strings outlive the connection */
};

struct cli_http_request {
    const char *method, *path;
    const char *body; /* JSON text or NULL */
};

/* Both are in the arena of the call. */
struct cli_http_answer {
    const struct node *root; /* the JSON, NULL when the body is empty */
    const char *body;        /* as it came, NUL-terminated */
    size_t len;
};

/* Connects nowhere yet. The settings are copied. Free with cli_http_free(),
 * which accepts NULL. */
struct cli_http *cli_http_new(const struct cli_http_settings *settings);
void cli_http_free(struct cli_http *http);
/* The address of the settings, borrowed until the connection is freed. */
const char *cli_http_url(const struct cli_http *http);
/* Its token or NULL, borrowed as long. */
const char *cli_http_token(const struct cli_http *http);
/* How it makes sure of the server, borrowed as long. */
const struct trust *cli_http_trust(const struct cli_http *http);
/* Was there an answer to the newest request, be it a refusal? */
bool cli_http_has_answered(const struct cli_http *http);

/* Sends one request and reads the whole JSON answer into `arena`; blocks for
 * the timeout at most. A refusal of the server is a failure with the server's
 * sentence and status; *answer may be unchanged then.
 * HT_UNAVAILABLE  no connection, or it broke; the sentence names the cause
 * HT_TIMEOUT      no answer within the timeout
 * HT_CORRUPT      the answer is no JSON */
enum ht_status cli_http_call(struct cli_http *http, struct arena *arena,
                             const struct cli_http_request *request,
                             struct cli_http_answer *answer,
                             struct ht_error *err);

/* Waits until the server reports a change of a study (its event stream), one
 * of the `n` descriptors (at most CLI_HTTP_MAX_FDS) can be read, or
 * `timeout_ms` passed. Opens the stream on first use and again when it broke,
 * so a caller that polls after every return misses nothing. */
enum { CLI_HTTP_MAX_FDS = 2 };
void cli_http_wait(struct cli_http *http, size_t n, const int fds[],
                   int timeout_ms);

/* Sets on a curl handle what all requests share: the address, no proxy (the
 * token must not travel to one), no redirects, http and https alone, and where
 * the answer is appended. `timeout_ms` 0: none. */
void cli_http_prepare(void *easy, const char *url, long timeout_ms,
                      struct text *body);

/* `name` as one path segment, all but unreserved bytes percent-encoded. */
char *cli_http_segment(struct arena *arena, const char *name);

#endif
