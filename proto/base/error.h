/* error.h - the one error type: a status and a sentence, in the caller's frame.
 *
 * A function that can fail returns enum ht_status and takes struct ht_error *
 * last (NULL when the caller does not care). It writes the error only when it
 * fails, and failing never allocates. */
#ifndef HT_PROTO_BASE_ERROR_H
#define HT_PROTO_BASE_ERROR_H

/* enumerator, HTTP code, google.rpc.Code name, google.rpc.Code number.
 * Source of the pairs: googleapis google/rpc/code.proto. */
#define HT_STATUS_LIST(X)                                                      \
    X(HT_OK, 200, "OK", 0)                                                     \
    X(HT_INVALID, 400, "INVALID_ARGUMENT", 3)                                  \
    X(HT_PRECONDITION, 400, "FAILED_PRECONDITION", 9)                          \
    X(HT_UNAUTHENTICATED, 401, "UNAUTHENTICATED", 16)                          \
    X(HT_DENIED, 403, "PERMISSION_DENIED", 7)                                  \
    X(HT_NOT_FOUND, 404, "NOT_FOUND", 5)                                       \
    X(HT_NO_METHOD, 405, "UNIMPLEMENTED", 12)                                  \
    X(HT_EXISTS, 409, "ALREADY_EXISTS", 6)                                     \
    X(HT_CONFLICT, 409, "ABORTED", 10)                                         \
    X(HT_TOO_LARGE, 413, "INVALID_ARGUMENT", 3)                                \
    X(HT_RANGE, 416, "OUT_OF_RANGE", 11)                                       \
    X(HT_MISDIRECTED, 421, "INVALID_ARGUMENT", 3)                              \
    X(HT_HEADER_TOO_LARGE, 431, "INVALID_ARGUMENT", 3)                         \
    X(HT_LIMIT, 429, "RESOURCE_EXHAUSTED", 8)                                  \
    X(HT_EXHAUSTED, 429, "RESOURCE_EXHAUSTED", 8)                              \
    X(HT_UNIMPLEMENTED, 501, "UNIMPLEMENTED", 12)                              \
    X(HT_INTERNAL, 500, "INTERNAL", 13)                                        \
    X(HT_IO, 500, "INTERNAL", 13)                                              \
    X(HT_CORRUPT, 500, "DATA_LOSS", 15)                                        \
    X(HT_UNAVAILABLE, 503, "UNAVAILABLE", 14)                                  \
    X(HT_TIMEOUT, 504, "DEADLINE_EXCEEDED", 4)

enum ht_status {
#define X(name, http, rpc, code) name,
    HT_STATUS_LIST(X)
#undef X
};

/* Owns nothing, so it may be copied and dropped. */
struct ht_error {
    enum ht_status status; /* never HT_OK once written */
    char text[256];        /* one sentence for a person, no newline */
};

/* Writes status and the formatted sentence to err (if any); returns status. */
__attribute__((format(printf, 3, 4))) enum ht_status
ht_fail(struct ht_error *err, enum ht_status status, const char *format, ...);

/* Puts "context: " before the sentence that err holds; returns status, which
 * the caller passes on, so wrapping can never turn a failure into success. */
__attribute__((format(printf, 3, 4))) enum ht_status
ht_wrap(struct ht_error *err, enum ht_status status, const char *format, ...);

/* Like ht_fail with ": <strerror(code)>" appended; HT_IO. */
__attribute__((format(printf, 3, 4))) enum ht_status
ht_fail_errno(struct ht_error *err, int code, const char *format, ...);

int ht_status_http(enum ht_status status);        /* HTTP status code */
int ht_status_code(enum ht_status status);        /* google.rpc.Code number */
const char *ht_status_rpc(enum ht_status status); /* google.rpc.Code name */

#endif
