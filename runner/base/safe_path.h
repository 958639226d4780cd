/* safe_path.h - paths below a folder in which trials may have made symbolic
 * links: none is followed, so no path leads out of the folder. */
#ifndef HT_RUNNER_BASE_SAFE_PATH_H
#define HT_RUNNER_BASE_SAFE_PATH_H

#include <sys/types.h>

#include "proto/base/error.h"

/* Opens ROOT/PATH with O_PATH, the caller closes it. `path` may
 * be empty, else it is relative. -1 with errno when a part is missing, is a
 * link (ELOOP) or no folder (ENOTDIR), or is ".." (EXDEV). */
int safe_path_open(const char *root, const char *path);

struct safe_path_modes {
    mode_t parents; /* of those that were missing */
    mode_t last;    /* exactly, even if it existed */
};

/* Makes the folder ROOT/PATH with its missing parents.
 * HT_PRECONDITION  a link, something that is no folder, or ".." is in the way
 * HT_IO            it cannot be made */
enum ht_status safe_path_make(const char *root, const char *path,
                              const struct safe_path_modes *modes,
                              struct ht_error *err);

/* The part of `path` behind `root`, "" for the root itself; NULL when it is not
 * below. Compares text only; both are absolute. */
const char *safe_path_rest(const char *root, const char *path);

#endif
