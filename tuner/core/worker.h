/* worker.h - a thread that answers questions about studies, beside the core.
 *
 * It reads through a read-only connection of its own, so that asking costs the
 * core nothing and what it knows is what was committed. What it learnt of a
 * study is kept in memory and only brought up to date by the next question;
 * the studies asked about longest ago are forgotten. */
#ifndef HT_TUNER_CORE_WORKER_H
#define HT_TUNER_CORE_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/base/meter.h"
#include "tuner/db/db.h"

struct core;
struct worker;

struct worker_question {
    int64_t study;
    int64_t number;   /* of what, the role knows */
    size_t n;         /* how many from there */
    const char *text; /* of what kind, the role knows; NULL: of any */
};

/* What one kind of worker does. All but new and free may be slow. */
struct worker_role {
    const char *name;         /* "cannot start the NAME thread" */
    size_t studies;           /* kept in memory, >= 1 */
    enum meter_spread spread; /* of the times until an answer */
    int64_t rests; /* an answer's time is rested so often, for a second at
                      most; 0: never */
    void *(*new)(int64_t study);
    void (*free)(void *memory);
    /* Brings it up to date inside the reader's transaction; after a failure it
     * is freed. */
    enum ht_status (*read)(void *memory, struct db *db, struct ht_error *err);
    /* Sends the answer through the core's queue, whatever it is. */
    void (*answer)(struct worker *worker, struct core *core,
                   const struct worker_question *question);
};

/* Starts one for the database at `path`, which is opened when it is first
 * read. `role` outlives the worker. */
enum ht_status worker_start(const struct worker_role *role, struct core *core,
                            const char *path, struct worker **worker,
                            struct ht_error *err);
/* Questions that wait are dropped. Accepts NULL. */
void worker_stop(struct worker *worker);

/* Questions are answered in turn; equal ones that wait are one. The text is
 * copied. Any thread. */
void worker_ask(struct worker *worker, const struct worker_question *question);

/* For answer(): the study's memory, up to date, until the next call. */
enum ht_status worker_read(struct worker *worker, int64_t study, void **memory,
                           struct ht_error *err);
/* For answer(): what was read last is of no use any more. */
void worker_forget(struct worker *worker);

#endif
