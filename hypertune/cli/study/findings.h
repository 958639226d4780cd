/* findings.h - what the server finds of the health of a study's model. */
#ifndef HT_HYPERTUNE_CLI_STUDY_FINDINGS_H
#define HT_HYPERTUNE_CLI_STUDY_FINDINGS_H

#include "hypertune/cli/study/study.h"

/* The list of them; NULL: there is none, or the study has no model. */
const struct node *cli_findings_get(struct cli *cli,
                                    const struct cli_study *study);

/* Appends a line for each, with the command that it proposes on one more. */
void cli_findings_describe(struct cli *cli, const struct node *findings,
                           struct text *out);

/* The study's resource with the list as hypertuneStatus.findings; unchanged for
 * NULL. */
const struct node *cli_findings_join(struct cli *cli,
                                     const struct cli_study *study,
                                     const struct node *findings);

#endif
