/* workdir.h - a trial's copy of its working folder.
 *
 * Files share their blocks with the original where the file system can do that.
 * Modes and times are kept, and links stay links; a relative link out of the
 * folder is changed to lead to the same place. Sockets, pipes and devices are
 * left out, and so is hypertune's own data. */
#ifndef HT_RUNNER_BASE_WORKDIR_H
#define HT_RUNNER_BASE_WORKDIR_H

#include <stdbool.h>

#include "proto/base/error.h"

/* Limits of a copy: files, folders and links; bytes without the shared ones. */
enum { WORKDIR_ENTRIES = 100000, WORKDIR_MEGABYTES = 2048 };

struct workdir_order {
    const char *from;     /* the folder */
    const char *into;     /* does not exist yet; its parent does */
    const char *left_out; /* a file of it, relative, or NULL */
    bool no_events;       /* event files of TensorBoard are left out */
    const char *state;    /* a folder below that is left out, or NULL */
};

/* HT_NOT_FOUND  there is no such folder
 * HT_TOO_LARGE  it has more than WORKDIR_ENTRIES, or more than
 *               WORKDIR_MEGABYTES that cannot be shared
 * HT_IO         something cannot be read or written; a part of the copy may be
 *               there */
enum ht_status workdir_copy(const struct workdir_order *order,
                            struct ht_error *err);

#endif
