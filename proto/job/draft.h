/* draft.h - a job while it is read: where each part of it was said, and the
 * rows and values that all forms of a spec share. */
#ifndef HT_PROTO_JOB_DRAFT_H
#define HT_PROTO_JOB_DRAFT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/job.h"
#include "proto/space/space.h"

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
    struct place pools, workdir, output, secrets, slurm, kubernetes;
};

/* Words that all forms of ours share. */
extern const struct field_choice job_metric_doctors[];
extern const struct field_choice job_on_silences[];
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

/* ---- parameters ---- */

struct param_draft {
    struct place at;      /* the whole parameter */
    struct place name_at; /* its name, where that is a separate member */
    /* What was said about it; path is always set, node NULL when silent. */
    struct place min, max, step, scale, fallback, values, former;
    bool google; /* Vertex's rules: an absent bound is 0, min == max is fine */
    struct param param; /* name and type are set by the form's reader */
};

/* Fills draft->param. Every fault goes to the diagnostics; false on any. */
bool job_param_finish(const struct field_reader *reader,
                      struct param_draft *draft);

/* former, of a parameter that is read but for it: {min, max} of a range that
 * holds today's, {values} of a list that are not today's. Part of
 * job_param_finish(). */
bool job_former_read(const struct field_reader *reader,
                     struct param_draft *draft);
extern const struct field job_former_rows[];
/* Adds the member "former" where there is something to say. */
void job_former_write(cJSON *object, const struct param *param);

/* Native names of types and scales, by enumerator; for writers. */
const char *job_param_type_name(enum param_type type);
const char *job_param_scale_name(enum param_scale scale);

extern const struct field_choice job_param_types[];         /* native */
extern const struct field_choice job_param_google_scales[]; /* Vertex */

/* ---- what replicas run in: members of the native form and of Vertex's
 * "hypertune", by one grammar ---- */

/* Rows that are read into a struct job_draft. */
field_function job_secrets; /* secrets */
field_function job_volumes; /* volumes */
field_function job_workdir; /* workdir */
extern const struct field_choice job_code_ways[];
extern const struct field job_code_rows[]; /* hypertune.code */

extern const struct field_choice job_reporters[]; /* of reporter: */

/* Rows of container, into a struct container_options; of one secret; of keep,
 * into an int64_t. */
extern const struct field job_container_rows[];
extern const struct field job_secret_rows[];
extern const struct field job_keep_rows[];

/* Adds what is not at its default: container, secrets, reporter, rewriteGs,
 * keep and volumes. */
void job_container_write(cJSON *object, const struct job *job);

/* ---- the rule that ends trials early: its name, or a map of the rule and its
 * options; the same in the native form and in Vertex's "hypertune" ---- */

/* Row that is read into a struct job_draft. */
field_function job_early_stop;

/* Rows of the map, ended by a NULL name; into a struct early_stop. */
extern const struct field job_early_stop_rows[];

/* "median" */
const char *job_early_stop_name(enum job_early_stop rule);

/* Whether anything but the rule was said. */
bool job_early_stop_has_options(const struct early_stop *stop);

/* Adds the rule to `object` as the member "earlyStopping". */
void job_early_stop_write(cJSON *object, const struct early_stop *stop);

/* Checks its options against each other and against the rule. */
void job_early_stop_check(const struct field_reader *reader,
                          const struct job_draft *draft);

#endif
