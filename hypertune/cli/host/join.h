/* join.h - `runner join URL`: makes this machine a runner of that server. */
#ifndef HT_HYPERTUNE_CLI_HOST_JOIN_H
#define HT_HYPERTUNE_CLI_HOST_JOIN_H

#include "hypertune/cli/frame/cli.h"

/* Takes its own words from cli->args.words, where those of hypertune-runner
 * remain, and adds --server and --token-file of this machine's own token to
 * `flags`. The first time the server gets the SHA-256 of that token by --token;
 * later the same words find it valid. An exit code. */
int cli_join(struct cli *cli, struct words *flags);

#endif
