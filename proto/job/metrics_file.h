/* metrics_file.h - the file of `metrics: {file: NAME}` and the folder of
 * `metrics: {events: FOLDER}`: where they lie, and whether more than one trial
 * would write there.
 *
 * Every part of the product asks here, so that what is refused, what waits and
 * what is read are one rule. */
#ifndef HT_PROTO_JOB_METRICS_FILE_H
#define HT_PROTO_JOB_METRICS_FILE_H

#include "proto/doc/diag.h"
#include "proto/job/job.h"

/* Replaced by the folder that a replica sees as HYPERTUNE_TRIAL_DIR. */
#define TRIAL_DIR_REFERENCE "${trialDir}"

/* NAME of "${trialDir}/NAME"; NULL for any other. */
const char *metrics_file_in_trial(const char *file);

/* FOLDER of "${trialDir}/FOLDER", "" of "${trialDir}" alone; NULL for any
 * other. */
const char *metrics_events_in_trial(const char *folder);

/* The file that all trials of the job have in common, its path tidied up as
 * text, in the arena; NULL when each replica has its own, or there is none. */
const char *metrics_file_shared(struct arena *arena, const struct job *job);

/* How many processes of the job may write its common file at a time: replicas
 * of a trial times trials. */
int64_t metrics_file_writers(const struct job *job);

/* The line to write instead, in the arena. */
const char *metrics_file_repair(struct arena *arena, const struct job *job);

/* Adds a fault when a trial could be given another's values. `root` is the spec
 * or resource that the settled job (its workdir is known) was read from. */
void metrics_file_check(const struct node *root, const struct job *job,
                        struct diag *diag);
/* The same for the folder of event files. */
void metrics_events_check(const struct node *root, const struct job *job,
                          struct diag *diag);

#endif
