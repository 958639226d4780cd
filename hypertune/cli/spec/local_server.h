/* local_server.h - the server of one `local-run`, in a temporary folder. */
#ifndef HT_HYPERTUNE_CLI_SPEC_LOCAL_SERVER_H
#define HT_HYPERTUNE_CLI_SPEC_LOCAL_SERVER_H

#include <stdbool.h>

#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/server.h"

struct local_server {
    struct cli *cli;
    const char *folder; /* below TMPDIR, 0700 */
    struct cli_server_info info;
};

/* Starts it for containers of the engine (NULL: for processes) and connects to
 * it; volumes may be below the folders `roots`, separated by commas (NULL:
 * none). When this process is killed the server ends by itself some time after
 * its work. Returns CLI_DONE, or another exit code after a message: then
 * nothing is left. */
int local_server_start(struct local_server *server,
                       const struct cli_engine *engine, const char *roots);

/* Ends the server and its runner, whose job has ended, and removes the folder
 * unless it is to be kept. */
void local_server_stop(const struct local_server *server, bool keep);

#endif
