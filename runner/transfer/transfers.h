/* transfers.h - checkpoints on their way between this machine and the server's
 * store, while trials run and before they begin.
 *
 * Two threads, one to send and one to fetch, work in the order of the requests;
 * the supervising thread calls all functions, which return at once. An
 * unreachable server is asked again and again, and of the checkpoints of one
 * attempt that wait the newest is sent. */
#ifndef HT_RUNNER_TRANSFER_TRANSFERS_H
#define HT_RUNNER_TRANSFER_TRANSFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/net/trust.h"
#include "proto/tree/manifest.h"
#include "runner/base/order.h"

struct site;
struct transfers;

enum { TRANSFERS_URL_BYTES = 512, TRANSFERS_PINS_BYTES = 1024 };

/* Where the store is now, and as whom it is asked. */
struct transfers_server {
    char url[TRANSFERS_URL_BYTES]; /* HTTP */
    char token[256];
    char pins[TRANSFERS_PINS_BYTES]; /* "": trust.pin is not replaced */
    struct trust trust;              /* pin: of `pins` */
};
/* Any thread; may take seconds. */
typedef enum ht_status transfers_find(void *context,
                                      struct transfers_server *server,
                                      struct ht_error *err);

/* `wake` is an eventfd, which gets a count when a result is there. All is
 * borrowed. HT_IO  no thread can be made */
struct transfers_settings {
    const struct site *site;
    transfers_find *find;
    void *context;
    int wake;
};
enum ht_status transfers_start(const struct transfers_settings *settings,
                               struct transfers **transfers,
                               struct ht_error *err);
/* Gives up what is under way. Accepts NULL. */
void transfers_stop(struct transfers *transfers);

/* The folders of one attempt; copied. */
struct transfers_place {
    struct order_key key;
    const char *project;
    const char *checkpoints; /* of the trial, absolute */
    const char *scratch;     /* a folder on the same disk that trials cannot
                                enter, for this attempt alone */
};

/* Sends PLACE/PATH, "" for all of the folder. One that waits is replaced.
 * `final`: it is the last, and nothing changes any more. Its tries are counted
 * anew. */
void transfers_send(struct transfers *transfers,
                    const struct transfers_place *place, const char *path,
                    int64_t step, bool final);

/* A tree that is whole in the store, that the server does not know of yet. */
struct transfers_sent {
    char tree[TREE_NAME];
    int64_t step;
};
/* The newest of the attempt that the server has not confirmed. False: none. */
bool transfers_has_sent(struct transfers *transfers,
                        const struct order_key *key,
                        struct transfers_sent *sent);
/* The server knows of that one, or refused it. */
void transfers_confirm(struct transfers *transfers, const struct order_key *key,
                       const struct transfers_sent *sent);
/* What the transfers of an attempt to the store are at. */
enum transfers_work {
    TRANSFERS_IDLE, /* nothing waits, is under way or is not confirmed */
    TRANSFERS_BUSY,
    TRANSFERS_STUCK /* one or more tries in a row sent nothing, for a minute
                       each */
};
enum transfers_work transfers_look(struct transfers *transfers,
                                   const struct order_key *key);

/* Replaces the trial's checkpoints by the tree. Asked again, it is the same
 * request. */
enum transfers_state {
    TRANSFERS_WORKING,
    TRANSFERS_DONE,
    TRANSFERS_FAILED /* err says why */
};
enum transfers_state transfers_fetch(struct transfers *transfers,
                                     const struct transfers_place *place,
                                     const char *tree, struct ht_error *err);

/* The attempt is over: gives up all of it. */
void transfers_forget(struct transfers *transfers, const struct order_key *key);

#endif
