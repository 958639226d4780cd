/* mirror.h - the thread that keeps one tracker up to date.
 *
 * It follows the events of each study that names the tracker, from the mark in
 * the ledger, and gives the tracker the trials that have changed. The database
 * is all that it needs: what a dead tracker missed is read again later, so
 * nothing waits in memory. A failure is repeated after 250 ms, twice as long
 * each time up to a minute, for ever. */
#ifndef HT_TUNER_TRACKER_MIRROR_H
#define HT_TUNER_TRACKER_MIRROR_H

#include <stdatomic.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/base/tracker_board.h"

struct mirror;

struct mirror_options {
    enum tracker_name name;
    const struct tracker *tracker;
    void *self;            /* of the tracker's functions, borrowed */
    const char *folder;    /* with hypertune.db, borrowed */
    const char *place;     /* for the board, where it is put at once */
    atomic_bool *stopping; /* set by mirror_stop() */
    struct tracker_board *board;
};

/* Takes notes at once, before the core runs. */
struct mirror *mirror_new(const struct mirror_options *options);
void mirror_free(struct mirror *mirror); /* accepts NULL */

/* Starts the thread; every study counts as changed. `server_id` is borrowed. */
enum ht_status mirror_start(struct mirror *mirror, const char *server_id,
                            struct ht_error *err);
void mirror_stop(struct mirror *mirror); /* accepts NULL */

/* A study has a new revision or was deleted. Any thread. */
void mirror_note(struct mirror *mirror, int64_t study);

#endif
