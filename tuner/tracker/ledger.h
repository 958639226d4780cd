/* ledger.h - what a tracker has of each study: how far its events were read,
 * the run of each trial, and which measurements it got. One file for each
 * tracker, one thread.
 *
 * What goes to another server goes in numbered batches. Its measurements are
 * noted before it is sent, and it counts when the answer came or the tracker
 * has its number: so nothing is lost and nothing is sent twice, whenever this
 * server, the tracker or the network ends. */
#ifndef HT_TUNER_TRACKER_LEDGER_H
#define HT_TUNER_TRACKER_LEDGER_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/write.h"

/* The caller closes it by db_close(). Errors as db_open(). */
enum ht_status ledger_open(const char *path, struct db **ledger,
                           struct ht_error *err);

/* How far a study was read, and where it is shown; zeros: not yet. */
struct ledger_mark {
    int64_t revision;
    const char *home; /* another one: all of it has to be sent again */
};
enum ht_status ledger_mark(struct db *ledger, struct arena *arena,
                           int64_t study, struct ledger_mark *mark,
                           struct ht_error *err);
enum ht_status ledger_set_mark(struct db *ledger, int64_t study,
                               const struct ledger_mark *mark,
                               struct ht_error *err);
/* All studies with a mark. */
enum ht_status ledger_studies(struct db *ledger, struct arena *arena,
                              struct id_list *list, struct ht_error *err);

/* What the tracker has of one trial; trial 0: of the study itself. */
struct ledger_run {
    int64_t study, trial;
    const char *place; /* MLflow: the run's id, "": there is none yet */
    int64_t batch;     /* the last one that arrived */
    int64_t trying;    /* the one under way, else `batch` */
    int64_t bytes;     /* TensorBoard: of the file that count */
    int64_t file;      /* TensorBoard: number of the file */
    const char *shown; /* what its state was when last sent */
    const char *next;  /* what it will be when `trying` has arrived */
};
/* Zeros and "" when nothing is stored. */
enum ht_status ledger_run(struct db *ledger, struct arena *arena, int64_t study,
                          int64_t trial, struct ledger_run *run,
                          struct ht_error *err);
enum ht_status ledger_save(struct db *ledger, const struct ledger_run *run,
                           struct ht_error *err);

/* Moves the records of the list that are in no batch to its front, and
 * shortens it to them. */
enum ht_status ledger_unsent(struct db *ledger, struct measurement_list *list,
                             struct ht_error *err);
enum ht_status ledger_add_sent(struct db *ledger,
                               const struct measurement_row *row, int64_t batch,
                               struct ht_error *err);
/* The trial's records of batches from that one on are unsent again. */
enum ht_status ledger_drop_sent(struct db *ledger, int64_t study, int64_t trial,
                                int64_t batch, struct ht_error *err);

/* Deletes all of a study, its mark too. */
enum ht_status ledger_forget(struct db *ledger, int64_t study,
                             struct ht_error *err);

#endif
