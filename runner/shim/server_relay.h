/* server_relay.h - the way from a node to the server: a trainer reports to
 * 127.0.0.1, and a process passes that on, by TLS where the server has it.
 *
 * It connects only when the trainer does. Nothing of it can end a trial: its
 * reports are in the report file, too. */
#ifndef HT_RUNNER_SHIM_SERVER_RELAY_H
#define HT_RUNNER_SHIM_SERVER_RELAY_H

#include <sys/types.h>

#include "proto/base/arena.h"
#include "runner/base/order.h"

/* Starts the process, a child that ends with this one. Returns the address for
 * HYPERTUNE_REPORT_URL, in the arena; NULL, with *relay 0: there is none, and
 * stderr has the reason unless the way names no server. */
const char *server_relay_start(struct arena *arena, const struct order_way *way,
                               pid_t *relay);
void server_relay_stop(pid_t relay); /* accepts 0 */

#endif
