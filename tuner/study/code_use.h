/* code_use.h - the tree of a study's code as a use of it, so that it is kept.
 * Core thread. */
#ifndef HT_TUNER_STUDY_CODE_USE_H
#define HT_TUNER_STUDY_CODE_USE_H

#include <stdint.h>

#include "proto/base/error.h"
#include "proto/job/job.h"

struct core;

/* From now on the study has the code of `after` and no longer that of `before`
 * (NULL: it is new). Attempts that are about to fetch it have an hour.
 * HT_PRECONDITION  the project has no such tree */
enum ht_status code_use_change(struct core *core, const char *project,
                               int64_t study, const struct job *before,
                               const struct job *after, struct ht_error *err);

#endif
