/* transfer.h - trees sent to a server and fetched from there, in chunks over
 * HTTP (docs/http.md, "Code and checkpoints").
 *
 * What the other side has already is not sent, so a transfer that was broken
 * off continues when it is begun again. At most a few chunks are in memory.
 * Blocks; any thread; curl_global_init() was called before. */
#ifndef HT_PROTO_TRANSFER_TRANSFER_H
#define HT_PROTO_TRANSFER_TRANSFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/net/trust.h"
#include "proto/tree/manifest.h"
#include "proto/tree/restore.h"

struct transfer_server { /* strings are valid until find() is called again */
    const char *url;
    const char *token; /* NULL: none */
    struct trust trust;
};

struct transfer_settings {
    /* Where the server is now: asked at the begin and after each cut. */
    enum ht_status (*find)(void *context, struct transfer_server *server,
                           struct ht_error *err);
    void *context;
    const char *project;
    int64_t patience_ms;        /* without any progress, then it fails */
    const atomic_bool *stopped; /* true: fails soon; NULL: never */
    const char *have;           /* folder with what an earlier fetch of a tree
                                   has left, whole or not; NULL: none */
    size_t lanes;               /* requests at a time; 0: as many as are wise */
    /* After each chunk, on the same thread: what has been sent or fetched of
     * all that is; or NULL. */
    void (*moved)(void *context, int64_t bytes, int64_t of);
};

struct transfer_sent {
    size_t chunks; /* that the server did not have */
    int64_t bytes; /* of these */
};

/* Sends the manifest of the folder, which has not changed since. `tree` gets
 * its name; *sent is written always.
 * HT_CONFLICT     a file has changed meanwhile
 * HT_UNAVAILABLE  the server does not answer, or it has no room
 * others          the server's refusals */
enum ht_status transfer_send(const struct transfer_settings *settings,
                             const char *folder,
                             const struct tree_manifest *manifest,
                             char tree[TREE_NAME], struct transfer_sent *sent,
                             struct ht_error *err);

/* Restores the tree of that name to the folder, which does not exist yet; after
 * a failure a part of it may be there.
 * HT_NOT_FOUND    the server has no such tree
 * HT_CORRUPT      what it has is damaged
 * HT_UNAVAILABLE  as above
 * HT_IO           the folder cannot be written */
enum ht_status transfer_fetch(const struct transfer_settings *settings,
                              const char tree[TREE_NAME], const char *folder,
                              const struct restore_rules *rules,
                              struct ht_error *err);

#endif
