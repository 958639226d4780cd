/* private.h - a server for one command alone: it and its runner work in a
 * temporary folder and end with the command. */
#ifndef HT_HYPERTUNE_CLI_SPEC_PRIVATE_H
#define HT_HYPERTUNE_CLI_SPEC_PRIVATE_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/server.h"

struct cli_private {
    const char *folder; /* below TMPDIR, 0700 */
    struct cli_server_info info;
};

/* Starts it with these flags of hypertuned besides its addresses (ended by
 * NULL) and connects to it. Should this process be killed, it ends by itself
 * some time after its work. Returns CLI_DONE, or CLI_REFUSED after having said
 * why; then nothing is left. */
int cli_private_start(struct cli *cli, const char *const flags[],
                      struct cli_private *private);

/* Ends it and its runner; removes the folder unless it is to be kept. Its jobs
 * have ended before. */
void cli_private_stop(struct cli *cli, const struct cli_private *private,
                      bool keep);

#endif
