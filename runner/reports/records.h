/* records.h - every measurement of one replica, from all sources:
 * libhypertune's file, cloudml-hypertune's, the user's metrics file, lines on
 * stdout, event files of TensorBoard.
 *
 * Nothing is kept on disk: a restarted runner reads all again, and the server
 * recognises a record by its key. */
#ifndef HT_RUNNER_REPORTS_RECORDS_H
#define HT_RUNNER_REPORTS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/order.h"

struct guest;
struct records;

/* All is borrowed for the life of the result; what the guest cannot have
 * written is not read. A pattern that does not compile is left out, with a line
 * in the log. */
struct records *records_new(const struct order *order, size_t replica,
                            const char *folder, const struct guest *guest);
void records_free(struct records *records); /* accepts NULL */

/* Once, before the first reading: lines that are in the metrics file now are
 * not the attempt's. `anew`: nothing of the attempt has started yet.
 * HT_PRECONDITION, HT_IO  as results_file_begin() */
enum ht_status records_begin(struct records *records,
                             const char *attempt_folder, bool anew,
                             struct ht_error *err);
/* The trainer was killed: the last line of a file may be incomplete. */
void records_cut(struct records *records);
/* The user's metrics file, borrowed; never NULL, also where there is no
 * file. */
const struct results_file *records_file(const struct records *records);

/* Reads new records into the queue, a bounded amount; true when there is more.
 * Records that the library may deliver itself wait for heartbeat `next_beat`.
 * `final`: all writers have ended. */
bool records_collect(struct records *records, int64_t next_beat, bool final);

/* A checkpoint that a trainer says is whole. */
struct records_checkpoint {
    const char *path; /* as its report has it; borrowed until the next
                         records_collect() */
    int64_t step;     /* -1: not said */
};
/* The newest since the last call. False: there is none. */
bool records_take_checkpoint(struct records *records,
                             struct records_checkpoint *checkpoint);

/* The server has seq 1 to `seq` of the writer. */
void records_have(struct records *records, uint64_t writer, int64_t seq);

/* Where records_collect() puts records, borrowed: the caller takes them out. */
struct record_queue *records_queue(struct records *records);
/* Once all is collected: whether each metric of the study came. */
bool records_are_whole(const struct records *records);
/* Appends the names that came, as objects of a list (metrics_seen.h). */
void records_names_text(const struct records *records, struct text *out);
/* Appends hints to where the metrics are: members "file" (the state of the
 * metrics file) and "line". */
void records_hints_text(const struct records *records, struct text *out);
uint64_t records_skipped(const struct records *records); /* malformed lines */

#endif
