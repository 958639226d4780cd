/* describe.h - a study or a trial in words, for people. */
#ifndef HT_HYPERTUNE_CLI_STUDY_DESCRIBE_H
#define HT_HYPERTUNE_CLI_STUDY_DESCRIBE_H

#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"

/* Appends "trial 46   accuracy=0.9496 (step 20)   7m18s on runner a:3" and its
 * flags on a second line. */
void cli_describe_best(const struct cli_study *study, const struct node *trial,
                       struct text *out);

#endif
