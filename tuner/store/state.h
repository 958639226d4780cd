/* state.h - what the threads of the store share, and one transfer. */
#ifndef HT_TUNER_STORE_STATE_H
#define HT_TUNER_STORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nettle/sha2.h>

#include "proto/tree/manifest.h"
#include "tuner/base/failpoint.h"
#include "tuner/core/fair_queue.h"
#include "tuner/store/project.h"
#include "tuner/store/store.h"

enum { STORE_THREADS = 4, STORE_PIECE = 1024 * 1024, STORE_SPARE = 4 };

/* Waits for a thread, or first for a place among the transfers. */
struct store_job {
    struct fair_item turn; /* must be first */
    struct request *req;   /* NULL: it ends `ended`, or removes */
    store_handler *handler;
    struct transfer *ended;
    struct store_job *next; /* that waits for a place */
};

/* A chunk or a manifest that comes or goes; of one request. */
struct transfer {
    struct store_job end; /* by which it is given up */
    bool has_place;       /* among the transfers; guarded by store->lock */
    struct project *project;
    int fd;                   /* of its file, -1: none */
    struct project_path part; /* of a file that is not whole; "": none */
    /* what comes */
    char *piece;
    size_t held;   /* bytes in it */
    int64_t bytes; /* written */
    struct sha256_ctx hash;
    /* what goes */
    bool goes;
    int64_t at; /* the next byte of the file */
    struct transfer_range range;
    struct sending *sending; /* of a tree's files; NULL: `fd` itself goes */
    /* a tree; guarded by store->lock while it is pending */
    char tree[TREE_NAME];
    int64_t tree_bytes, tree_files;
    bool pending; /* its manifest stays, though it has no row yet */
    struct transfer *next_pending;
};

struct store {
    struct store_board *board;
    struct failpoint failpoint; /* of what is slow, one at a time */
    char *database;
    char *data;
    int root; /* descriptor of DATA/store, -1: not begun */
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct fair_queue *queue;
    struct store_job *first_waiting, **last_waiting;
    size_t n_places;
    uint64_t *places;         /* whose they are */
    char *spare[STORE_SPARE]; /* pieces of transfers that have ended: each
                                 page of a new one would be a fault */
    size_t n_spare;
    bool slow_running, stopping;
    bool sweep_queued;
    atomic_bool sweep_skipped; /* a backup was being made */
    bool holds;                /* the right to remove; of the sweep */
    struct transfer *pending;
    pthread_mutex_t projects_lock;
    struct project *projects; /* only added to */
    uint64_t parts;           /* given names */
    size_t n_threads;
    pthread_t threads[STORE_THREADS];
};

/* What is kept of the project, as project_open(); its bytes are counted. It
 * lasts until store_free(). Threads of the store. */
enum ht_status store_project(struct store *store, const char *name, bool make,
                             struct project **project, struct ht_error *err);

/* A header Range, or NULL, for `range->total` bytes.
 * HT_RANGE  it begins behind the end */
enum ht_status transfer_read_range(const char *text,
                                   struct transfer_range *range,
                                   struct ht_error *err);

/* Gets its piece, and gives it back; accepts one without. */
void transfer_begin(struct store *store, struct transfer *transfer);
void transfer_end(struct store *store, struct transfer *transfer);
/* Writes what the piece of the request's transfer holds.
 * HT_INVALID      its chunk or project has no name for the store
 * HT_UNAVAILABLE  the disk, or a budget */
enum ht_status transfer_flush(struct store *store, struct request *req,
                              struct ht_error *err);

/* The manifest of a tree whose transfer is pending stays when others go. */
void store_set_pending(struct store *store, struct transfer *transfer);
bool store_is_pending(struct store *store, const char *project,
                      const char *tree);

#endif
