/* confirm.h - what the repeated runs of a study's best points say. */
#ifndef HT_HYPERTUNE_CLI_SPEC_CONFIRM_H
#define HT_HYPERTUNE_CLI_SPEC_CONFIRM_H

#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"

/* Appends the verdict as one line, for a study that has confirmations: which
 * trial to take, and how sure that is. Nothing when no run has ended yet. */
enum ht_status cli_confirm_verdict(struct cli *cli,
                                   const struct cli_study *study,
                                   struct text *out, struct ht_error *err);

#endif
