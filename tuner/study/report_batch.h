/* report_batch.h - stores the records of one message.
 *
 * What many records share (counts of their writers, the candidates for the
 * final measurement, the newest values of the trial) is read once, updated in
 * memory and written once at the end. */
#ifndef HT_TUNER_STUDY_REPORT_BATCH_H
#define HT_TUNER_STUDY_REPORT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "proto/job/report.h"
#include "tuner/base/budget.h"
#include "tuner/db/report_use.h"
#include "tuner/db/write.h"
#include "tuner/study/thinning.h"

/* One message of one replica, inside the dispatcher's transaction. */
struct report_batch {
    /* from the caller */
    struct db *db;
    struct arena *arena;
    struct trial_row *trial;
    const struct attempt_row *attempt; /* that reports */
    int64_t age_ms;                    /* since that began */
    const struct job *job;
    struct replica_key key;

    /* kept */
    bool is_master;
    struct report_use use; /* of the replica */
    struct held held;      /* of the master */
    enum budget beyond;    /* the budget that dropped the first record; one
                              only where first_dropped */
    bool first_dropped;    /* this message has the replica's first one */
    size_t n_writers;
    struct writer_row *writers; /* those named in the message */
    struct attempt_scores scores;
    bool has_best;
    double best; /* the best objective, of a stored or a held record */
    int64_t best_step;
    int64_t latest_step; /* of the trial's newest record, when there is one */
    bool moved_scores, moved_latest, counted;
};

/* Reads what is stored of the replica; the caller has set the first part. */
enum ht_status report_batch_begin(struct report_batch *batch,
                                  struct ht_error *err);
/* Stores one record unless its key is known, or holds or drops it as
 * thinning.h says.
 * HT_INVALID  it is no record; its number in the list is named */
enum ht_status report_batch_add(struct report_batch *batch,
                                const struct node *node, struct ht_error *err);
/* Stores one that was read already, whatever the budgets say. */
enum ht_status report_batch_store(struct report_batch *batch,
                                  const struct report *report,
                                  struct ht_error *err);
/* Writes the shared rows; `trial` has the newest values afterwards. */
enum ht_status report_batch_end(struct report_batch *batch,
                                struct ht_error *err);

/* Stores what is held of the attempt's master: nothing comes any more. */
enum ht_status report_batch_release(struct report_batch *batch,
                                    struct ht_error *err);

/* The replica whose reports count. */
const char *report_batch_master(struct arena *arena, const struct job *job);

/* At least one metric as the JSON object that rows hold. */
const char *report_batch_metrics_text(struct arena *arena, size_t n,
                                      const struct report_metric metrics[]);

/* A writer as it is written on the wire: 16 hex digits. */
void report_batch_writer_text(char text[17], uint64_t writer);

#endif
