/* discard.h - removes the outputs of trials that a study does not keep.
 *
 * A thread of its own does the removing, which may take long; everything else
 * is called from the supervising thread. */
#ifndef HT_RUNNER_ATTEMPT_DISCARD_H
#define HT_RUNNER_ATTEMPT_DISCARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/base/site.h"

struct discard;

/* HT_IO  no thread can be had */
enum ht_status discard_start(const struct site *site, struct discard **discard,
                             struct ht_error *err);
/* What is under way is finished, what waits is left: the server asks again.
 * Accepts NULL. */
void discard_stop(struct discard *discard);

struct discard_request { /* of the server */
    int64_t study, trial;
    const char *output_dir; /* the trial's own; NULL: the runner's folder */
    bool rewrite_gcs;
};
/* Takes the request unless it has it already. Only what lies in the state
 * folder or below a root of the admin is removed: the folders of models,
 * checkpoints and logs, and the one above them when nothing else is in it. */
void discard_ask(struct discard *discard,
                 const struct discard_request *request);

struct discard_item {
    int64_t study, trial;
    bool kept; /* it lies where nothing may be removed */
};
/* Fills `items` with at most `most` of those that are done and not yet
 * confirmed; returns how many. */
size_t discard_report(struct discard *discard, struct discard_item items[],
                      size_t most);
/* The server has heard what was told last. */
void discard_confirm(struct discard *discard);

#endif
