/* avoided.h - nodes on which something failed that was not a trial's fault: the
 * next batches are not sent there for half an hour. */
#ifndef HT_RUNNER_CLUSTER_AVOIDED_H
#define HT_RUNNER_CLUSTER_AVOIDED_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct avoided { /* zeroed: none */
    size_t n;
    struct avoided_nodes {
        char *nodes; /* as Slurm writes them, "n[1-2]" */
        int64_t until_ms;
    } * items;
};

void avoided_fini(struct avoided *avoided);
/* "" is no node. */
void avoided_add(struct avoided *avoided, const char *nodes, int64_t now_ms);
/* "n1,n[3-4]" in the arena; NULL: none. */
const char *avoided_text(struct avoided *avoided, struct arena *arena,
                         int64_t now_ms);

/* Their file in the folder, so that another run of the runner avoids them, too.
 * HT_IO: the previous file stays. */
enum ht_status avoided_write(const struct avoided *avoided, const char *folder,
                             int64_t now_ms, struct ht_error *err);
/* Adds those of the file; a damaged one has none. */
void avoided_read(struct avoided *avoided, const char *folder, int64_t now_ms);

#endif
