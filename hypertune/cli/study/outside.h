/* outside.h - trials whose points the search would not choose any more, since
 * their study was changed. */
#ifndef HT_HYPERTUNE_CLI_STUDY_OUTSIDE_H
#define HT_HYPERTUNE_CLI_STUDY_OUTSIDE_H

#include <stdbool.h>

#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"

/* Does the server say so of the trial? */
bool cli_outside_is(const struct node *trial);

/* Appends the parameters whose values are outside, "lr, opt", else
 * "constraints"; nothing for a trial that is inside. */
void cli_outside_add(const struct cli_study *study, const struct node *trial,
                     struct text *out);

#endif
