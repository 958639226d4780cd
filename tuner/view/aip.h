/* aip.h - studies as AI Platform Training shows them: the Job of ml.v1
 * and the HyperparameterOutput of a trial.
 *
 * A tuning or custom job of any form has such a view; ids and values are JSON
 * texts and int64 is text, since Google's client cannot read them otherwise. */
#ifndef HT_TUNER_VIEW_AIP_H
#define HT_TUNER_VIEW_AIP_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/db.h"

/* The Job without its trials; the caller owns *out, as below. `trainingOutput`
 * is the last member, so that trials can be written after it. Of a job whose
 * stored spec is damaged there are the id, the times and the state, with the
 * damage as its error message. */
enum ht_status view_aip(struct db *db, struct arena *arena,
                        const struct study_row *study, cJSON **out,
                        struct ht_error *err);

/* The trainingInput of a job, without what AI Platform cannot express; the
 * caller owns it. */
cJSON *view_aip_input(struct arena *arena, const struct study_row *study,
                      const struct job *job);

/* One trial of a tuning job.
 * HT_CORRUPT  its point does not fit the job */
enum ht_status view_aip_trial(struct db *db, struct arena *arena,
                              const struct job *job,
                              const struct trial_row *trial, cJSON **out,
                              struct ht_error *err);

/* Google's name of the job's state, for filters too. */
enum ht_status view_aip_state(struct db *db, const struct study_row *study,
                              const char **state, struct ht_error *err);

/* Base64 that changes exactly when the labels do, in any order. */
const char *view_aip_etag(struct arena *arena, const struct job *job);

#endif
