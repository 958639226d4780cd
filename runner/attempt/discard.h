/* discard.h - removes the outputs of trials that a study does not keep.
 *
 * Its own thread removes them, which may take long; the supervising thread
 * calls the functions. */
#ifndef HT_RUNNER_ATTEMPT_DISCARD_H
#define HT_RUNNER_ATTEMPT_DISCARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/base/site.h"

struct discard;

/* HT_IO  no thread can be made */
enum ht_status discard_start(const struct site *site, struct discard **discard,
                             struct ht_error *err);
/* Finishes the current removal and drops the others, which the server requests
 * again. Accepts NULL. */
void discard_stop(struct discard *discard);

struct discard_request { /* of the server */
    int64_t study, trial;
    const char *output_dir; /* the trial's own; NULL: the runner's folder */
    bool rewrite_gcs;
};
/* Adds the request unless there is one for that trial. Only in the state folder
 * or below a root of the admin it removes the folders of models, checkpoints
 * and logs, and the one above them if it is empty then. */
void discard_ask(struct discard *discard,
                 const struct discard_request *request);

struct discard_item {
    int64_t study, trial;
    bool kept; /* not removed, as its place does not allow it */
};
/* Fills `items` with at most `most` of those that are done and not yet
 * confirmed; returns how many. */
size_t discard_report(struct discard *discard, struct discard_item items[],
                      size_t most);
/* The server has confirmed the last report. */
void discard_confirm(struct discard *discard);

#endif
