/* reader_job.h - one job with all its trials as an answer in pieces: a study
 * may have 10^5 of them. */
#ifndef HT_TUNER_READER_JOB_H
#define HT_TUNER_READER_JOB_H

#include <stddef.h>

#include "tuner/reader_list.h"
#include "tuner/reader_walk.h"

struct job_form {
    study_viewer *head;  /* the job without trials */
    trial_viewer *trial; /* NULL: as Vertex's Trial */
    size_t depth;        /* objects, each the last member of the one before it,
                            down to the one that has the trials; 1: the job */
};

/* Tells the next piece: the job, unless the answer has begun, and the trials
 * behind req->cursor. The arena is that of the piece, as the request's own
 * lives for all of them.
 * HT_CORRUPT  the stored spec is damaged */
enum ht_status reader_tell_job(struct reader *reader, struct request *req,
                               struct arena *arena,
                               const struct study_row *study,
                               const struct job_form *form,
                               struct ht_error *err);

#endif
