/* connect.h - `runners connect`: the connection to a login node that a runner
 * uses. */
#ifndef HT_HYPERTUNE_CLI_STUDY_CONNECT_H
#define HT_HYPERTUNE_CLI_STUDY_CONNECT_H

#include "hypertune/cli/frame/cli.h"

/* Becomes ssh, which asks the person for what it needs and stays as a master
 * in the background; what follows "--" are its options. Returns the exit code
 * when there is one already, or it cannot begin. */
int cli_connect_login(struct cli *cli, const char *host);

#endif
