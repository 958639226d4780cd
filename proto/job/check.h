/* check.h - checks a job after it was read: the parts that all forms of a spec
 * share, and what must hold between them. */
#ifndef HT_PROTO_JOB_CHECK_H
#define HT_PROTO_JOB_CHECK_H

#include "proto/doc/field.h"
#include "proto/job/draft.h"

/* Checks what the replicas run, metrics and parameters, resolves conditions,
 * looks at constraints and the grid and the rule that stops trials early. */
void job_check(const struct field_reader *reader, struct job_draft *draft);

/* Checks what Google demands of a new resource, in its members `displayName`
 * (a name of ours in `hypertune` will do, too), `labels` and `env`, and that
 * name of ours; what is stored already may have more. */
void job_check_new(const struct field_reader *reader, struct place root);
/* Of these `labels` alone. */
void job_check_labels(const struct field_reader *reader, struct place root);

#endif
