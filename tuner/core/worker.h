/* worker.h - a thread that answers questions about studies, beside the core.
 *
 * It reads through its own read-only connection, so that questions cost
 * the core nothing and answers follow from committed data. The state of a study
 * is kept in memory and updated by the next question; the studies not asked
 * about for longest are dropped. */
#ifndef HT_TUNER_CORE_WORKER_H
#define HT_TUNER_CORE_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/base/meter.h"
#include "tuner/db/db.h"

struct core;
struct worker;

/* What the search or the early stopping rule has to find out. */
struct worker_question {
    int64_t study;
    int64_t first; /* of the n that it is about: points or trials */
    size_t n;
    const char *context; /* that the points have the values of; NULL: any */
    const char *asker;   /* whose turn it takes; NULL: the study's own */
};

/* What one kind of worker does. All but new and free may be slow. */
struct worker_role {
    const char *name;         /* "cannot start the NAME thread" */
    size_t studies;           /* kept in memory, >= 1 */
    enum meter_spread spread; /* of the times until an answer */
    int64_t rests; /* pause after an answer, in multiples of its time, a second
                      at most; 0: none */
    /* Of the study, or of what `part` names in it, borrowed for the call. */
    void *(*new)(int64_t study, const char *part);
    void (*free)(void *state);
    /* Brings it up to date inside the reader's transaction; after a failure it
     * is freed. */
    enum ht_status (*read)(void *state, struct db *db, struct ht_error *err);
    /* The answer, also of a question that failed, in `arena`; NULL: there is
     * nothing to store. */
    const void *(*answer)(struct worker *worker,
                          const struct worker_question *question,
                          struct arena *arena);
    /* That there is no memory for one, in `arena`; NULL as above. */
    const void *(*refuse)(const struct worker_question *question,
                          struct arena *arena);
};

/* Takes the answers of a worker, each once, on the core thread. */
struct worker_receiver {
    /* Stores it, as the handler of a request would. */
    enum ht_status (*store)(struct core *core, const void *answer,
                            struct ht_error *err);
    /* It could not be stored. */
    void (*give_up)(struct core *core, const void *answer);
};

/* Starts one for the database at `path`, which is opened when it is first
 * read. `role`, `receiver` and `core` outlive the worker; `path` is copied.
 * HT_IO: no thread can be started. */
enum ht_status worker_start(const struct worker_role *role,
                            const struct worker_receiver *receiver,
                            struct core *core, const char *path,
                            struct worker **worker, struct ht_error *err);
/* Waits for the answer that is being made; questions that wait are dropped.
 * Accepts NULL. */
void worker_stop(struct worker *worker);

/* Whose turn it is says fair_queue.h, by asker and study; equal questions of
 * one asker that wait are one. The context is copied. Any thread. */
void worker_ask(struct worker *worker, const struct worker_question *question);

/* Frees what is kept of the study, when the worker has its next turn for that.
 * Any thread. */
void worker_drop(struct worker *worker, int64_t study);

/* For answer(): the state of the study, or of that part of it (NULL: all), up
 * to date, until the next call. */
enum ht_status worker_read(struct worker *worker, int64_t study,
                           const char *part, void **state,
                           struct ht_error *err);
/* For answer(): drops the state that was read last. */
void worker_forget(struct worker *worker);

#endif
