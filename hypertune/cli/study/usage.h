/* usage.h - what the newest attempt of a trial used of its machines, in words.
 */
#ifndef HT_HYPERTUNE_CLI_STUDY_USAGE_H
#define HT_HYPERTUNE_CLI_STUDY_USAGE_H

#include "hypertune/cli/frame/cli.h"
#include "proto/base/text.h"

/* Appends a line for each replica and GPU that was measured: the mean and the
 * peak. None where the server has nothing, or cannot say. */
void cli_describe_usage(struct cli *cli, const char *study, const char *trial,
                        struct text *out);

#endif
