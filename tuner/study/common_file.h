/* common_file.h - the metrics file or outputDir that all trials of a study
 * share: no two open studies may have the same one, and no two trials run on
 * one file. Core thread. */
#ifndef HT_TUNER_STUDY_COMMON_FILE_H
#define HT_TUNER_STUDY_COMMON_FILE_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/job/job.h"

struct core;

/* Whether the study `id` (0: a new one) may be open with this job.
 * HT_PRECONDITION  another study that has not ended writes the same file or
 *                  folder */
enum ht_status common_file_check(struct core *core, int64_t id,
                                 const struct job *job, struct ht_error *err);

/* Whether a trial may start: where trials share a file, no trial of any study
 * may be running on it, whatever the limits of the studies are. */
enum ht_status common_file_is_free(struct core *core, int64_t id,
                                   const struct job *job, bool *is_free,
                                   struct ht_error *err);

#endif
