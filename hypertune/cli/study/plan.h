/* plan.h - what a job would run, in words. */
#ifndef HT_HYPERTUNE_CLI_STUDY_PLAN_H
#define HT_HYPERTUNE_CLI_STUDY_PLAN_H

#include "hypertune/cli/frame/cli.h"
#include "proto/job/job.h"

enum { CLI_PLAN_EXAMPLES = 3 };

/* Appends goal, parameters, search, and so many example commands, from 1 to
 * CLI_PLAN_EXAMPLES. */
void cli_plan_describe(struct cli *cli, const struct job *job, size_t examples,
                       struct text *out);
/* Appends one more line of it; no words for NULL. */
void cli_plan_line(const char *label, const char *value, struct text *out);

#endif
