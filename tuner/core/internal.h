/* internal.h - what core.c (start, stop, interface) and loop.c (the thread)
 * share. */
#ifndef HT_TUNER_CORE_INTERNAL_H
#define HT_TUNER_CORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tuner/base/failpoint.h"
#include "tuner/core/options.h"
#include "tuner/core/request.h"
#include "tuner/core/transaction.h"
#include "tuner/db/mark.h"

enum { SERVER_ID_BYTES = MARK_SERVER_BYTES };

struct core {
    struct core_options options;
    char *path, *runner_token, *report_url, *data_dir;
    char server_id[SERVER_ID_BYTES];
    struct failpoint failpoint;

    pthread_t thread;
    pthread_mutex_t lock; /* guards queue, stopping, report_url */
    pthread_cond_t wake;
    struct request_queue queue;
    bool stopping;
    atomic_bool busy, no_holding, some_abandoned;

    /* the core thread's own */
    struct db *db;    /* NULL: broken, to be opened again */
    struct mark mark; /* of the last commit */
    int mark_fd;      /* -1: none */
    struct checkpoint *checkpoint;
    struct live *live;
    void *parts[CORE_PARTS]; /* the data of each */
    struct transaction transaction;
    int64_t transaction_number;
    uint64_t misses;           /* memory_misses() when it began */
    struct request_queue held; /* answered polls that wait for news */
    struct request_queue done; /* handled in the open transaction */
    int64_t now_ms, wall_ms;
    const char *actor;      /* of the current request, or "core" */
    int64_t wal_limit;      /* pages; beyond, the core empties the WAL itself */
    int64_t quiet_since_ms; /* of the last write; 0: WAL is truncated */
    int64_t reopen_at_ms;
    int64_t tick_after_ms; /* a tick that failed is not repeated before */
};

/* The thread: transactions of requests and ticks until the core stops. */
void *core_run(void *core);
/* Sets now_ms (monotonic) and wall_ms; they stay until the next call. */
void core_look_at_clocks(struct core *core);
/* Reads from the database what core_is_busy() returns; after a failure that
 * stays as it was. */
void core_update_busy(struct core *core);
/* Makes the error the result of a request, with the status HT_UNAVAILABLE and
 * no reply; the caller still has to call its `answer`. */
void core_refuse(struct request *req, const struct ht_error *err);

#endif
