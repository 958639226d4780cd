/* store.h - the server's store of code, checkpoints and outputs, as transfers
 * find it (proto/transfer/transfer.h). */
#ifndef HT_HYPERTUNE_CLI_FRAME_STORE_H
#define HT_HYPERTUNE_CLI_FRAME_STORE_H

#include "proto/base/error.h"
#include "proto/transfer/transfer.h"

/* The server that the command is connected to: the find() of
 * transfer_settings, with the struct cli as its context. Never fails. */
enum ht_status cli_store_find(void *context, struct transfer_server *server,
                              struct ht_error *err);

#endif
