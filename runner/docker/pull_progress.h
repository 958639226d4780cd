/* pull_progress.h - the progress of a pull, as lines from an engine's messages
 * about each layer. */
#ifndef HT_RUNNER_DOCKER_PULL_PROGRESS_H
#define HT_RUNNER_DOCKER_PULL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Images have fewer layers; further ones are not counted. */
enum { PULL_LAYERS = 256, PULL_ID_BYTES = 32, PULL_STATE_BYTES = 32 };

struct pull_layer {
    char id[PULL_ID_BYTES];
    char state[PULL_STATE_BYTES]; /* as the engine names it: "Downloading" */
    int64_t current, total;       /* bytes; total is 0 until it is known */
};

struct pull_progress { /* all zero at first */
    size_t n;
    struct pull_layer layers[PULL_LAYERS];
    int64_t line_ms; /* monotonic, of the last line */
};

/* Takes one item of the engine's stream; true when a line is due, which is
 * appended: after 2 s at most one, and only when something changed. */
bool pull_progress_take(struct pull_progress *progress, const struct node *item,
                        int64_t now_ms, struct text *line);

#endif
