/* tensorboard.h - shows a study in TensorBoard: event files in the data folder,
 * a folder tensorboard/ID-NAME for the study and one in it for each trial.
 *
 * No client names a place. A file's length that counts is in the ledger: what
 * is behind it was written by a server that was killed, and is cut off. */
#ifndef HT_TUNER_TRACKER_TENSORBOARD_H
#define HT_TUNER_TRACKER_TENSORBOARD_H

#include "tuner/tracker/tracker.h"

struct tensorboard {    /* what tensorboard_tracker works on */
    const char *folder; /* of all studies; made when needed; borrowed */
};

extern const struct tracker tensorboard_tracker;

#endif
