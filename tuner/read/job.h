/* job.h - one job with all its trials as an answer in pieces: a study
 * may have 10^5 of them. */
#ifndef HT_TUNER_READ_JOB_H
#define HT_TUNER_READ_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/read/list.h"

enum { PIECE_TRIALS = 500 };

struct telling { /* what one piece is made from */
    struct reader *reader;
    struct request *req;
    struct arena *arena; /* of the piece; the request's lives for all of them */
    const struct study_row *study;
    struct job *job;
};

/* Appends the next trials to the reply, with commas between all of them, and
 * leaves in req->cursor (0 at first) where to go on. *more: there may be
 * trials left. */
typedef enum ht_status trials_teller(const struct telling *telling, bool *more,
                                     struct ht_error *err);

struct job_form {
    study_viewer *head; /* the job without trials */
    trials_teller *trials;
    size_t depth; /* objects, each the last member of the one before it, down
                     to the one that has the trials; 1: the job */
};

/* Tells the next piece: the job, unless the answer has begun, and trials.
 * HT_CORRUPT  the stored spec is damaged */
enum ht_status read_job_text(struct telling *telling,
                             const struct job_form *form, struct ht_error *err);

#endif
