/* relay.h - connects a container's network with the server's report address:
 * listens on the network's gateway and passes bytes on.
 *
 * One thread for all. A connection that fails is closed; the trial's file keeps
 * every record. Thread-safe. */
#ifndef HT_RUNNER_CONTAINER_RELAY_H
#define HT_RUNNER_CONTAINER_RELAY_H

#include "proto/base/error.h"

struct relay;

/* Connections at once, of all listeners and of one, so that no trial can take
 * all. Further ones are closed. */
enum { RELAY_CONNECTIONS = 256, RELAY_CONNECTIONS_EACH = 128 };

/* HT_IO  no thread or descriptor */
enum ht_status relay_start(struct relay **relay, struct ht_error *err);
void relay_stop(struct relay *relay); /* accepts NULL */

/* Listens on `gateway` (an IPv4 or IPv6 address, which may not exist yet) at
 * *port, 0: any, set to the real one, and connects what comes to
 * `report_url` (tcp://HOST:PORT). A second call changes nothing.
 * HT_INVALID  the gateway or the URL is no such address
 * HT_IO       it cannot be listened there */
enum ht_status relay_open(struct relay *relay, const char *gateway,
                          const char *report_url, int *port,
                          struct ht_error *err);
/* Closes the listener and its connections before it returns. */
void relay_close(struct relay *relay, const char *gateway, int port);

#endif
