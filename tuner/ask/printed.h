/* printed.h - metrics that ended trials printed, as a reader found them in
 * their logs for the core to store. */
#ifndef HT_TUNER_ASK_PRINTED_H
#define HT_TUNER_ASK_PRINTED_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

struct report;

/* The writer of records that were read from a log: their keys differ from
 * those of records that were reported meanwhile. */
enum { PRINTED_WRITER = 1 };

struct printed_trial {
    int64_t id, attempt;
    const char *left; /* why it is left as it is; NULL: it has reports */
    size_t n;
    struct report *reports; /* in the order of their lines */
};

/* request.kept, in the request's arena. */
struct printed {
    struct strings added; /* the patterns of the request */
    int64_t after;        /* trials behind this id were looked at */
    size_t n;
    struct printed_trial *trials; /* by id */
    int64_t next; /* trials behind this id were not; 0: all were */
};

/* The patterns of a job with `added` ones before them, each once: a line is
 * read by the first pattern that matches it. */
struct strings printed_patterns(struct arena *arena, const struct strings *old,
                                const struct strings *added);

#endif
