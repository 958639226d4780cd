/* avoided.h - nodes on which something failed that was not a trial's fault: the
 * next batches are not sent there for half an hour. */
#ifndef HT_RUNNER_CLUSTER_AVOIDED_H
#define HT_RUNNER_CLUSTER_AVOIDED_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"

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

#endif
