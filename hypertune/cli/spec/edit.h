/* edit.h - the short texts with which `set` and `clone` change one part of a
 * job.
 *
 * The job is a copy of the caller's own; after a failure it may be half
 * changed. All texts are in the arena or borrowed from it. */
#ifndef HT_HYPERTUNE_CLI_SPEC_EDIT_H
#define HT_HYPERTUNE_CLI_SPEC_EDIT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"

/* Applies "NAME=FORM" to a parameter, which keeps its type and scale. FORM is
 *     1e-4..0.5  ..12  1e-4..      both ends of a range, or one
 *     16..128:16                   and its step; 0 takes the step away
 *     +lion,adamw   -sgd           values added, values removed; a sign
 *                                  counts up to the next one
 *     adam,sgd      =-1,-2         all values; "=" before a sign
 * A default that is no value any more is taken away.
 * HT_NOT_FOUND  no such parameter
 * HT_INVALID    the form is none for its type, or gives an empty range; a
 *               value is there already, is not there, or is one on which
 *               another parameter depends */
enum ht_status cli_edit_parameter(struct arena *arena, struct job *job,
                                  const char *text, struct ht_error *err);

/* Does "NAME=FORM" name a type or a scale, as "lr=log:1e-5..1" does? */
bool cli_edit_names_kind(const char *text);

/* Puts a parameter in place of the one of its name, whose conditions it takes,
 * or behind the others.
 * HT_INVALID  other parameters depend on values that it lacks */
enum ht_status cli_edit_replace(struct arena *arena, struct job *job,
                                const struct param *param,
                                struct ht_error *err);

/* Adds a constraint, or removes it; blanks do not count.
 * HT_INVALID    it is there already
 * HT_NOT_FOUND  it is not there */
enum ht_status cli_edit_add_constraint(struct arena *arena, struct job *job,
                                       const char *text, struct ht_error *err);
enum ht_status cli_edit_remove_constraint(struct arena *arena, struct job *job,
                                          const char *text,
                                          struct ht_error *err);

/* Gives a safety metric of the job the threshold and, when it has one, the
 * share of trials of `bound`.
 * HT_NOT_FOUND  it has no such safety metric
 * HT_INVALID    the bound is on the other side */
enum ht_status cli_edit_bound(struct arena *arena, struct job *job,
                              const struct metric_goal *bound,
                              struct ht_error *err);

/* Adds "RULE" or "RULE:OPTION=VALUE,..." as earlyStopping of a native spec. */
void cli_edit_add_rule(struct arena *arena, cJSON *spec, const char *text);

#endif
