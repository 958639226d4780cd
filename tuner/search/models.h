/* models.h - models of a study's metrics, to answer questions about it.
 *
 * Built from the results in the database when a question comes, not by the
 * search: a study of any algorithm can be asked. Kept until another study is
 * asked about or its results have changed. One thread. */
#ifndef HT_TUNER_SEARCH_MODELS_H
#define HT_TUNER_SEARCH_MODELS_H

#include "tuner/db/db.h"

struct backtest;
struct health;
struct models;

/* The study's results in the reader's snapshot, read again into *kept when that
 * holds something else. It belongs to *kept until the next call. */
enum ht_status models_of(struct models **kept, struct db *db,
                         const struct study_row *study, struct models **models,
                         struct ht_error *err);
void models_free(struct models *models); /* accepts NULL */

/* As the snapshot had them; all belong to the models. */
const struct job *models_job(const struct models *models);
const struct encoding *models_encoding(const struct models *models);
const struct history *models_history(const struct models *models);

/* The model of a metric; NULL with too few results. Belongs to the models. */
const struct goal_model *models_model(struct models *models, size_t metric);

/* How much each coordinate matters to a metric; NULL with too few results.
 * Belongs to the models. */
const struct importance *models_importances(struct models *models,
                                            size_t metric);

/* What a person should know of the model of a metric. Belongs to the models.
 * HT_INVALID  a constraint of the study cannot be read */
enum ht_status models_health(struct models *models, size_t metric,
                             const struct health **health,
                             struct ht_error *err);

/* What its early stopping rule would do to the best finished trials, by the
 * reader's snapshot; NULL: nothing can be said. Belongs to the models. */
enum ht_status models_backtest(struct models *models, struct db *db,
                               const struct backtest **backtest,
                               struct ht_error *err);

#endif
