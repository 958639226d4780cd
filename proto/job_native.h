/* job_native.h - what the parts of the native reader share, and the list of
 * its fields for those who document or check them. */
#ifndef HT_PROTO_JOB_NATIVE_H
#define HT_PROTO_JOB_NATIVE_H

#include <cjson/cJSON.h>

#include "proto/field.h"
#include "proto/job_check.h"
#include "proto/text.h"

struct native_draft {
    struct job_draft draft; /* draft.job is the result */
    struct pool pool;       /* the one pool of the native form */
    struct place goal, command, args_mode, env, stdout_patterns;
    struct place command_items; /* the list, when command is one */
};

field_function native_goal; /* rows of the root; `into` is the draft */
field_function native_parameters;

/* What other tools call our fields and their values. */
extern const struct field_synonym native_synonyms[];

/* Rows of one parameter's long form, ended by a NULL name. */
extern const struct field native_parameter_rows[];

/* Warns of commands and patterns that will not do what they look like. */
void native_lint(const struct field_reader *reader,
                 struct native_draft *native);

/* The job in native names. NATIVE_SPEC is what job_write_native() promises;
 * NATIVE_FULL has the defaults written out and what only other forms can say,
 * so that two jobs differ when their trees do. The caller owns the result. */
enum native_detail { NATIVE_SPEC, NATIVE_FULL };
cJSON *job_native_tree(const struct job *job, enum native_detail detail);

/* Appends every field that the reader knows, one a line, such as
 * "until.time" or "parameters.*.min". */
void job_native_fields(struct text *out);

#endif
