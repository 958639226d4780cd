#include "tuner/study/rungs.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "algorithms/stop/early_stop.h"
#include "proto/base/text.h"
#include "tuner/core/core.h"
#include "tuner/db/rungs.h"
#include "tuner/search/method.h"
#include "tuner/study/trial_pause.h"

/* --- noting --- */

static const char *goals_text(struct arena *arena, const struct job *job,
                              const double goals[])
{
    struct text text = {0};
    for (size_t k = 0; k < job->n_metrics; k++) {
        text_puts(&text, k == 0 ? "[" : ",");
        if (isfinite(goals[k]))
            text_double(&text, goals[k]);
        else
            text_puts(&text, "null");
    }
    text_puts(&text, "]");
    return text_take(&text, arena);
}

enum ht_status rungs_note(struct core *core, struct arena *arena,
                          struct trial_row *trial,
                          const struct stop_verdict *verdict,
                          struct ht_error *err)
{
    const struct job *job;
    if (verdict->rung < 0)
        return HT_OK;
    enum ht_status status = core_job(core, trial->study, &job, err);
    if (status != HT_OK)
        return status;
    const struct rung_row row = {.study = trial->study,
                                 .trial = trial->id,
                                 .rung = verdict->rung,
                                 .at = verdict->at,
                                 .goals =
                                     goals_text(arena, job, verdict->goals)};
    status = db_rung_set(core_db(core), &row, err);
    trial->rungs_passed = verdict->rung + (verdict->action == STOP_GO_ON);
    core_touch(core, trial->study); /* others may belong to the best now */
    return status == HT_OK
               ? db_trial_set_rungs_passed(core_db(core), trial, err)
               : status;
}

enum ht_status rungs_forget(struct core *core, struct trial_row *trial,
                            struct ht_error *err)
{
    trial->rungs_passed = 0;
    trial->pausing = false;
    trial->stop = "";
    return db_rung_clear(core_db(core), trial->study, trial->id, err);
}

/* --- promotion --- */

static const double *read_goals(struct arena *arena, const struct job *job,
                                const char *text)
{
    double *goals = arena_alloc(arena, SETTING_METRICS, sizeof *goals);
    cJSON *list = cJSON_Parse(text);
    const cJSON *item = list == NULL ? NULL : list->child;
    for (size_t k = 0; k < job->n_metrics; k++) {
        goals[k] =
            item != NULL && cJSON_IsNumber(item) ? item->valuedouble : NAN;
        item = item == NULL ? NULL : item->next;
    }
    cJSON_Delete(list);
    return goals;
}

static struct stop_curve read_curve(struct settling *settling,
                                    const struct rung_trial *trial)
{
    struct stop_point *points =
        arena_alloc(settling->arena, trial->n, sizeof *points);
    for (size_t i = 0; i < trial->n; i++)
        points[i] = (struct stop_point){
            trial->rungs[i].at,
            read_goals(settling->arena, settling->job, trial->rungs[i].goals)};
    return (struct stop_curve){.ordinal = (uint64_t)trial->ordinal,
                               .passed = trial->rungs_passed,
                               .paused = trial->state == TRIAL_PAUSED,
                               .n = trial->n,
                               .points = points};
}

static int64_t room_of(const struct settling *settling)
{
    return settling->row.state == STUDY_RUNNING &&
                   settling->counts.of[TRIAL_PAUSED] > 0
               ? settling->job->parallel - study_busy_trials(&settling->counts)
               : 0;
}

/* Whether no other trial will reach the rungs. */
static bool is_last(const struct settling *settling)
{
    return study_busy_trials(&settling->counts) == 0 &&
           study_wanted(settling) == 0;
}

static enum ht_status promote(struct settling *settling, int64_t id,
                              struct ht_error *err)
{
    struct trial_row trial;
    struct db *db = core_db(settling->core);
    enum ht_status status =
        db_trial_get(db, settling->arena, settling->row.id, id, &trial, err);
    if (status == HT_OK)
        status =
            trial_pause_promote(settling->core, settling->arena, &trial, err);
    if (status == HT_OK)
        status = db_trial_counts(db, settling->row.id, &settling->counts, err);
    return status;
}

enum ht_status rungs_promote(struct settling *settling, struct ht_error *err)
{
    const struct stop_rule *rule =
        stop_rule_find(settling->job->early_stop.rule);
    struct rung_trial_list trials;
    if (room_of(settling) <= 0 || rule == NULL || rule->promote == NULL)
        return HT_OK;
    enum ht_status status =
        db_rung_trials(core_db(settling->core), settling->arena,
                       settling->row.id, &trials, err);
    if (status != HT_OK)
        return status;
    struct stop_curve *curves =
        arena_alloc(settling->arena, trials.n + 1, sizeof *curves);
    for (size_t i = 0; i < trials.n; i++)
        curves[i] = read_curve(settling, &trials.rows[i]);
    const struct setting setting =
        search_setting(settling->job, (uint64_t)settling->row.seed);
    const struct stop_study study = {.setting = &setting,
                                     .options = &settling->job->early_stop,
                                     .n = trials.n,
                                     .curves = curves};
    size_t chosen;
    while (status == HT_OK && room_of(settling) > 0 &&
           rule->promote(&study, is_last(settling), &chosen)) {
        curves[chosen].paused = false;
        status = promote(settling, trials.rows[chosen].trial, err);
    }
    /* The row has a new revision. */
    return status == HT_OK
               ? db_study_get(core_db(settling->core), settling->arena,
                              settling->row.id, &settling->row, err)
               : status;
}
