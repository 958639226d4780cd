/* since.h - what its events say of a study since a revision: suggestions that a
 * change withdrew, counts that it was given. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SINCE_H
#define HT_HYPERTUNE_CLI_SPEC_SINCE_H

#include <stdbool.h>
#include <stdint.h>

#include "hypertune/cli/study/study.h"

/* How many suggestions the newest change after that revision withdrew; 0 when
 * there was no change. */
enum ht_status cli_since_withdrawn(struct cli *cli,
                                   const struct cli_study *study,
                                   int64_t revision, long long *n,
                                   struct ht_error *err);

/* Are the lines of form_diff(), the server's job against a spec, counts alone,
 * which the study was given after it had those of the spec? Says so then. False
 * when the command line names counts. */
bool cli_since_explains(struct cli *cli, const struct cli_study *study,
                        const char *differences);

#endif
