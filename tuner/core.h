/* core.h - the thread that owns all state: the only writer of hypertune.db.
 *
 * Loop: take what is queued (at most 1,000 requests or 5 ms) -> one
 * transaction, a savepoint per request -> COMMIT -> answer all -> tick(now) ->
 * sleep until the next request or deadline. Because the answers of a whole
 * group wait for one synced commit, safety costs one fsync per group. */
#ifndef HT_TUNER_CORE_H
#define HT_TUNER_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/error.h"
#include "tuner/request.h"

struct core;
struct db;

struct core_options {
    const char *data_dir;      /* absolute */
    const char *server_id;     /* 8 hex digits, kept in the database */
    const char *runner_token;  /* what control messages must carry */
    int64_t hold_ms;           /* of a lease poll; 20,000 */
    int64_t lost_after_ms;     /* silence of a runner; 30,000 */
    /* Called on the core thread after each commit, for every study that got
     * a new revision. */
    void (*on_revision)(void *context, int64_t study, int64_t revision);
    void *context;
};

/* Opens the database (creating or migrating it), recovers what a crash left,
 * and starts the thread. */
enum ht_status core_start(const struct core_options *options,
                          struct core **core, struct ht_error *err);
/* Answers what is queued, checkpoints, ends the thread. Accepts NULL. */
void core_stop(struct core *core);

/* Hands a request to the core thread; callable from any thread. After
 * core_stop() began, the request is answered with HT_UNAVAILABLE. */
void core_post(struct core *core, struct request *req);

/* Address of the report socket, for attempts; set once before use. */
void core_set_report_url(struct core *core, const char *url);

/* True while something would be lost or delayed by going away: an open study
 * or an attempt. Any thread. */
bool core_is_busy(struct core *core);

/* --- for handlers, on the core thread only --- */
struct db *core_db(struct core *core);
int64_t core_now_ms(const struct core *core); /* monotonic, fixed per group */

#endif
