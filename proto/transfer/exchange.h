/* exchange.h - HTTP requests to one server, some at a time, each sent again
 * until it is answered.
 *
 * After a cut one request is tried alone, and after a number of answers, which
 * grows with each cut, one more at a time: a line that is cut again and again
 * carries little twice. What a GET has received is not asked for again. One
 * thread. */
#ifndef HT_PROTO_TRANSFER_EXCHANGE_H
#define HT_PROTO_TRANSFER_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"
#include "proto/transfer/transfer.h"

enum { EXCHANGE_LANES = 4, EXCHANGE_PATH = 128 };

/* Of a request's body. */
enum exchange_type {
    EXCHANGE_EMPTY, /* there is none */
    EXCHANGE_JSON,
    EXCHANGE_BYTES,
    EXCHANGE_TYPES
};

/* One request and its answer. */
struct exchange {
    size_t lane;              /* below EXCHANGE_LANES: its place meanwhile */
    const char *method;       /* "GET", "PUT" or "POST" */
    char path[EXCHANGE_PATH]; /* behind that of the project: "chunks:missing" */
    enum exchange_type type;
    const void *body; /* borrowed until the answer was taken */
    size_t len;
    size_t most;        /* bytes of the answer */
    long wait_s;        /* for a server that is silent, then it is cut */
    long code;          /* HTTP */
    struct text answer; /* released when it was taken */
};

struct exchange_source {
    void *context;
    /* Fills the next request, whose `lane` is set; *has is false when there is
     * none before another one was taken. */
    enum ht_status (*next)(void *context, struct exchange *exchange, bool *has,
                           struct ht_error *err);
    /* Any answer that does not ask to come again. HT_UNAVAILABLE: the request
     * is sent again. */
    enum ht_status (*take)(void *context, struct exchange *exchange,
                           struct ht_error *err);
};

struct exchanges;

/* The settings are borrowed until exchanges_free(). */
struct exchanges *exchanges_new(const struct transfer_settings *settings);
void exchanges_free(struct exchanges *exchanges); /* accepts NULL */

/* Sends what the source has, until that is nothing or an error.
 * HT_UNAVAILABLE  no answer for as long as the settings say, or stopped
 * HT_DENIED       there is no trust in the server
 * others          of the source, and of settings' find() */
enum ht_status exchanges_run(struct exchanges *exchanges,
                             const struct exchange_source *source,
                             struct ht_error *err);
/* One request that has `method`, `path` and so on; *answer gets its bytes, for
 * the caller to free. HT_NOT_FOUND and so on: the server refuses, in its
 * words. A 409 is no failure where `code` is not NULL: it gets the number. */
enum ht_status exchanges_call(struct exchanges *exchanges,
                              const struct exchange *request,
                              struct text *answer, long *code,
                              struct ht_error *err);

/* The failure that an answer above 299 is. */
enum ht_status exchange_refusal(const struct exchange *exchange,
                                struct ht_error *err);

#endif
