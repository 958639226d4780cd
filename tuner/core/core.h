/* core.h - the thread that owns all state: the only writer of hypertune.db.
 *
 * Loop: take what is queued (at most 1,000 requests or 5 ms) -> one
 * transaction, a savepoint per request -> COMMIT -> answer all -> tick(now) ->
 * sleep until the next request or deadline. All answers of a transaction wait
 * for one synced commit, so it costs one fsync. */
#ifndef HT_TUNER_CORE_CORE_H
#define HT_TUNER_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

struct core;
struct db;
struct job;
struct live;
struct webhook_board;

/* One part of a tick; its failure takes back only its own changes. */
typedef enum ht_status core_tick_part(struct core *core, struct ht_error *err);

/* The parts of the server that run on the core's thread. server.c gives this
 * table to the core, which includes none of them. */
enum core_part_id {
    CORE_MACHINE_TYPES, /* struct machine_types */
    CORE_OPERATIONS,    /* struct operation_table */
    CORE_SEARCH,        /* struct worker */
    CORE_STOP_WORKER,   /* the same */
    CORE_STUDIES,
    CORE_RUNNERS,
    CORE_MEASURED,
    CORE_PARTS
};

struct core_part { /* every function may be NULL */
    /* Begins it, in the table's order; the database is open. *data is its own,
     * see core_part(). */
    enum ht_status (*start)(struct core *core, void **data,
                            struct ht_error *err);
    void (*stop)(void *data); /* after the thread has ended; accepts NULL */
    core_tick_part *tick;
    int64_t (*deadline)(struct core *core); /* of the next tick, monotonic */
    /* Does what is due for a touched study, before the COMMIT. HT_NOT_FOUND: it
     * was deleted. */
    enum ht_status (*settle)(struct core *core, int64_t study,
                             struct ht_error *err);
};

struct core_options {
    const struct core_part *parts; /* CORE_PARTS of them */
    const char *data_dir;          /* absolute */
    const char *server_id;         /* 8 hex digits; NULL: the database's own */
    const char *runner_token;      /* what control messages must carry */
    int64_t hold_ms;               /* of a lease poll; 20,000 */
    int64_t lost_after_ms;         /* without a message of a runner; 30,000 */
    int64_t retry_ms; /* before a start again, doubled by each; 1,000 */
    /* Called on the core thread after each commit, for every study that got
     * a new revision; REVISION_DELETED when it is shown no more. */
    void (*on_revision)(void *context, int64_t study, int64_t revision);
    /* The same when a deleted study has left the database. */
    void (*on_deleted)(void *context, int64_t study);
    /* When a runner was heard; or NULL. */
    void (*on_seen)(void *context, const char *runner, int64_t wall_ms);
    void *context;
    struct webhook_board *webhooks; /* that specs may name; NULL: none */
    const char *fail;               /* "name:n", see failpoint.h; or NULL */
};

/* Opens the database (creating or migrating it), recovers what a crash left,
 * and starts the thread. */
enum ht_status core_start(const struct core_options *options,
                          struct core **core, struct ht_error *err);
/* Answers what is queued, checkpoints, ends the thread. Accepts NULL. */
void core_stop(struct core *core);

/* Before the sockets close: held polls are answered with HT_UNAVAILABLE, and no
 * further one is held. Any thread. */
void core_stop_holding(struct core *core);

/* Hands a request to the core thread; callable from any thread. After
 * core_stop() began, the request is answered with HT_UNAVAILABLE. */
void core_post(struct core *core, struct request *req);

/* Address of the report socket, for attempts; set once before use. */
void core_set_report_url(struct core *core, const char *url);

/* True while ending the server would lose or delay something: an open study or
 * an attempt. Any thread. */
bool core_is_busy(struct core *core);

/* The id in the names of attempts; fixed from core_start() on. Any thread. */
const char *core_server_id(const struct core *core);

/* --- for handlers, on the core thread only --- */

struct db *core_db(struct core *core);
/* Monotonic, fixed per transaction. */
int64_t core_now_ms(const struct core *core);
int64_t core_wall_ms(const struct core *core); /* the same moment as shown */
const struct core_options *core_options_of(const struct core *core);
/* Of hypertune.db, for threads that read it beside the core. */
const char *core_path(const struct core *core);
const char *core_report_url(const struct core *core); /* NULL: none */
struct live *core_live(struct core *core);
/* The parsed spec of a study, as live_job(): its row is read only when it is
 * not there yet. HT_NOT_FOUND */
enum ht_status core_job(struct core *core, int64_t study,
                        const struct job **job, struct ht_error *err);
/* The data of a part, as its start() made it; fixed from core_start() on. */
void *core_part(struct core *core, enum core_part_id id);
/* The actor of new events: the request's while one is handled, otherwise
 * "core". A handler may set another one for the rest of its request; the text
 * must be valid until then. */
const char *core_actor(const struct core *core);
void core_act_for(struct core *core, const char *actor);
/* Number of the current transaction. */
int64_t core_transaction_number(const struct core *core);
/* True on the core thread. */
bool core_is_here(const struct core *core);

/* Work for after the COMMIT: `data` is copied. Forgotten when the savepoint or
 * the transaction is rolled back, so memory never runs ahead of the file. */
typedef void core_deferred(struct core *core, const void *data);
void core_defer(struct core *core, core_deferred *apply, const void *data,
                size_t size);
/* The study is settled before the next COMMIT. */
void core_touch(struct core *core, int64_t study);
/* Calls on_revision after the COMMIT. */
void core_note_revision(struct core *core, int64_t study, int64_t revision);
/* Held requests are handled again after the COMMIT: the polls of runners, the
 * clients' requests for that study, or both. */
enum core_held { CORE_POLLS = 1, CORE_CLIENTS = 2, CORE_ALL_HELD = 3 };
void core_wake(struct core *core, enum core_held held, int64_t study);

#endif
