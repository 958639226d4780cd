/* similar_name.h - how similar a metric name found in output is to the one that
 * the study expects. */
#ifndef HT_PROTO_DOC_SIMILAR_NAME_H
#define HT_PROTO_DOC_SIMILAR_NAME_H

#include <stddef.h>

/* From least to most alike, so that values can be compared. */
enum likeness {
    LIKENESS_NONE,
    LIKENESS_PART,  /* "acc" or "best_test_accuracy" for "accuracy" */
    LIKENESS_NEAR,  /* "acuracy", "val_accuracy": a few letters differ */
    LIKENESS_FOLDED /* "Val-Accuracy" for "val_accuracy", or equal */
};

/* How much a name that was reported is like the one of the job's metric. */
enum likeness similar_name_score(const char *wanted, const char *seen);

/* A number in a line of a log with a name before it: `Accuracy: 0.93`,
 * `'loss'=0.1`, `accuracy 0.9`. */
/* Places and lengths are bytes of the line. */
struct named_number {
    size_t at, name_len; /* the name */
    size_t number_at, number_len;
    double value;
};

/* The one whose name is most like `wanted`, the last of several equal ones;
 * LIKENESS_NONE when the line has none, and then *found is unchanged. The line
 * is NUL-terminated. */
enum likeness similar_name_find(const char *wanted, const char *line,
                                struct named_number *found);

#endif
