/* checkpoint.h - the thread that copies the WAL into the database file.
 *
 * It uses its own connection and PASSIVE checkpoints, so it never makes
 * the core wait; the core truncates the WAL when nothing happens. */
#ifndef HT_TUNER_DB_CHECKPOINT_H
#define HT_TUNER_DB_CHECKPOINT_H

#include "proto/base/error.h"

struct checkpoint;

/* Opens the database (errors as db_open()) and starts the thread. *out is the
 * caller's, who ends both with checkpoint_stop(). HT_IO also when no thread
 * can be started. */
enum ht_status checkpoint_start(const char *path, struct checkpoint **out,
                                struct ht_error *err);
/* Counts one commit; a checkpoint follows after 64 of them or a second. Any
 * thread; never waits for the disk. */
void checkpoint_note_commit(struct checkpoint *checkpoint);
/* Waits for a checkpoint that runs, at most until its end. Accepts NULL. */
void checkpoint_stop(struct checkpoint *checkpoint);

#endif
