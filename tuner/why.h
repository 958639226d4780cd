/* why.h - the reason of a suggestion as the JSON that is stored with its trial
 * and shown by the API:
 *
 *     {"kind": "DRAWN" | "DESIGN" | "EXPLOITS" | "EXPLORES",
 *      "predicted": [{"metric": "accuracy", "low": 0.91, "median": 0.93,
 *                     "high": 0.94}],           quantiles 16, 50, 84 %
 *      "acquisition": -2.1,                      what was maximised
 *      "nearest": {"trial": "12", "distance": 0.4}}
 *
 * Members that do not apply are absent. */
#ifndef HT_TUNER_WHY_H
#define HT_TUNER_WHY_H

#include "algorithms/algorithm.h"
#include "proto/arena.h"
#include "proto/job.h"

/* `nearest` is the id of the trial that reason->nearest means. */
const char *why_text(struct arena *arena, const struct job *job,
                     const struct reason *reason, int64_t nearest);

#endif
