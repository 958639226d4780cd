/* code.h - the working folder of a job as a snapshot at the server, from which
 * trials on other machines get their copies. */
#ifndef HT_HYPERTUNE_CLI_SPEC_CODE_H
#define HT_HYPERTUNE_CLI_SPEC_CODE_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"

/* Sends what the server lacks of the folder, says how much there is, and names
 * the snapshot in the job. Nothing happens for images and with `code: none`,
 * and nothing is said where the server and its runners share this machine.
 * What cannot travel is an error only where a runner of another machine is
 * online; elsewhere it is said. Connected before. Returns CLI_DONE, or another
 * exit code after a message. */
int cli_code_send(struct cli *cli, const struct cli_spec *spec);

/* Says that a study has the code of an earlier snapshot, if it has. */
void cli_code_say_older(struct cli *cli, const struct job *theirs,
                        const struct job *ours);

#endif
