#include "tuner/search/stop_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "algorithms/stop/stop_study.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tuner/db/curve.h"
#include "tuner/search/method.h"
#include "tuner/search/trial_result.h"

enum {
    MOST_TRIALS = 300, /* more teach nothing */
    MOST_POINTS = 500  /* of one curve; longer ones are thinned */
};

struct entry {
    int64_t trial, attempt, revision;
    struct record_name latest; /* its newest record then */
    struct arena *arena;       /* owned, holds what `curve` borrows */
};

struct stop_curves {
    int64_t study;
    struct arena *arena; /* the job */
    const char *spec;    /* that it was read from; NULL: nothing read yet */
    struct job *job;
    struct setting setting;
    size_t n;
    struct entry entries[MOST_TRIALS]; /* by trial */
    struct stop_curve curves[MOST_TRIALS];
    struct stop_study seen;
};

/* --- life --- */

struct stop_curves *stop_curves_new(int64_t study)
{
    struct stop_curves *curves = ht_xcalloc(1, sizeof *curves);
    curves->study = study;
    curves->arena = arena_new();
    return curves;
}

static void forget(struct stop_curves *curves)
{
    for (size_t i = 0; i < curves->n; i++)
        arena_free(curves->entries[i].arena);
    arena_reset(curves->arena);
    curves->n = 0;
    curves->spec = NULL;
}

void stop_curves_free(struct stop_curves *curves)
{
    if (curves == NULL)
        return;
    forget(curves);
    arena_free(curves->arena);
    free(curves);
}

static enum ht_status begin(struct stop_curves *curves,
                            const struct study_row *row, struct ht_error *err)
{
    const char *spec = arena_strdup(curves->arena, row->spec);
    const enum ht_status status =
        vertex_parse(curves->arena, spec, &curves->job, err);
    if (status != HT_OK)
        return status;
    curves->spec = spec;
    curves->setting = search_setting(curves->job, (uint64_t)row->seed);
    curves->seen = (struct stop_study){.setting = &curves->setting,
                                       .options = &curves->job->early_stop,
                                       .curves = curves->curves};
    return HT_OK;
}

/* A study that is continued may have another rule, and curves over time in
 * place of steps. */
static enum ht_status follow_job(struct stop_curves *curves, struct db *db,
                                 struct arena *arena, struct ht_error *err)
{
    struct study_row row;
    const enum ht_status status =
        db_study_get(db, arena, curves->study, &row, err);
    if (status != HT_OK)
        return status;
    if (curves->spec != NULL && strcmp(curves->spec, row.spec) == 0)
        return HT_OK;
    forget(curves);
    return begin(curves, &row, err);
}

/* --- one curve --- */

/* A curve on its way from records to points. */
struct drawing {
    const struct job *job;
    const struct trial_row *trial;
    struct attempt_list attempts; /* where time counts */
    size_t n;
    double *at, *values; /* values: a row of goals for each place */
    int64_t *steps;
};

static void drawing_init(struct drawing *drawing, const struct job *job,
                         const struct trial_row *trial, struct arena *arena,
                         size_t most)
{
    *drawing = (struct drawing){.job = job, .trial = trial};
    drawing->at = arena_alloc(arena, most, sizeof *drawing->at);
    drawing->steps = arena_alloc(arena, most, sizeof *drawing->steps);
    drawing->values = arena_alloc(arena, most * (job->n_metrics + 1),
                                  sizeof *drawing->values);
}

/* Time between attempts, in which the trial waited or was paused. */
static int64_t idle_before(const struct drawing *drawing, int64_t attempt)
{
    const struct attempt_row *rows = drawing->attempts.rows;
    int64_t idle_ms = 0;
    for (size_t i = 1; i < drawing->attempts.n && rows[i].n <= attempt; i++)
        idle_ms += rows[i].created_ms - rows[i - 1].ended_ms;
    return idle_ms;
}

static double place_of(const struct drawing *drawing,
                       const struct measurement_row *row)
{
    if (!drawing->job->early_stop.by_time)
        return (double)row->step;
    return (double)(row->time_ms - drawing->trial->started_ms -
                    idle_before(drawing, row->attempt)) /
           1000;
}

