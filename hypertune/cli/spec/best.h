/* best.h - the best of a study: in words, confirmed, and run again. */
#ifndef HT_HYPERTUNE_CLI_SPEC_BEST_H
#define HT_HYPERTUNE_CLI_SPEC_BEST_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/study/study.h"

/* The end of `run`: how the study ended, its best trial and the command that
 * repeats it. Returns `code`, or why the server failed. */
int cli_best_of_run(struct cli *cli, const struct cli_spec *spec,
                    const char *study, int code);

/* Appends the verdict of its confirmations as one line: which trial to take,
 * and how sure that is. Nothing when no run of one has ended yet. */
enum ht_status cli_confirm_verdict(struct cli *cli,
                                   const struct cli_study *study,
                                   struct text *out, struct ht_error *err);

#endif
