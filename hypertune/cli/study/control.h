/* control.h - commands that change a study which is there. */
#ifndef HT_HYPERTUNE_CLI_STUDY_CONTROL_H
#define HT_HYPERTUNE_CLI_STUDY_CONTROL_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"

/* Deletes the study after a question (--yes answers it; without a terminal
 * --yes is needed). Returns CLI_DONE or the exit code after having said why. */
int cli_control_delete(struct cli *cli, const struct cli_study *study);

/* What a study was paused for by the server and what can be done about it, in
 * cli->arena; NULL when it is not held so. */
const char *cli_control_held(struct cli *cli, const struct cli_study *study);

/* POSTs "pause", "resume" or "stop" for a study. */
enum ht_status cli_control_post(struct cli *cli, const char *study,
                                const char *verb, struct ht_error *err);

#endif
