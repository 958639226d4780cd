/* head.h - the grammar of a request's head, by the letter of RFC 9110 and 9112
 * as far as libmicrohttpd shows it: a proxy and this server must never
 * disagree where a request ends or whom it is for. */
#ifndef HT_TUNER_HTTP_HEAD_H
#define HT_TUNER_HTTP_HEAD_H

#include "proto/base/error.h"

struct MHD_Connection;

/* The library's callback has these; `version` as it has it. */
struct head {
    struct MHD_Connection *connection;
    const char *method, *target, *version;
};

/* *path gets the target's path, borrowed from it: a target may also be a whole
 * URL whose authority is the Host header's. After an error the connection must
 * end: where the next request begins is not certain.
 * HT_HEADER_TOO_LARGE  over HT_MAX_HEADER
 * HT_INVALID           against the grammar */
enum ht_status head_check(const struct head *head, const char **path,
                          struct ht_error *err);

#endif
