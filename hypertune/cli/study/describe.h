/* describe.h - a study or a trial in words, for people. */
#ifndef HT_HYPERTUNE_CLI_STUDY_DESCRIBE_H
#define HT_HYPERTUNE_CLI_STUDY_DESCRIBE_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"
#include "proto/job/job.h"

/* Appends all that is known of a study, its spec last. */
void cli_describe_study(struct cli *cli, const struct cli_study *study,
                        struct text *out);

/* Cells that all tables of studies have: ended trials, running and failed ones,
 * the best result; age, kind, number and the reason of its state. */
void cli_describe_counts(const struct cli_study *study, struct table *table);
void cli_describe_origin(const struct cli_study *study, int64_t now_ms,
                         struct table *table);

/* Appends all that a trial resource has: what it waits for, its results and
 * flags, why the search chose its point, and each attempt with its end and its
 * facts. */
void cli_describe_trial(struct cli *cli, const struct cli_study *study,
                        const struct node *trial, struct text *out);
/* Appends "trial 46   accuracy=0.9496 (step 20)   7m18s on runner a:3" and its
 * flags on a second line. */
void cli_describe_best(const struct cli_study *study, const struct node *trial,
                       struct text *out);

/* Appends why a trial has no objective, as the server found out: a line for
 * each metric that was seen and each hint of a "doctor" (docs/http.md);
 * nothing for NULL. */
void cli_describe_doctor(const struct node *doctor, struct text *out);

enum { CLI_PLAN_EXAMPLES = 3 };

/* Appends goal, parameters, search, and so many example commands, from 1 to
 * CLI_PLAN_EXAMPLES. */
void cli_plan_describe(struct cli *cli, const struct job *job, size_t examples,
                       struct text *out);
/* Appends one more line of it; no words for NULL. */
void cli_plan_line(const char *label, const char *value, struct text *out);

#endif
