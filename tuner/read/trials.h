/* trials.h - the trials of a study, written one after the other into an
 * answer, as far as a page and a slice of time reach. */
#ifndef HT_TUNER_READ_TRIALS_H
#define HT_TUNER_READ_TRIALS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "proto/job/job.h"
#include "tuner/ask/query.h"
#include "tuner/read/reader.h"

struct trial_walk;

/* How one kind of resource shows a trial; the caller owns *out. */
typedef enum ht_status trial_viewer(const struct trial_walk *walk,
                                    struct arena *arena,
                                    const struct trial_row *trial, cJSON **out,
                                    struct ht_error *err);

struct trial_walk {
    struct reader *reader;
    struct request *req;
    struct study_row study;
    struct job *job;
    struct query_page page;      /* token: id of the trial before the page */
    const struct filter *filter; /* state, tags; NULL: all */
    bool continues;              /* the list has elements already */
    trial_viewer *view;          /* NULL: as Vertex's Trial */

    size_t written;
    int64_t last; /* id of the trial seen last */
};

/* The study that the request names and its job; `job` NULL: not wanted. */
enum ht_status read_find_study(struct reader *reader, struct request *req,
                               struct study_row *study, struct job **job,
                               struct ht_error *err);

/* The trial by its id as text.
 * HT_NOT_FOUND  it is no id, or there is no such trial */
enum ht_status read_find_trial(struct reader *reader, struct request *req,
                               const struct study_row *study, const char *text,
                               struct trial_row *trial, struct ht_error *err);

/* Appends trials to the reply, with commas between them, none in front unless
 * the list continues. *more: the page is full or the slice is used up, and
 * there may be trials behind walk->last. */
enum ht_status trials_walk(struct trial_walk *walk, bool *more,
                           struct ht_error *err);

#endif
