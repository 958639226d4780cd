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
#include "tuner/core/options.h"
#include "tuner/core/request.h"

struct core;
struct db;
struct job;
struct live;

/* Opens the database (creating or migrating it), recovers what a crash left,
 * and starts the thread. Copies data_dir and runner_token; the other pointers
 * of the options must last until core_stop(). Errors are those of db_open()
 * and of the parts' start(), HT_INVALID for a malformed `fail` and HT_IO when
 * no thread can be started; *core is untouched then. */
enum ht_status core_start(const struct core_options *options,
                          struct core **core, struct ht_error *err);
/* Answers what is queued, ends the thread, empties the WAL and frees
 * everything, the data of the parts too. Blocks until then. Accepts NULL. */
void core_stop(struct core *core);

/* Before the sockets close: held polls are answered with HT_UNAVAILABLE, and no
 * further one is held. Any thread. */
void core_stop_holding(struct core *core);

/* Requests with `abandoned` set that are held are answered, not handled again;
 * those that wait are so in any case. Any thread. */
void core_drop_abandoned(struct core *core);

/* Hands a request to the core thread, which calls its `answer`; callable from
 * any thread, never waits for the database. After core_stop() began, the
 * request is answered with HT_UNAVAILABLE before this returns. */
void core_post(struct core *core, struct request *req);

/* Address of the report socket, for attempts; copied. Set once before use. */
void core_set_report_url(struct core *core, const char *url);

/* True while ending the server would lose or delay something: an open study or
 * an attempt. Any thread. */
bool core_is_busy(struct core *core);

/* The id in the names of attempts; fixed from core_start() on. Any thread. */
const char *core_server_id(const struct core *core);

/* --- for handlers, on the core thread only --- */

/* The writing connection, inside a transaction; never NULL for a handler. */
struct db *core_db(struct core *core);
/* Monotonic, fixed per transaction. */
int64_t core_now_ms(const struct core *core);
/* The same moment as shown: ms since 1970, may jump. */
int64_t core_wall_ms(const struct core *core);
const struct core_options *core_options_of(const struct core *core);
/* Of hypertune.db, for threads that read it beside the core. */
const char *core_path(const struct core *core);
const char *core_report_url(const struct core *core); /* NULL: none */
/* Changes of it are not rolled back with the request: core_defer() them. */
struct live *core_live(struct core *core);
/* The parsed spec of a study, as live_job(), also for how long it is valid:
 * its row is read only when the job is not there yet. HT_NOT_FOUND: there is
 * no such study. */
enum ht_status core_job(struct core *core, int64_t study,
                        const struct job **job, struct ht_error *err);
/* The data of a part, as its start() made it; fixed from core_start() on. */
void *core_part(struct core *core, enum core_part_id id);
/* The actor of new events: the request's while one is handled, otherwise
 * CORE_ACTOR. A handler may set another one for the rest of its request; the
 * text must be valid until then. */
#define CORE_ACTOR "core"
const char *core_actor(const struct core *core);
/* `actor` is not copied. */
void core_act_for(struct core *core, const char *actor);
/* Number of the current transaction. */
int64_t core_transaction_number(const struct core *core);
/* True on the core thread. */
bool core_is_here(const struct core *core);

/* Work for after the COMMIT: `data` is copied. Forgotten when the savepoint or
 * the transaction is rolled back, so memory never runs ahead of the file. */
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
