/* addresses.h - where the replicas of a trial are, found out on the nodes.
 *
 * When the runner writes CLUSTER_SPEC and the other texts of a replica, no node
 * is known, so they have a placeholder for each replica, the `address` of
 * placement.json; none begins with another one. The task of each replica writes
 * the real one, and puts all of them in place of the placeholders before it
 * starts its trainer. */
#ifndef HT_RUNNER_ELEMENT_ADDRESSES_H
#define HT_RUNNER_ELEMENT_ADDRESSES_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/folder.h"

/* Of an attempt; texts are in the arena that it was read into. */
struct addresses {
    size_t n; /* replicas, at least one */
    struct address {
        const char *name;        /* "worker-1": of its folder, too */
        const char *placeholder; /* as in the texts of the replicas */
        const char *real;        /* HOST:PORT; NULL: not known yet */
    } * items;                   /* in the order of their tasks */
};

/* Reads the attempt's placement.json: names and placeholders.
 * HT_NOT_FOUND, HT_IO  as of disk_read()
 * HT_CORRUPT           it places no replica */
enum ht_status addresses_read(struct arena *arena, const char *attempt_folder,
                              struct addresses *addresses,
                              struct ht_error *err);

/* Writes the address of replica `i` into the element's folder: the host with a
 * port that is free there. *port is a descriptor of the caller; until it is
 * closed, no other process gets the port. HT_IO */
enum ht_status addresses_tell(const char *folder, int turn, size_t i,
                              const char *host, int *port,
                              struct ht_error *err);

/* Reads the ones not known yet.
 * HT_NOT_FOUND  one is missing, with its name
 * HT_CORRUPT    one is no address
 * HT_IO         one cannot be read */
enum ht_status addresses_learn(struct arena *arena, const char *folder,
                               int turn, struct addresses *addresses,
                               struct ht_error *err);

/* Puts all of them, which must be known, into argv and environment. */
void addresses_put(struct arena *arena, const struct addresses *addresses,
                   struct launch *launch);

#endif
