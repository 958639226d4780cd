/* attempt.h - one attempt of this runner, from lease to `drained`.
 *
 * The next message about it follows from four facts: was `started` confirmed,
 * has it ended, was `ended` confirmed, was everything sent. The confirmations
 * are marks in its folder, so a restarted runner continues. */
#ifndef HT_RUNNER_ATTEMPT_ATTEMPT_H
#define HT_RUNNER_ATTEMPT_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "runner/attempt/engine.h"
#include "runner/base/folder.h"
#include "runner/base/order.h"
#include "runner/base/placement.h"
#include "runner/base/site.h"
#include "runner/reports/log.h"
#include "runner/reports/usage_file.h"

struct gpu_use;

/* What the runner reads of one replica; in the order's arena. */
struct attempt_replica {
    const char *name; /* "master-0" */
    const char *folder;
    struct records *records;
    struct log_ship logs[3]; /* stdout, stderr, runner */
    struct usage_file usage;
    struct gpu_use *gpus; /* of its placement; NULL: not measured */
    int watch;            /* inotify descriptor, -1: none */
};

/* One thread. Texts are in the order's arena. */
struct attempt {
    struct attempt *next;
    const struct engine *engine;
    struct engine_place place;
    struct order *order;
    const char *folder;
    struct transfers *transfers;      /* NULL: checkpoints stay here */
    struct placement placement;       /* n is 0 before it is chosen */
    struct attempt_replica *replicas; /* order->n_replicas of them */
    int64_t began_ms; /* monotonic: when it was made or adopted here */
    int watch; /* inotify descriptor of the metrics file's folder, or -1 */
    struct trees *trees; /* NULL: its replicas begin with no tree */
    bool touched;  /* something changed in its folders, or is not read yet */
    bool unsent;   /* its logs may have more since they were last looked at */
    bool waits;    /* for the tree, then for its checkpoint */
    bool accepted; /* the server wants it here; else it waits for `hello` */
    bool started_confirmed; /* by the server */
    bool facts_confirmed;   /* ... with all its facts */
    int64_t changes_sent;   /* bytes of git's changes that the server has */
    bool ended;
    struct ending ending;  /* once ended */
    bool collected;        /* ended, and every record was read */
    bool ended_confirmed;  /* confirmed by the server */
    bool begun;            /* the engine has it */
    bool fetching;         /* waits for the checkpoint */
    bool wants_checkpoint; /* the trial may continue; once ended_confirmed */
    /* Where the engine brings them: the one under way, and the one after it;
     * below NULL: none, else owned. */
    struct attempt_checkpoint {
        char *below; /* the trial's folder of them */
        int64_t step;
    } bringing, named;
    bool asked_last, asked_again; /* to send it, at the end ... */
    int64_t settle_until;         /* ... until then, monotonic */
};

/* Makes it from the order, which it owns from now on, and reads the placement
 * of an earlier run; starts nothing. The site, the engine and the trees must
 * outlive it. */
struct attempt *attempt_new(const struct site *site,
                            const struct engine *engine, struct trees *trees,
                            struct order *order);
void attempt_free(
    struct attempt *attempt); /* accepts NULL; processes continue */

/* Writes the lease and starts the attempt, with GPUs out of those that are
 * free; what its replicas begin with may have to be fetched before, and then
 * attempt_tick() starts them. A failure ends the attempt, with the reason: as
 * failed when the engine cannot run the order, else as lost. */
void attempt_start(struct attempt *attempt, const struct gpu_rooms *rooms);
/* Writes the lease and ends the attempt as lost at once. */
void attempt_refuse(struct attempt *attempt, const char *reason);
/* Whether both write the same metrics file, and the other's may not have been
 * read to its end. */
bool attempt_disturbs(const struct attempt *attempt,
                      const struct attempt *other);
/* Continues an attempt from before a restart that the server still wants. */
void attempt_adopt(struct attempt *attempt, const struct gpu_rooms *rooms);
/* Kills what is left and removes the folder and the credentials; the attempt
 * itself is the caller's to free. */
void attempt_remove(struct attempt *attempt);
/* Orders the engine to stop it; without effect once it has ended. Returns at
 * once: the end comes with attempt_tick(). */
void attempt_stop(struct attempt *attempt, const struct stop_order *order);

/* Whether replicas have begun to run, as the engine defines it. */
bool attempt_is_started(const struct attempt *attempt);

/* Asks the engine and reads new records; true when there is more to read.
 * `next_beat` as of records_collect(). Nothing happens before it was started
 * or adopted. */
bool attempt_tick(struct attempt *attempt, int64_t next_beat);

void attempt_mark_started(
    struct attempt *attempt);                     /* `started` was confirmed */
void attempt_mark_ended(struct attempt *attempt); /* `ended` was confirmed */

bool attempt_has_queue(
    const struct attempt *attempt); /* records wait to be sent */
/* The server has confirmed all records and logs. */
bool attempt_is_shipped(const struct attempt *attempt);
/* Appends the member "evidence" of `drained` (proto/README.md section 4) when
 * the master has not reported every metric of the study. */
void attempt_evidence_text(const struct attempt *attempt, struct text *out);

#endif
