/* report_answer.h - what the server said about a batch of reports.
 *
 * Reads the few members a reporter needs from one JSON object and skips the
 * rest, whatever it is; allocates nothing. */
#ifndef HT_HYPERTUNE_LIB_REPORT_ANSWER_H
#define HT_HYPERTUNE_LIB_REPORT_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum answer_status {
    ANSWER_OK,
    ANSWER_RETRY,   /* the server cannot store now */
    ANSWER_GONE,    /* the attempt ended */
    ANSWER_DENIED,  /* the token does not fit */
    ANSWER_INVALID, /* it will not take this batch */
    ANSWER_GARBLED  /* not an answer of hypertune's */
};

struct report_answer {
    enum answer_status status;
    int64_t retry_ms; /* pause the server asks for, 0: not said */
    int64_t thin;     /* keep every thin-th record, >= 1 */
    int64_t have;     /* highest contiguous seq of the writer, -1: not said */
};

/* Reads `len` bytes; `have` is that of `writer`. */
struct report_answer report_answer_read(const char *text, size_t len,
                                        const char *writer);

#endif
