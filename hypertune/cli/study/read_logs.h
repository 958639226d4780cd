/* read_logs.h - a metric that trials print but do not report: patterns that
 * read it, for later trials and for the logs of ended ones. */
#ifndef HT_HYPERTUNE_CLI_STUDY_READ_LOGS_H
#define HT_HYPERTUNE_CLI_STUDY_READ_LOGS_H

#include <stdbool.h>

#include "hypertune/cli/study/study.h"

/* Whether --metric auto is among the values of --metric: the pattern that the
 * server recognises is taken. */
bool cli_metric_is_auto(const struct words *given);
/* The others, which are patterns; in the arena.
 * HT_INVALID  one is no pattern, with its text and the form of one */
enum ht_status cli_metric_patterns(struct arena *arena,
                                   const struct words *given,
                                   struct strings *patterns,
                                   struct ht_error *err);

/* The pattern that the server recognised in what the trials of a study without
 * a result printed; NULL: none. */
const char *cli_metric_recognised(const struct cli_study *study);
/* "\n  read such lines: hypertune set ..." for a message about the study, in
 * cli->arena; "" when the server recognised no pattern. */
const char *cli_metric_advice(struct cli *cli, const struct cli_study *study);

/* Adds the patterns to the study and has the logs of its ended trials read
 * with them. Appends what became of it, as lines without the last newline. */
enum ht_status cli_metric_read(struct cli *cli, const char *study,
                               const struct strings *patterns, struct text *out,
                               struct ht_error *err);

/* The same of the values of --metric, said to the user. Returns an exit code.
 */
int cli_metric_set(struct cli *cli, const struct cli_study *study);

/* The same for a study that is submitted again while it waits for its metric:
 * false without --metric, or when no log has the metric. */
bool cli_metric_repair(struct cli *cli, const struct cli_study *study);

#endif
