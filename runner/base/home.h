/* home.h - whether the folder of a replica is still its own. A trainer runs as
 * we do, so it may remove, move, replace or lock the folder that it was given;
 * what then lies there, or where a link leads, is not the trial's. */
#ifndef HT_RUNNER_BASE_HOME_H
#define HT_RUNNER_BASE_HOME_H

#include <stdint.h>

struct home {
    uint64_t device, inode; /* inode 0: not known */
};

/* Notes which folder it is, before anything can run in it. */
void home_note(struct home *home, const char *folder);

/* NULL while the folder is the one that was noted, or none was; else what the
 * trial did with it, in words that are the same for all trials. One that was
 * replaced was removed a moment before. */
const char *home_lost(const struct home *home, const char *folder);

/* The words for a folder that is gone, or all that lay in it. */
extern const char home_removed[];

/* Makes the folders below `state` on the way to `folder` ours again, which a
 * trial may have locked or replaced: what is no folder is removed. */
void home_reclaim(const char *state, const char *folder);

#endif
