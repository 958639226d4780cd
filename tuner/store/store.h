/* store.h - the store: code and checkpoints that travel, in files below
 * DATA/store, and the threads that write and read them.
 *
 * A disk is waited for on these threads alone. A chunk or a manifest comes as
 * steps of one request: store_admit(), or store_begin() where it has to wait,
 * store_write() for each full piece that is not the last, then the handler of
 * its route, which has the rest. Its memory is one piece, and the budget
 * `transfers` says how many have one. */
#ifndef HT_TUNER_STORE_STORE_H
#define HT_TUNER_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

struct core;
struct store;
struct store_board;
struct transfer;

/* `board` and `fail` (see failpoint.h; or NULL) are borrowed. */
struct store *store_new(struct store_board *board, const char *fail);
/* Accepts NULL. After the last store_release(). */
void store_free(struct store *store);

/* Makes DATA/store, forgets what had not come whole, and begins the threads.
 * `database`: path of hypertune.db, whose tables are up to date. Copied. */
enum ht_status store_start(struct store *store, const char *data,
                           const char *database, struct ht_error *err);
/* Answers all requests and ends the threads. Accepts NULL. */
void store_stop(struct store *store);

/* Fills req->reply on a thread of the store. On failure `err` is the answer. */
typedef enum ht_status store_handler(struct store *store, struct request *req,
                                     struct ht_error *err);
/* Hands over a request; req->answer is called on a thread of the store. Any
 * thread; never waits. After store_stop() began the answer is HT_UNAVAILABLE.
 */
void store_post(struct store *store, struct request *req,
                store_handler *handler);

/* The request, which has no transfer yet, may send its first piece; false: it
 * waits for store_begin(), or this is the end. Any thread; never waits. */
bool store_admit(struct store *store, struct request *req);
/* Steps of what comes; see above. */
store_handler store_begin, store_write;
/* The handlers that the table of routes names. */
store_handler store_missing;                   /* missing.c */
store_handler store_put_chunk;                 /* receive.c */
store_handler store_put_tree;                  /* tree.c */
store_handler store_get_chunk, store_get_tree; /* send.c */
/* files.c; of the tree that the core has found, req->found */
store_handler store_list_files, store_get_file, store_get_archive;
/* On the core thread, behind store_put_tree(): the row of the tree. */
request_handler store_commit_tree; /* commit.c */

/* Bytes of a body that comes: takes as many as its piece has room for, and
 * returns how many. Between the steps alone. */
size_t transfer_take(struct transfer *transfer, const char *bytes, size_t len);

/* What is sent, by req->reply and further pieces. */
struct transfer_range {
    int64_t begin, bytes, total; /* bytes of the answer, of the whole file */
    bool partial;
};
/* False: its answer is JSON. Accepts NULL. */
bool transfer_goes(const struct transfer *transfer,
                   struct transfer_range *range);

/* The request has ended: what its transfer holds is given up. Any thread;
 * never waits. Accepts NULL. */
void store_release(struct store *store, struct transfer *transfer);

/* Trees that nothing uses for an hour are forgotten, and what no tree has is
 * removed: the part CORE_STORE. */
enum ht_status store_tick(struct core *core, struct ht_error *err);
int64_t store_deadline(struct core *core);
enum ht_status store_part_start(struct core *core, void **data,
                                struct ht_error *err);
void store_part_stop(void *data);
/* Removes soon what no tree has. Any thread. */
void store_sweep_soon(struct store *store);

#endif
