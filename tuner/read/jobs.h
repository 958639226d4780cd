/* jobs.h - studies, as any of their resources: one page of the studies that a
 * filter selects, newest first, and one study with all its trials, in pieces,
 * since it may have 10^5 of them. */
#ifndef HT_TUNER_READ_JOBS_H
#define HT_TUNER_READ_JOBS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuner/ask/filter.h"
#include "tuner/ask/query.h"
#include "tuner/read/reader.h"

/* How one kind of resource shows a study. */
typedef enum ht_status study_viewer(struct db *db, struct arena *arena,
                                    const struct study_row *study, cJSON **out,
                                    struct ht_error *err);

/* What a filter decides about: the item of the collection's look_up. */
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

/* What all kinds of resources have, for look_up: labels, tags, createTime,
 * startTime, endTime and updateTime; false for any other field. *n: how many
 * values it has. A study whose spec is damaged has no labels any more. */
bool jobs_candidate_has(const struct candidate *candidate, const char *field,
                        const char *key, const char *values[FILTER_VALUES],
                        size_t *n);

/* The same of one tag, the key of a filter's `tags:KEY` ("*": any), that a
 * study or (not 0) one of its trials has. */
size_t jobs_find_tag(struct db *db, struct arena *arena, int64_t study,
                     int64_t trial, const char *key,
                     const char *values[FILTER_VALUES]);

/* Writes one page of the collection into the reply, by the query of the
 * request.
 * HT_INVALID  the query is not one of the collection */
enum ht_status jobs_answer(struct reader *reader, struct request *req,
                           const struct collection *collection,
                           struct ht_error *err);

enum { PIECE_TRIALS = 500 };

struct job_piece { /* the input of one piece */
    struct reader *reader;
    struct request *req;
    struct arena *arena; /* of the piece; req->arena serves all */
    struct study_row study;
    struct job *job;
};

/* Appends the next trials to the reply, with commas between all of them, and
 * sets req->cursor (0 at first) to where the next piece begins. *more: there
 * may be trials left. */
typedef enum ht_status trials_writer(const struct job_piece *piece, bool *more,
                                     struct ht_error *err);

struct job_form {
    study_viewer *head; /* the job without trials */
    trials_writer *trials;
    size_t depth; /* objects, each the last member of the one before it, down
                     to the one that has the trials; 1: the job */
    bool any_job; /* one that does not search, or whose stored spec is damaged,
                     is shown without trials */
};

/* Writes the next piece of the job that the request names: the job, unless the
 * answer has begun, and trials.
 * HT_CORRUPT  the stored spec is damaged */
enum ht_status jobs_answer_with_trials(struct reader *reader,
                                       struct request *req,
                                       const struct job_form *form,
                                       struct ht_error *err);
/* Writes it as `view` shows it, without trials. */
enum ht_status jobs_show(struct reader *reader, struct request *req,
                         study_viewer *view, struct ht_error *err);

#endif
