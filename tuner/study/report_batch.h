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
#include "tuner/db/write.h"

/* One message of one replica, inside the dispatcher's transaction. */
struct report_batch {
    /* from the caller */
    struct db *db;
    struct arena *arena;
    struct trial_row *trial;
    const struct attempt_row *attempt; /* that reports */
    const struct job *job;
    struct replica_key key;

    /* kept */
    bool is_master;
    int64_t records; /* stored for the replica, over all writers */
    size_t n_writers;
    struct writer_row *writers; /* those named in the message */
    struct attempt_scores scores;
    double best;         /* the objective of scores.best, when there is one */
    int64_t latest_step; /* of the trial's newest record, when there is one */
    bool moved_scores, moved_latest;
};

/* Reads what is stored of the replica; the caller has set the first part. */
enum ht_status report_batch_begin(struct report_batch *batch,
                                  struct ht_error *err);
/* Stores one record unless its key is known.
 * HT_INVALID  it is no record; its number in the list is named */
enum ht_status report_batch_add(struct report_batch *batch,
                                const struct node *node, struct ht_error *err);
/* The same with one that was read already. */
enum ht_status report_batch_store(struct report_batch *batch,
                                  const struct report *report,
                                  struct ht_error *err);
/* Writes the shared rows; `trial` has the newest values afterwards. */
enum ht_status report_batch_end(struct report_batch *batch,
                                struct ht_error *err);

/* The replica whose reports count. */
const char *report_batch_master(struct arena *arena, const struct job *job);

/* At least one metric as the JSON object that rows hold. */
const char *report_batch_metrics_text(struct arena *arena, size_t n,
                                      const struct report_metric metrics[]);

/* A writer as it is written on the wire: 16 hex digits. */
void report_batch_writer_text(char text[17], uint64_t writer);

#endif
