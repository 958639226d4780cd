/* native.h - what the files of the native reader share, and the list of its
 * fields, for documents and tests. */
#ifndef HT_PROTO_FORM_NATIVE_H
#define HT_PROTO_FORM_NATIVE_H

#include <cjson/cJSON.h>

#include "proto/base/text.h"
#include "proto/doc/field.h"
#include "proto/job/draft.h"

struct native_pool {
    struct pool pool;
    int64_t count;                   /* of replicas, 0: not asked for */
    struct place command, env, part; /* where they were given */
};

struct native_draft {
    struct job_draft draft; /* draft.job is the result */
    struct native_pool pools[JOB_POOLS];
    struct place stdout_patterns;
};

field_function native_goal; /* rows of the root; `into` is the draft */
field_function native_safety;
field_function native_parameters;
field_function native_command; /* rows of a pool; the offset is its place */
field_function native_path;    /* const char *, not empty */

/* native_read() of a spec whose master has arguments, for which that form has
 * no field: with any it needs no command. */
struct job *native_read_with_args(const struct node *root, struct strings args,
                                  struct diag *diag);

/* Words of algorithm, selection and noise. */
extern const struct field_choice native_algorithms[];
extern const struct field_choice native_selections[];
extern const struct field_choice native_noises[];

/* What other tools call our fields and their values. */
extern const struct field_synonym native_synonyms[];

/* Rows of one parameter's long form, of replicas, of one type of them and of
 * what each of that type needs; each ended by a NULL name. */
extern const struct field native_parameter_rows[];
extern const struct field native_replicas_rows[];
extern const struct field native_replica_rows[];
extern const struct field native_resource_rows[];

/* Makes the job's pools; what a type of replicas does not say is the
 * master's. */
void native_finish_pools(const struct field_reader *reader,
                         struct native_draft *native);

/* Warns of commands and patterns that will not do what they look like. */
void native_lint(const struct field_reader *reader,
                 struct native_draft *native);

/* "minimize loss", or of a bound "memory <= 4 for 90% of trials". */
void native_goal_text(const struct metric_goal *goal, struct text *text);
/* Adds what the study improves and keeps within bounds: "goal" and "safety",
 * each a text or a list of them. */
void native_add_goals(cJSON *root, const struct job *job);

/* The job in native names. NATIVE_SPEC is what native_write() promises;
 * NATIVE_FULL has the defaults written out and what only other forms can say,
 * so that two jobs differ when their trees do. The caller owns the result. */
enum native_detail { NATIVE_SPEC, NATIVE_FULL };
cJSON *native_tree(const struct job *job, enum native_detail detail);

/* Adds a warning for each thing in the job that the native form has no word
 * for, so that native_write() leaves it out. */
void native_omits(const struct job *job, struct diag *diag);

/* Appends a commented spec to begin with: that command (YAML) in the folder of
 * the spec, or in `workdir` where no file is, so that it has a name, too. */
void native_template(const char *command, const char *workdir,
                     struct text *out);

/* Appends every field of the form, one a line, such as
 * "until.time" or "parameters.*.min". */
void native_fields(struct text *out);

#endif
