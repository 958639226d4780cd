#include "tuner/search/pareto_trials.h"

#include <stdlib.h>

#include "algorithms/model/pareto.h"
#include "tuner/db/ranking.h"
#include "tuner/search/trial_result.h"

/* --- values --- */

/* The objectives, larger being better; false when a metric is missing or out
 * of its bounds. */
static bool read_objectives(const struct job *job, const struct front_row *row,
                            double objectives[SETTING_METRICS])
{
    return trial_result_values(job, &row->objective, row->metrics,
                               objectives) &&
           trial_result_is_safe(job, objectives);
}

static void add_rows(const struct job *job, const struct front_rows *rows,
                     const struct pareto_trials_scope *scope,
                     struct pareto *front)
{
    for (size_t i = 0; i < rows->n; i++) {
        double objectives[SETTING_METRICS];
        if (rows->rows[i].id != scope->without &&
            !(scope->within && rows->rows[i].outside) &&
            read_objectives(job, &rows->rows[i], objectives))
            pareto_add(front, objectives, rows->rows[i].id);
    }
}

/* --- reading --- */

/* Of all results, not only of the marked trials. */
static enum ht_status find_front(struct db *db,
                                 const struct pareto_trials_scope *scope,
                                 const struct job *job, struct pareto *front,
                                 struct ht_error *err)
{
    enum ht_status status = HT_OK;
    struct arena *arena = arena_new();
    struct front_rows page = {.n = DB_FRONT_PAGE};
    int64_t after = 0;
    while (status == HT_OK && page.n == DB_FRONT_PAGE) {
        arena_reset(arena);
        status = db_front_results(db, arena, scope->study, after, &page, err);
        if (status != HT_OK || page.n == 0)
            break;
        after = page.rows[page.n - 1].id;
        add_rows(job, &page, scope, front);
    }
    arena_free(arena);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The front of the trials that lie within is not marked. */
static enum ht_status front_within(struct db *db, struct arena *arena,
                                   const struct pareto_trials_scope *scope,
                                   const struct job *job,
                                   struct front_rows *rows,
                                   struct ht_error *err)
{
    struct pareto front;
    pareto_init(&front, job_objectives(job));
    enum ht_status status = find_front(db, scope, job, &front, err);
    if (front.n > 0)
        qsort(front.ids, front.n, sizeof *front.ids, by_id);
    struct front_row *found = arena_alloc(arena, front.n + 1, sizeof *found);
    for (size_t i = 0; status == HT_OK && i < front.n; i++) {
        struct trial_row trial = {0};
        status =
            db_trial_get(db, arena, scope->study, front.ids[i], &trial, err);
        found[i] =
            (struct front_row){.id = trial.id, .objective = trial.objective};
    }
    *rows = (struct front_rows){.n = front.n, .rows = found};
    pareto_fini(&front);
    return status;
}

/* By id. */
static enum ht_status read_front(struct db *db, struct arena *arena,
                                 const struct pareto_trials_scope *scope,
                                 const struct job *job, struct front_rows *rows,
                                 struct ht_error *err)
{
    return scope->within ? front_within(db, arena, scope, job, rows, err)
                         : db_front_marked(db, arena, scope->study, rows, err);
}

/* The one of the front that is best in the first objective. */
static enum ht_status best_of_front(struct db *db, struct arena *arena,
                                    const struct pareto_trials_scope *scope,
                                    const struct job *job,
                                    struct trial_row *best,
                                    struct ht_error *err)
{
    struct front_rows rows;
    const enum ht_status status = read_front(db, arena, scope, job, &rows, err);
    if (status != HT_OK)
        return status;
    if (rows.n == 0)
        return ht_fail(err, HT_NOT_FOUND, "no trial is within the bounds");
    size_t at = 0;
    for (size_t i = 1; i < rows.n; i++) {
        const double value = rows.rows[i].objective;
        const double than = rows.rows[at].objective;
        if (job->metrics[0].maximize ? value > than : value < than)
            at = i;
    }
    return db_trial_get(db, arena, scope->study, rows.rows[at].id, best, err);
}

enum ht_status pareto_trials_best(struct db *db, struct arena *arena,
                                  const struct pareto_trials_scope *scope,
                                  const struct job *job, struct trial_row *best,
                                  struct ht_error *err)
{
    const bool maximize = job->metrics[0].maximize;
    if (job->n_metrics > 1)
        return best_of_front(db, arena, scope, job, best, err);
    return scope->within
               ? db_trial_best_within(db, arena, scope->study, maximize, best,
                                      err)
               : db_trial_best(db, arena, scope->study, maximize, best, err);
}

static enum ht_status list_one(struct db *db, struct arena *arena,
                               const struct pareto_trials_scope *scope,
                               const struct job *job, struct id_list *ids,
                               struct ht_error *err)
{
    struct trial_row best = {0};
    const enum ht_status status =
        pareto_trials_best(db, arena, scope, job, &best, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    int64_t *id = arena_alloc(arena, 1, sizeof *id);
    *id = best.id;
    *ids = (struct id_list){.n = status == HT_OK ? 1 : 0, .ids = id};
    return HT_OK;
}

enum ht_status pareto_trials_list(struct db *db, struct arena *arena,
                                  const struct pareto_trials_scope *scope,
                                  const struct job *job, struct id_list *ids,
                                  struct ht_error *err)
{
    struct front_rows rows;
    if (job_objectives(job) == 1)
        return list_one(db, arena, scope, job, ids, err);
    const enum ht_status status = read_front(db, arena, scope, job, &rows, err);
    if (status != HT_OK)
        return status;
    int64_t *found = arena_alloc(arena, rows.n + 1, sizeof *found);
    for (size_t i = 0; i < rows.n; i++)
        found[i] = rows.rows[i].id;
    *ids = (struct id_list){.n = rows.n, .ids = found};
    return HT_OK;
}

/* --- a trial ends --- */

static enum ht_status note_one(struct db *db, struct arena *arena,
                               const struct job *job,
                               const struct trial_row *trial,
                               struct pareto_trials_change *change,
                               struct ht_error *err)
{
    struct trial_row best;
    const bool maximize = job->metrics[0].maximize;
    const enum ht_status status =
        db_trial_best(db, arena, trial->study, maximize, &best, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    change->gain = status == HT_NOT_FOUND ||
                   (maximize ? trial->objective > best.objective
                             : trial->objective < best.objective);
    return HT_OK;
}

static bool holds(const struct pareto *front, int64_t id)
{
    size_t i = 0;
    while (i < front->n && front->ids[i] != id)
        i++;
    return i < front->n;
}

static struct id_list list_beaten(struct arena *arena,
                                  const struct front_rows *before,
                                  const struct pareto *front)
{
    struct id_list beaten = {
        .ids = arena_alloc(arena, before->n + 1, sizeof *beaten.ids)};
    for (size_t i = 0; i < before->n; i++)
        if (!holds(front, before->rows[i].id))
            beaten.ids[beaten.n++] = before->rows[i].id;
    return beaten;
}

/* Marks the new one; what is no longer in the front loses its mark. */
static enum ht_status change_marks(struct db *db, const struct trial_row *trial,
                                   const struct id_list *beaten,
                                   struct ht_error *err)
{
    enum ht_status status =
        db_front_mark(db, trial->study, trial->id, true, err);
    for (size_t i = 0; status == HT_OK && i < beaten->n; i++)
        status = db_front_mark(db, trial->study, beaten->ids[i], false, err);
    return status;
}

static enum ht_status note_several(struct db *db, struct arena *arena,
                                   const struct job *job,
                                   const struct trial_row *trial,
                                   struct pareto_trials_change *change,
                                   struct ht_error *err)
{
    const struct front_row row = {.id = trial->id,
                                  .objective = trial->objective,
                                  .metrics = trial->final_metrics};
    double objectives[SETTING_METRICS];
    struct front_rows before;
    struct pareto front;
    enum ht_status status =
        db_front_marked(db, arena, trial->study, &before, err);
    if (status != HT_OK || !read_objectives(job, &row, objectives))
        return status;
    pareto_init(&front, job_objectives(job));
    add_rows(job, &before, &(struct pareto_trials_scope){0}, &front);
    change->gain = !pareto_has(&front, objectives);
    if (pareto_add(&front, objectives, trial->id)) {
        change->beaten = list_beaten(arena, &before, &front);
        status = change_marks(db, trial, &change->beaten, err);
    }
    pareto_fini(&front);
    return status;
}

enum ht_status pareto_trials_note(struct db *db, struct arena *arena,
                                  const struct job *job,
                                  const struct trial_row *trial,
                                  struct pareto_trials_change *change,
                                  struct ht_error *err)
{
    *change = (struct pareto_trials_change){0};
    if (!trial->has_objective)
        return HT_OK;
    return job->n_metrics > 1 ? note_several(db, arena, job, trial, change, err)
                              : note_one(db, arena, job, trial, change, err);
}

/* --- all over again --- */

static enum ht_status mark_study(struct db *db,
                                 const struct pareto_trials_scope *scope,
                                 const struct job *job, struct ht_error *err)
{
    const int64_t study = scope->study;
    struct pareto front;
    pareto_init(&front, job_objectives(job));
    enum ht_status status = find_front(db, scope, job, &front, err);
    if (status == HT_OK)
        status = db_front_clear(db, study, err);
    for (size_t i = 0; status == HT_OK && i < front.n; i++)
        status = db_front_mark(db, study, front.ids[i], true, err);
    pareto_fini(&front);
    return status;
}

enum ht_status pareto_trials_renew(struct db *db, const struct job *job,
                                   int64_t study, struct ht_error *err)
{
    const struct pareto_trials_scope all = {.study = study};
    return job->n_metrics > 1 ? mark_study(db, &all, job, err) : HT_OK;
}

enum ht_status pareto_trials_forget(struct db *db, const struct job *job,
                                    const struct trial_row *trial,
                                    struct ht_error *err)
{
    bool marked = false;
    enum ht_status status = HT_OK;
    if (job->n_metrics > 1)
        status = db_front_is_marked(db, trial->study, trial->id, &marked, err);
    const struct pareto_trials_scope others = {.study = trial->study,
                                               .without = trial->id};
    return marked ? mark_study(db, &others, job, err) : status;
}
