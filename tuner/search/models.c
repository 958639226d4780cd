#include "tuner/search/models.h"

#include <stdlib.h>

#include "algorithms/insight/health.h"
#include "algorithms/insight/importance.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"
#include "algorithms/space/encoding.h"
#include "algorithms/stop/backtest.h"
#include "proto/form/form.h"
#include "tuner/search/method.h"
#include "tuner/search/stop_curves.h"
#include "tuner/search/trial_result.h"

enum {
    PAGE = 500,       /* trials read at a time */
    LEAST_RESULTS = 3 /* of a model */
};

struct models {
    int64_t study, revision;
    int64_t seed; /* of the study: where fits begin */
    struct arena *arena;
    struct job *job;
    struct encoding encoding;
    struct history history;
    struct goal_model of_metric[SETTING_METRICS];
    bool tried[SETTING_METRICS]; /* whether a model was made, or none can be */
    /* NULL: not asked yet */
    struct importance *importances[SETTING_METRICS];
    struct health *health[SETTING_METRICS];
    struct backtest *backtest;
};

static struct models *new_models(const struct study_row *study)
{
    struct models *models = ht_xcalloc(1, sizeof *models);
    models->study = study->id;
    models->revision = study->revision;
    models->seed = study->seed;
    models->arena = arena_new();
    return models;
}

void models_free(struct models *models)
{
    if (models == NULL)
        return;
    for (size_t k = 0; k < SETTING_METRICS; k++)
        if (models->tried[k])
            goal_model_fini(&models->of_metric[k]);
    history_fini(&models->history);
    encoding_fini(&models->encoding);
    arena_free(models->arena);
    free(models);
}

/* ---- reading ---- */

static enum ht_status add_trial(struct models *models, struct arena *arena,
                                const struct trial_row *trial,
                                struct ht_error *err)
{
    const struct space *space = &models->job->space;
    struct value *point = arena_alloc(arena, space->n + 1, sizeof *point);
    double values[SETTING_METRICS];
    if (!db_trial_state_is_final(trial->state) ||
        trial->state == TRIAL_CANCELLED)
        return HT_OK;
    const enum ht_status status =
        space_point_parse(space, trial->params, point, err);
    if (status != HT_OK)
        return status;
    const struct observation seen =
        trial_result_read(models->job, trial, point, values);
    history_add(&models->history, &seen);
    return HT_OK;
}

static enum ht_status read_trials(struct models *models, struct db *db,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct trial_list page = {.n = PAGE};
    int64_t after = 0;
    enum ht_status status = HT_OK;
    while (status == HT_OK && page.n == PAGE) {
        arena_reset(arena);
        status =
            db_trial_list(db, arena, models->study, after, PAGE, &page, err);
        for (size_t i = 0; status == HT_OK && i < page.n; i++) {
            after = page.rows[i].id;
            status = add_trial(models, arena, &page.rows[i], err);
        }
    }
    arena_free(arena);
    return status;
}

static enum ht_status fill(struct models *models, struct db *db,
                           const struct study_row *study, struct ht_error *err)
{
    const enum ht_status status =
        vertex_parse(models->arena, study->spec, &models->job, err);
    if (status != HT_OK)
        return status;
    encoding_init(&models->encoding, &models->job->space);
    history_init(&models->history, &models->encoding, models->job->n_metrics);
    const struct setting setting =
        search_setting(models->job, (uint64_t)study->seed);
    history_trade(&models->history, &setting);
    return read_trials(models, db, err);
}

/* Whether no result came or went since the insight was taken. A study that runs
 * has a new revision with every report. */
static enum ht_status still_holds(struct models *kept, struct db *db,
                                  const struct study_row *study, bool *holds,
                                  struct ht_error *err)
{
    bool changed = false;
    *holds = kept != NULL && kept->study == study->id;
    if (!*holds || kept->revision == study->revision)
        return HT_OK;
    const enum ht_status status =
        db_results_changed(db, study->id, kept->revision, &changed, err);
    *holds = status == HT_OK && !changed;
    if (*holds)
        kept->revision = study->revision;
    return status;
}

