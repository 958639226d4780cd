/* ports.h - TCP ports of 127.0.0.1 for replicas, no port twice on a machine.
 *
 * A claim is an abstract Unix socket named after the port: the kernel grants
 * each name once per network namespace, which is where loopback ports live,
 * and gives it back when its holder dies. Claims keep runners of this program
 * apart, not strangers: a port is only tried, then left for the replica to
 * bind, so in between another program may take it. Ports below the range from
 * which the kernel serves everybody make that unlikely. */
#ifndef HT_RUNNER_BASE_PORTS_H
#define HT_RUNNER_BASE_PORTS_H

#include "proto/base/error.h"

/* Finds a port that nobody uses or claims and claims it; the claim lasts until
 * the caller closes *claim.
 * HT_IO  there is none */
enum ht_status ports_find(int *port, int *claim, struct ht_error *err);

/* Claims a port that was found in an earlier life; -1 when somebody else has
 * it. The caller closes the descriptor. */
int ports_claim(int port);

#endif
