/* placement.h - assigns an address and GPUs to each replica of an attempt, and
 * keeps them as placement.json beside lease.json.
 *
 * Chosen once, before anything starts; a restarted runner reads from it what is
 * in use. */
#ifndef HT_RUNNER_BASE_PLACEMENT_H
#define HT_RUNNER_BASE_PLACEMENT_H

#include <stddef.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

struct gpu_room {     /* a GPU of which something can be given */
    const char *name; /* as in gpus.h */
    double free;      /* of 1 */
};
struct gpu_rooms {
    size_t n;
    const struct gpu_room *items; /* in the order in which they are given */
};

struct replica_place {   /* of one replica */
    const char *address; /* HOST:PORT as the others reach it */
    int claim;           /* on the port, see placement_claim_port(); -1: none */
    struct strings gpus; /* whole ones, or the one that it has a part of */
};

struct placement {                  /* zeroed: nothing is chosen */
    size_t n;                       /* order->n_replicas */
    struct replica_place *replicas; /* in the order's order; in its arena */
    int relay_port; /* on the gateway of its network, 0: none yet */
};

/* The engine's member `address`. */
typedef enum ht_status placement_address(const struct site *site,
                                         const struct order *order,
                                         size_t replica, const char **address,
                                         int *claim, struct ht_error *err);

/* What the replica takes of each of its GPUs; 0: it needs none. */
double placement_part(const struct replica_order *replica);

/* Chooses for every replica: GPUs that the order names if they have room, else
 * others that have.
 * HT_UNAVAILABLE  there are not enough of them
 * other           what `address` failed with */
enum ht_status
placement_choose(const struct site *site, const struct order *order,
                 const struct gpu_rooms *rooms, placement_address *address,
                 struct placement *placement, struct ht_error *err);
/* Gives the ports back; the names stay readable. */
void placement_release(struct placement *placement);

/* HT_IO  the file cannot be written */
enum ht_status placement_write(const char *attempt_folder,
                               const struct order *order,
                               const struct placement *placement,
                               struct ht_error *err);
/* Reads it back and claims the ports again.
 * HT_NOT_FOUND  there is none yet
 * HT_CORRUPT    it does not fit the order */
enum ht_status placement_read(const char *attempt_folder,
                              const struct order *order,
                              struct placement *placement,
                              struct ht_error *err);

/* ---- TCP ports of 127.0.0.1, each used once on a machine ----
 *
 * A claim is an abstract Unix socket named after the port: each name exists
 * once per network namespace, like a loopback port, and is free again when its
 * holder ends. Claims work between runners only: the replica binds the port
 * later, and another program may take it before. That is unlikely, since the
 * ports are below the range from which the kernel chooses. */

/* Claims a port that is neither used nor claimed; the claim lasts until the
 * caller closes *claim. HT_IO  there is none */
enum ht_status placement_find_port(int *port, int *claim, struct ht_error *err);

/* Claims a port that was found before a restart; -1 when it is claimed already.
 * The caller closes the descriptor. */
int placement_claim_port(int port);

#endif
