/* insight.h - importances and slices of a study's models, and what all
 * questions about them have in common. */
#ifndef HT_TUNER_READ_INSIGHT_H
#define HT_TUNER_READ_INSIGHT_H

#include <stddef.h>

#include "tuner/read/reader.h"

struct models;

/* What a question is about. */
struct asked {
    struct study_row study;
    struct models *models; /* the reader's */
    size_t metric;         /* its place in job->metrics */
};

/* The study of the path and the metric of the query, by default its first.
 * HT_NOT_FOUND     no such study
 * HT_INVALID       it has no metric of that name
 * HT_PRECONDITION  it has no metric */
enum ht_status insight_ask(struct reader *reader, struct request *req,
                           struct asked *asked, struct ht_error *err);

/* How many results have a value of the metric. */
size_t insight_results(const struct asked *asked);

#endif