enum ht_status models_of(struct models **kept, struct db *db,
                         const struct study_row *study, struct models **models,
                         struct ht_error *err)
{
    bool holds;
    enum ht_status status = still_holds(*kept, db, study, &holds, err);
    if (status == HT_OK && !holds) {
        models_free(*kept);
        *kept = new_models(study);
        status = fill(*kept, db, study, err);
    }
    if (status != HT_OK) {
        models_free(*kept);
        *kept = NULL;
        return status;
    }
    *models = *kept;
    return HT_OK;
}

/* ---- what is in it ---- */

const struct job *models_job(const struct models *models)
{
    return models->job;
}

const struct encoding *models_encoding(const struct models *models)
{
    return &models->encoding;
}

const struct history *models_history(const struct models *models)
{
    return &models->history;
}

const struct goal_model *models_model(struct models *models, size_t metric)
{
    const struct history *history = &models->history;
    struct goal_model *model = &models->of_metric[metric];
    if (!models->tried[metric] && models->encoding.dim > 0 &&
        history_feasible(history, history->n) >= LEAST_RESULTS) {
        const uint64_t seed = (uint64_t)models->seed;
        struct goal_hyper hyper;
        goal_model_hyper_init(&hyper, metric,
                              search_setting(models->job, seed).noise);
        models->tried[metric] = true;
        goal_model_init(model, history, &hyper, seed, 0);
    }
    return model->n > 0 ? model : NULL;
}

const struct importance *models_importances(struct models *models,
                                            size_t metric)
{
    const uint64_t seed = (uint64_t)models->seed;
    struct importance *found = models->importances[metric];
    if (found != NULL)
        return found;
    found = arena_alloc(models->arena, models->encoding.dim + 1, sizeof *found);
    if (!importance_find(&models->history, metric,
                         search_setting(models->job, seed).noise, seed, found))
        return NULL;
    models->importances[metric] = found;
    return found;
}

enum ht_status models_health(struct models *models, size_t metric,
                             const struct health **health, struct ht_error *err)
{
    static const struct health none = {0};
    const struct job *job = models->job;
    const struct history *history = &models->history;
    *health = history_feasible(history, history->n) < HEALTH_LEAST
                  ? &none
                  : models->health[metric];
    if (*health != NULL)
        return HT_OK;
    struct constraint_set constraints;
    const enum ht_status status =
        constraint_set_parse(models->arena, &job->space, job->constraints.n,
                             job->constraints.items, &constraints, err);
    if (status != HT_OK)
        return status;
    const struct health_study study = {.history = &models->history,
                                       .goal = metric,
                                       .alone = job->n_metrics == 1,
                                       .model = models_model(models, metric),
                                       .importances =
                                           models_importances(models, metric),
                                       .constraints = &constraints,
                                       .seed = (uint64_t)models->seed};
    struct health *found = arena_alloc(models->arena, 1, sizeof *found);
    health_find(&study, found);
    *health = models->health[metric] = found;
    return HT_OK;
}

static enum ht_status run_backtest(struct models *models, struct db *db,
                                   struct ht_error *err)
{
    struct stop_curves *curves = stop_curves_new(models->study);
    const enum ht_status status = stop_curves_read(curves, db, err);
    if (status == HT_OK) {
        models->backtest =
            arena_alloc(models->arena, 1, sizeof *models->backtest);
        backtest_run(stop_curves_study(curves), models->backtest);
    }
    stop_curves_free(curves);
    return status;
}

enum ht_status models_backtest(struct models *models, struct db *db,
                               const struct backtest **backtest,
                               struct ht_error *err)
{
    const bool stops = models->job->early_stop.rule != EARLY_NONE;
    enum ht_status status = HT_OK;
    *backtest = NULL;
    if (stops && models->backtest == NULL &&
        history_feasible(&models->history, models->history.n) >= BACKTEST_LEAST)
        status = run_backtest(models, db, err);
    if (status == HT_OK && models->backtest != NULL &&
        models->backtest->best > 0)
        *backtest = models->backtest;
    return status;
}