/* The values of the place, a new one unless `at` is no later than the last:
 * metrics of one step may come one by one, and clocks may be set back. */
static double *values_at(struct drawing *drawing, double at, int64_t step)
{
    const size_t goals = drawing->job->n_metrics;
    if (drawing->n == 0 || at > drawing->at[drawing->n - 1]) {
        const size_t i = drawing->n++;
        drawing->at[i] = at;
        drawing->steps[i] = step;
        for (size_t k = 0; k < goals; k++)
            drawing->values[i * goals + k] = NAN;
    }
    return drawing->values + (drawing->n - 1) * goals;
}

/* The reported value; larger is better. */
static void read_values(const struct job *job, const char *metrics,
                        double values[])
{
    cJSON *map = cJSON_Parse(metrics);
    for (size_t k = 0; k < job->n_metrics; k++) {
        const cJSON *item =
            cJSON_GetObjectItemCaseSensitive(map, job->metrics[k].name);
        if (cJSON_IsNumber(item))
            values[k] = job->metrics[k].maximize ? item->valuedouble
                                                 : -item->valuedouble;
    }
    cJSON_Delete(map);
}

/* A further attempt continues from a checkpoint or begins again: what it
 * measures again is void. */
static void draw_records(struct drawing *drawing,
                         const struct measurement_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct measurement_row *row = &list->rows[i];
        const bool further = i > 0 && row->attempt != list->rows[i - 1].attempt;
        while (further && drawing->n > 0 &&
               drawing->steps[drawing->n - 1] >= row->step)
            drawing->n--;
        read_values(drawing->job, row->metrics,
                    values_at(drawing, place_of(drawing, row), row->step));
    }
}

/* A client may report the result alone. */
static void draw_final(struct drawing *drawing, const double finals[])
{
    const struct trial_row *trial = drawing->trial;
    const double step = (double)trial->final_step;
    if (drawing->job->early_stop.by_time ||
        (drawing->n > 0 && step <= drawing->at[drawing->n - 1]))
        return;
    memcpy(values_at(drawing, step, trial->final_step), finals,
           drawing->job->n_metrics * sizeof *finals);
}

/* Every so many-th point, the last one among them. */
static void finish(const struct drawing *drawing, struct arena *arena,
                   struct stop_curve *curve)
{
    const size_t goals = drawing->job->n_metrics;
    const size_t every = drawing->n / MOST_POINTS + 1;
    struct stop_point *points =
        arena_alloc(arena, drawing->n / every + 2, sizeof *points);
    double *values = arena_alloc(arena, drawing->n * goals + 1, sizeof *values);
    memcpy(values, drawing->values, drawing->n * goals * sizeof *values);
    for (size_t i = 0; i < drawing->n; i++)
        if ((drawing->n - 1 - i) % every == 0)
            points[curve->n++] =
                (struct stop_point){drawing->at[i], values + i * goals};
    curve->points = points;
}

static enum ht_status read_records(struct db *db, struct arena *scratch,
                                   const struct job *job,
                                   const struct trial_row *trial,
                                   struct measurement_list *list,
                                   struct ht_error *err)
{
    const char *type = job->n_pools > 0 ? job->pools[0].type : "master";
    return db_curve_records(db, scratch, trial,
                            arena_printf(scratch, "%s-0", type), list, err);
}

