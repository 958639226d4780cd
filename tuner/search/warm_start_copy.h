/* warm_start_copy.h - copies results of earlier studies to a study that is
 * being created. */
#ifndef HT_TUNER_SEARCH_WARM_START_COPY_H
#define HT_TUNER_SEARCH_WARM_START_COPY_H

#include "proto/doc/diag.h"
#include "proto/job/job.h"
#include "tuner/core/request.h"

/* Copies the results that the studies of job->warm_start have now, and those
 * that they started from themselves; later changes of those studies have no
 * effect. Study `id` has been inserted. What the user should know is added to
 * `warnings`.
 * HT_INVALID  a study does not exist or has no parameter in common with the
 *             job; the request's list of faults names it */
enum ht_status warm_start_copy(struct core *core, struct request *req,
                               const struct job *job, int64_t id,
                               struct diag *warnings, struct ht_error *err);

#endif
