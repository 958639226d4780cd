/* models.h - models of a study as it is, for questions about it.
 *
 * Built from the results in the database when somebody asks, not by the search:
 * a study of any algorithm can be asked. Kept until another study is asked
 * about or its results have changed. One thread. */
#ifndef HT_TUNER_SEARCH_MODELS_H
#define HT_TUNER_SEARCH_MODELS_H

#include "algorithms/insight/importance.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"
#include "algorithms/space/encoding.h"
#include "proto/job/job.h"
#include "tuner/db/db.h"

struct insight;

/* The study's results in the reader's snapshot, taken anew into *kept when that
 * holds something else. It belongs to *kept until the next call. */
enum ht_status insight_of(struct insight **kept, struct db *db,
                          const struct study_row *study,
                          struct insight **insight, struct ht_error *err);
void insight_free(struct insight *insight); /* accepts NULL */

const struct job *insight_job(const struct insight *insight);
const struct encoding *insight_encoding(const struct insight *insight);
const struct history *insight_history(const struct insight *insight);

/* What is believed of a metric, or NULL with too few results to believe
 * anything. Belongs to the insight. */
const struct goal_model *insight_model(struct insight *insight, size_t metric);

/* How much each coordinate matters to a metric, or NULL with too few results.
 * Belongs to the insight. */
const struct importance *insight_importances(struct insight *insight,
                                             size_t metric);

#endif
