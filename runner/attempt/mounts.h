/* mounts.h - the folders of this machine that are mounted into a replica's
 * container, each checked against what the admin allows. */
#ifndef HT_RUNNER_ATTEMPT_MOUNTS_H
#define HT_RUNNER_ATTEMPT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

/* A folder or file of this machine in a container. */
struct mount {
    const char *source; /* real path here */
    const char *target; /* absolute path there */
    bool read_only;
};

struct mounts {
    size_t n;
    const struct mount *items;
};

/* Kit, replica folder, credentials, outputs, the job's volumes, and /gcs; in
 * the arena. The trial's output folders are made when they are missing.
 * HT_PRECONDITION  a volume or the output folder is outside every volume root,
 *                  passes a symbolic link on its way, is an engine's socket
 *                  that --allow does not name, or covers a folder of hypertune
 * HT_IO            a folder cannot be made */
enum ht_status mounts_find(struct arena *arena, const struct site *site,
                           const struct order *order, const char *folder,
                           struct mounts *mounts, struct ht_error *err);

#endif
