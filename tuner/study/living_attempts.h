/* living_attempts.h - which attempts have not ended, and whose they are, for
 * the thread that receives log data beside the core.
 *
 * The core changes the table after each COMMIT. It holds as many entries as
 * there are open attempts and known runners. */
#ifndef HT_TUNER_STUDY_LIVING_ATTEMPTS_H
#define HT_TUNER_STUDY_LIVING_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/rows.h"

struct core;

/* The part of the core: begins with the open attempts of the database. */
enum ht_status living_attempts_start(struct core *core, void **data,
                                     struct ht_error *err);
void living_attempts_stop(void *data); /* accepts NULL */

/* --- core thread; they take effect after the COMMIT --- */

/* It was leased: its runner may send logs of the job's replicas. */
void living_attempts_add(struct core *core, const struct attempt_row *attempt,
                         const struct job *job);
/* The trial has no attempt that lives; trial 0: no trial of the study has. */
void living_attempts_drop(struct core *core, int64_t study, int64_t trial);
/* The runner has said hello with this boot. */
void living_attempts_greet(struct core *core, const char *runner,
                           const char *boot);

/* --- any thread --- */

/* Whether the runner, as started last, may send logs of the replica.
 * HT_NOT_FOUND  no such attempt lives, or not at this runner
 * HT_INVALID    it has not said hello, or the attempt has no such replica */
enum ht_status living_attempts_check(struct core *core,
                                     const struct trial_name *name,
                                     const char *runner, const char *boot,
                                     const char *replica, struct ht_error *err);

/* Whether the job has the replica, "worker-1". */
bool living_attempts_has_replica(const struct job *job, const char *replica);

#endif
