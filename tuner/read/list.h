/* list.h - lists of studies, whatever resource they are shown as: a
 * page of those that the filter wants, newest first. */
#ifndef HT_TUNER_READ_LIST_H
#define HT_TUNER_READ_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "tuner/ask/filter.h"
#include "tuner/ask/query.h"
#include "tuner/read/reader.h"

/* How one kind of resource shows a study. */
typedef enum ht_status study_viewer(struct db *db, struct arena *arena,
                                    const struct study_row *study, cJSON **out,
                                    struct ht_error *err);

/* What a filter is asked about: the item of the collection's look_up. */
struct candidate {
    struct db *db;
    struct arena *arena;
    const struct study_row *study;
};

struct collection {
    const char *key; /* member of the answer that holds the list */
    study_viewer *view;
    const struct filter_field *fields; /* that a filter may name */
    filter_lookup *look_up;
    const char *message; /* its type, for a readMask */
    struct query_page_sizes sizes;
};

/* What all kinds of resources have, for look_up: labels, createTime, startTime,
 * endTime and updateTime; false for any other field. *n: how many values it
 * has. A study whose spec is damaged has no labels any more. */
bool list_candidate_has(const struct candidate *candidate, const char *field,
                        const char *key, const char *values[FILTER_VALUES],
                        size_t *n);

enum ht_status list_answer(struct reader *reader, struct request *req,
                           const struct collection *collection,
                           struct ht_error *err);

#endif
