/* faults.h - what the study handlers have in common: their answers and
 * their complaints. Core thread. */
#ifndef HT_TUNER_ASK_FAULTS_H
#define HT_TUNER_ASK_FAULTS_H

#include <stdint.h>

#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "tuner/core/request.h"

/* Settles the study, so that an answer shows what the command led to, and reads
 * its row. */
enum ht_status study_settled(struct core *core, struct request *req, int64_t id,
                             struct study_row *row, struct ht_error *err);
/* The same, and replies with its job. */
enum ht_status study_reply(struct core *core, struct request *req, int64_t id,
                           struct ht_error *err);
/* The same with what a person should know of a job that was just created. */
enum ht_status study_reply_warned(struct core *core, struct request *req,
                                  int64_t id, const struct diag *warnings,
                                  struct ht_error *err);

/* A member of a job as it was sent. But enumerations have names in answers,
 * while requests may say their numbers. */
const char *study_sent(struct arena *arena, const struct node *sent,
                       const struct job *job, const char *member);
/* The trialJobSpec or jobSpec of a resource of Vertex; "" when the job came in
 * another form, of which that is our own writing, or has no replicas. */
const char *study_sent_spec(struct arena *arena, const struct node *sent,
                            const struct job *job);

/* The request's list of faults, made when the front gave none. */
struct diag *study_diag(struct request *req);
/* HT_INVALID with the first error of the list. */
enum ht_status study_fail_by_diag(const struct diag *diag,
                                  struct ht_error *err);

#endif