static enum ht_status draw(const struct stop_curves *curves, struct db *db,
                           const struct trial_row *trial, struct arena *arena,
                           struct stop_curve *curve, struct ht_error *err)
{
    const struct job *job = curves->job;
    struct value *point = arena_alloc(arena, job->space.n + 1, sizeof *point);
    double *finals = arena_alloc(arena, SETTING_METRICS, sizeof *finals);
    struct arena *scratch = arena_new();
    struct measurement_list list;
    struct attempt_list attempts = {0};
    struct drawing drawing;
    enum ht_status status =
        space_point_parse(&job->space, trial->params, point, err);
    if (status == HT_OK)
        status = read_records(db, scratch, job, trial, &list, err);
    if (status == HT_OK && job->early_stop.by_time)
        status = db_attempt_list(db, scratch, trial->study, trial->id,
                                 &attempts, err);
    if (status == HT_OK) {
        const bool whole = trial->state == TRIAL_SUCCEEDED;
        const bool open = !db_trial_state_is_final(trial->state) &&
                          trial->state != TRIAL_STOPPING;
        *curve = (struct stop_curve){.ordinal = (uint64_t)trial->ordinal,
                                     .point = point,
                                     .passed = trial->rungs_passed,
                                     .paused = trial->state == TRIAL_PAUSED,
                                     .end = whole  ? STOP_END_WHOLE
                                            : open ? STOP_END_OPEN
                                                   : STOP_END_EARLY};
        drawing_init(&drawing, job, trial, scratch, list.n + 1);
        drawing.attempts = attempts;
        draw_records(&drawing, &list);
        if (whole) {
            trial_result_read(job, trial, point, finals);
            draw_final(&drawing, finals);
            curve->finals = finals;
        }
        finish(&drawing, arena, curve);
    }
    arena_free(scratch);
    return status;
}

/* --- all of them --- */

static bool is_same(const struct entry *entry, const struct trial_row *trial)
{
    const struct record_name *was = &entry->latest, *is = &trial->latest;
    if (entry->trial != trial->id || entry->revision != trial->revision)
        return false;
    if (was->replica == NULL || is->replica == NULL)
        return was->replica == is->replica;
    return was->attempt == is->attempt && was->writer == is->writer &&
           was->seq == is->seq && strcmp(was->replica, is->replica) == 0;
}

/* The old curve when it still holds, otherwise a new one. */
static enum ht_status take(struct stop_curves *curves, struct db *db,
                           const struct trial_row *trial,
                           struct stop_curves *old, struct ht_error *err)
{
    struct entry *entry = &curves->entries[curves->n];
    struct stop_curve *curve = &curves->curves[curves->n];
    for (size_t i = 0; i < old->n; i++)
        if (old->entries[i].arena != NULL && is_same(&old->entries[i], trial)) {
            *entry = old->entries[i];
            *curve = old->curves[i];
            curve->passed = trial->rungs_passed; /* no move, no revision */
            old->entries[i].arena = NULL;
            curves->n++;
            return HT_OK;
        }
    struct arena *arena = arena_new();
    *entry = (struct entry){.trial = trial->id,
                            .attempt = trial->attempt,
                            .revision = trial->revision,
                            .latest = trial->latest,
                            .arena = arena};
    if (trial->latest.replica != NULL)
        entry->latest.replica = arena_strdup(arena, trial->latest.replica);
    curves->n++;
    return draw(curves, db, trial, arena, curve, err);
}

static enum ht_status take_all(struct stop_curves *curves, struct db *db,
                               const struct trial_list *list,
                               struct ht_error *err)
{
    struct stop_curves *old = ht_xcalloc(1, sizeof *old);
    enum ht_status status = HT_OK;
    *old = *curves;
    curves->n = 0;
    for (size_t i = list->n; status == HT_OK && i > 0; i--)
        status = take(curves, db, &list->rows[i - 1], old, err);
    for (size_t i = 0; i < old->n; i++)
        arena_free(old->entries[i].arena);
    free(old);
    curves->seen.n = curves->n;
    return status;
}

enum ht_status stop_curves_read(struct stop_curves *curves, struct db *db,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct trial_list list;
    enum ht_status status = follow_job(curves, db, arena, err);
    if (status == HT_OK)
        status =
            db_curve_trials(db, arena, curves->study, MOST_TRIALS, &list, err);
    if (status == HT_OK)
        status = take_all(curves, db, &list, err);
    arena_free(arena);
    return status;
}

const struct stop_study *stop_curves_study(const struct stop_curves *curves)
{
    return &curves->seen;
}

const struct job *stop_curves_job(const struct stop_curves *curves)
{
    return curves->job;
}

int64_t stop_curves_attempt(const struct stop_curves *curves, size_t at)
{
    return curves->entries[at].attempt;
}

bool stop_curves_find(const struct stop_curves *curves, int64_t trial,
                      size_t *at)
{
    for (size_t i = 0; i < curves->n; i++)
        if (curves->entries[i].trial == trial) {
            *at = i;
            return true;
        }
    return false;
}
