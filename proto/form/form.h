/* form.h - a job read from each form that people and clients send, and written
 * back in it.
 *
 * The forms: native (the own short one, YAML), Vertex (the stored one) and AI
 * Platform's. All of them are read into the one struct job. A plan tells a
 * person what a job would do. */
#ifndef HT_PROTO_FORM_FORM_H
#define HT_PROTO_FORM_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "proto/space/space.h"

/* The form's name: "vertex", "aip" or "native". */
const char *form_dialect_name(enum job_dialect form);

/* Reads the native form (architecture, "The native spec form"; grammar in
 * native.schema.json). Every fault goes to diag; NULL when there was any
 * error, otherwise a complete job in diag's arena. */
struct job *native_read(const struct node *root, struct diag *diag);

/* Reads the search of a study of clients in the native form: a JOB_STUDY.
 * Members about running trials are errors. Same contract. */
struct job *native_read_study(const struct node *root, struct diag *diag);

/* Reads Vertex's resource of that kind - HyperparameterTuningJob, Study or
 * CustomJob - the stored and sent form. What Vertex has no field for is its
 * member "hypertune"; output-only members are ignored, unknown ones are
 * errors. Same contract as native_read(). */
struct job *vertex_read(const struct node *root, enum job_kind kind,
                        struct diag *diag);

/* Reads a list of Vertex's ParameterSpecs without conditions, as an open space
 * takes them. Faults go to diag, and then it is false. */
bool vertex_read_space(const struct node *list, const char *path,
                       struct diag *diag, struct space *space);

/* Reads an AI Platform job or its config file: `trainingInput:`, with
 * `hyperparameters` a JOB_TUNING, without a JOB_CUSTOM. Same contract. */
struct job *aip_read(const struct node *root, struct diag *diag);

/* What may change of an AI Platform job; the rest of a Job that says it is
 * checked by name and ignored. */
struct aip_change {
    struct pairs labels; /* all of them, none when left out */
    const char *etag;    /* NULL: not said */
};
/* Faults go to diag; without any the change is complete. */
void aip_read_change(const struct node *root, struct aip_change *change,
                     struct diag *diag);

/* Reads a spec file of any form, told apart by its top-level members. */
struct job *form_read(const struct node *root, struct diag *diag);

/* The job as Vertex's resource of its kind, with "hypertune"; reading it back
 * gives an equal job. The caller owns the result. */
cJSON *vertex_write(const struct job *job);
/* The member that says what its replicas run; of a JOB_STUDY none. */
const char *vertex_job_spec_member(const struct job *job);
/* The job as AI Platform's, the caller owns the result. What that form cannot
 * say is left out and named in a warning each. */
cJSON *aip_write(const struct job *job, struct diag *diag);
/* The job in the native form, members in documented order, defaults left out.
 * The caller owns the result. */
cJSON *native_write(const struct job *job);

/* The job in the form that is called "native", "vertex" or "aip"; what that
 * form cannot say is named in a warning each. The caller owns *out.
 * HT_INVALID       there is no such form
 * HT_PRECONDITION  the form has no words for such a job */
enum ht_status form_write(const struct job *job, const char *form,
                          struct diag *losses, cJSON **out,
                          struct ht_error *err);

/* Parses stored Vertex JSON of any kind, told apart by its members.
 * HT_CORRUPT when it cannot be read back. */
enum ht_status vertex_parse(struct arena *arena, const char *json,
                            struct job **job, struct ht_error *err);

/* The differences of two jobs as lines "path: old -> new", native names; what
 * a person did not choose (captured_env, a seed the server drew, an algorithm
 * that `new` does not name) is skipped.
 * Returns the number of differences. */
size_t form_diff(const struct job *old, const struct job *new,
                 struct text *out);

/* ---- what a job would do, in words: shown before anything is created, by the
 * command line and by the dashboard. Nothing is escaped. ---- */

/* "GP bandit", "grid search", "random search", "default search". */
const char *form_plan_algorithm(enum job_algorithm algorithm);

/* "DOUBLE", "INTEGER", ... */
const char *form_plan_type(enum param_type type);
/* One parameter as its range: "[1e-05, 0.1]  log", "32, 64". */
void form_plan_range(const struct param *param, struct text *out);
/* "when optimizer is sgd, rmsprop"; nothing without conditions. */
void form_plan_condition(const struct space *space, const struct param *param,
                         struct text *out);

/* "maximize accuracy, minimize loss", or what safety metrics must keep. */
void form_plan_goals(const struct job *job, bool safety, struct text *out);
/* The algorithm, the counts and what may end the search earlier. */
void form_plan_search(const struct job *job, struct text *out);

/* What the master of a job with pools runs at n points: the middle of every
 * range first, then points by chance; the same job gives the same ones. */
void form_plan_examples(struct arena *arena, const struct job *job, size_t n,
                        struct strings lines[]);

/* The first of these points, in the arena. */
const struct value *form_plan_point(struct arena *arena, const struct job *job);

/* What each replica of a pool gets at the first of these points: the words of
 * its command, and the job's own variables. */
struct form_plan_replica {
    struct strings words;
    struct pairs env;
};
struct form_plan_replica form_plan_replica(struct arena *arena,
                                           const struct job *job,
                                           const struct pool *pool);

#endif
