/* seal.h - the key of the server's secrets, for commands that use its files. */
#ifndef HT_HYPERTUNE_CLI_HOST_SEAL_H
#define HT_HYPERTUNE_CLI_HOST_SEAL_H

#include "proto/base/error.h"

struct cli;

/* Takes the key of --key-file, or of HYPERTUNED_KEY_FILE, for the files of the
 * data folder. Without either, none. HT_IO, HT_PRECONDITION. */
enum ht_status cli_seal_use(struct cli *cli, struct ht_error *err);

#endif
