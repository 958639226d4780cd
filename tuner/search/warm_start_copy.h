/* warm_start_copy.h - a study that is being created takes what it starts from.
 */
#ifndef HT_TUNER_SEARCH_WARM_START_COPY_H
#define HT_TUNER_SEARCH_WARM_START_COPY_H

#include "proto/doc/diag.h"
#include "proto/job/job.h"
#include "tuner/core/request.h"

/* Copies the results that the studies of job->warm_start have by now, with
 * those that they started from themselves; they may run on, change or be
 * deleted. Study `id` has been inserted. What a person should know of it goes
 * to `warnings`. HT_INVALID  a study is not there or has no parameter in common
 * with the job; the request's list of faults says which */
enum ht_status warm_start_copy(struct core *core, struct request *req,
                               const struct job *job, int64_t id,
                               struct diag *warnings, struct ht_error *err);

#endif
