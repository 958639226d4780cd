/* plan.h - what a job would do, in words: shown before anything is
 * created, by the command line and by the dashboard. Nothing is escaped. */
#ifndef HT_PROTO_FORM_PLAN_H
#define HT_PROTO_FORM_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"
#include "proto/job/job.h"

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

#endif
