/* relay.h - the way from a container's network to the server's report address:
 * listens on the network's gateway and passes bytes on.
 *
 * One thread for all; what it cannot pass on it closes, and the trial's file
 * keeps every record. Thread-safe. */
#ifndef HT_RUNNER_CONTAINER_RELAY_H
#define HT_RUNNER_CONTAINER_RELAY_H

#include "proto/base/error.h"

struct relay;

/* Connections at once, of all listeners and of one: no trial can take them
 * all. Later ones are closed. */
enum { RELAY_CONNECTIONS = 256, RELAY_CONNECTIONS_EACH = 128 };

/* HT_IO  no thread or descriptor */
enum ht_status relay_start(struct relay **relay, struct ht_error *err);
void relay_stop(struct relay *relay); /* accepts NULL */

/* Listens on `gateway` (an IPv4 or IPv6 address, which may not exist yet) at
 * *port, 0: any, set to the real one, and connects what comes to
 * `report_url` (tcp://HOST:PORT). Doing it again changes nothing.
 * HT_INVALID  the gateway or the URL is no such address
 * HT_IO       it cannot be listened there */
enum ht_status relay_open(struct relay *relay, const char *gateway,
                          const char *report_url, int *port,
                          struct ht_error *err);
/* Ends the listener and what came through it, before it returns. */
void relay_close(struct relay *relay, const char *gateway, int port);

#endif
