/* reason_json.h - the reason of a suggestion as the JSON that is stored with
 * its trial and shown by the API:
 *
 *     {"kind": "DRAWN" | "DESIGN" | "EXPLOITS" | "EXPLORES" |
 *               "REPEATS" | "SEED",
 *      "predicted": [{"metric": "accuracy", "low": 0.91, "median": 0.93,
 *                     "high": 0.94}],           quantiles 16, 50, 84 %
 *      "acquisition": -2.1,                      what was maximised
 *      "nearest": {"trial": "12", "distance": 0.4,
 *                  "study": "digits"},           an earlier one that it is of
 *      "earlier": [{"study": "digits", "trials": 43}],  that count as its own
 *      "revision": "57",                         of the study, see below
 *      "ordinal": "14", "batch": 1, "trials": "60",
 *      "pending": ["11", "13"],                  trials
 *      "context": {"description": "night shift",    see trial_context.h
 *                  "parameters": {"optimizer": "adam"}}}
 *
 * Members that do not apply are absent. From `revision` on they are what
 * decided besides the study's own setting: the same events, up to and with that
 * revision, the same trials open, the same number and limit of trials (0: none)
 * and the same values asked for (see trial_context.h) give the same point. Of a
 * question for
 * several points, the first has `batch` 0 and the number `ordinal - batch`; for
 * each later one, those before it were pending as well. */
#ifndef HT_TUNER_SEARCH_REASON_JSON_H
#define HT_TUNER_SEARCH_REASON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

/* What a suggestion was made from. */
struct reason_json_origin {
    int64_t revision;   /* of the newest event that was known */
    int64_t ordinal;    /* of the suggestion in its study */
    int64_t batch;      /* how many came before in the same question */
    int64_t max_trials; /* of the study at that time; 0: no limit */
    size_t n_pending;
    const int64_t *pending; /* ids of the trials that were open, increasing */
    const char *context;    /* that was asked for, or NULL */
    int64_t nearest;        /* id of the trial that reason->nearest means */
    const char *nearest_study;        /* of that study; NULL: of the same one */
    const struct prior_list *earlier; /* studies that it starts from */
};

/* The JSON, in the arena. */
const char *reason_json_text(struct arena *arena, const struct job *job,
                             const struct reason *reason,
                             const struct reason_json_origin *origin);

/* What a stored suggestion was made from; texts and lists in the arena, without
 * `nearest` and `earlier`. False when the text lacks it. */
bool reason_json_read(struct arena *arena, const char *why,
                      struct reason_json_origin *origin);

#endif
