/* plan.h - what a job would run, in words for a terminal. */
#ifndef HT_HYPERTUNE_CLI_STUDY_PLAN_H
#define HT_HYPERTUNE_CLI_STUDY_PLAN_H

#include "hypertune/cli/frame/cli.h"
#include "proto/job/job.h"

enum { CLI_PLAN_EXAMPLES = 3 }; /* most example commands of a plan */

/* Appends goal, parameters, search and `examples` commands. */
void cli_plan_describe(struct cli *cli, const struct job *job, size_t examples,
                       struct text *out);

/* Appends "  goal        maximize accuracy", foreign bytes escaped. */
void cli_plan_line(const char *label, const char *value, struct text *out);

#endif
