/* check.h - what must hold between the parts of a job, in either form. */
#ifndef HT_PROTO_JOB_CHECK_H
#define HT_PROTO_JOB_CHECK_H

#include "proto/doc/field.h"
#include "proto/job/job.h"
#include "proto/job/param.h"

/* "exists when PARENT is one of VALUES", as it was said. */
struct condition_draft {
    size_t child;        /* index of the parameter */
    int parent;          /* index of the parent; -1: by its name */
    const char *name;    /* of the parent */
    struct place at;     /* of the condition */
    struct place values; /* one scalar or a list */
    struct condition_draft *next;
};

struct job_draft {
    struct job job;
    struct param_draft *params; /* job.space.n of them */
    struct condition_draft *conditions;
    struct place metrics, parameters, constraints, early_stop;
    struct place pools, workdir, output, secrets;
};

/* Words that all forms of ours share. */
extern const struct field_choice job_metric_doctors[];
extern const struct field_choice job_args_modes[];
extern const struct field_choice job_dialects[];

/* Reads a study's name: one that no number and no option can be taken for. */
field_function job_name;
/* The same of a study that is to be made, with job_check_new_name(). */
field_function job_new_name;
/* Adds a fault where a trial of another study, STUDY/7 or STUDY/best, would be
 * taken for the name; there are older studies that have such a one. */
void job_check_new_name(const struct field_reader *reader, struct place at);
/* {running, waiting} into a struct cancelling, ours in all forms */
extern const struct field job_cancel_rows[];

/* Adds the parameter to the draft's space; room is for HT_MAX_PARAMETERS. */
void job_draft_add(const struct field_reader *reader, struct job_draft *draft,
                   const struct param_draft *param);

/* Adds a condition behind the others, in their order. */
void job_draft_add_condition(const struct field_reader *reader,
                             struct job_draft *draft,
                             const struct condition_draft *condition);

/* Whether anything but a count of trials can end the study. */
bool job_has_stopping_rule(const struct job *job);

/* Checks what Google demands of a new resource, in its members `displayName`
 * (a name of ours in `hypertune` will do, too), `labels` and `env`, and that
 * name of ours; what is stored already may have more. */
void job_check_new(const struct field_reader *reader, struct place root);
/* Of these `labels` alone. */
void job_check_labels(const struct field_reader *reader, struct place root);

/* Checks what the replicas run, metrics and parameters, resolves conditions,
 * looks at constraints and the grid and the rule that stops trials early. */
void job_check(const struct field_reader *reader, struct job_draft *draft);

#endif
