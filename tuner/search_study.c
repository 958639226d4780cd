#include "tuner/search_study.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "proto/job.h"
#include "proto/text.h"
#include "tuner/point_set.h"
#include "tuner/search_method.h"

enum { PAGE = 500 }; /* events read at a time */

struct search_study {
    int64_t id;
    struct arena *arena; /* the job */
    struct job *job;     /* NULL: nothing read yet */
    const struct algorithm *algorithm;
    void *state;
    int64_t revision; /* newest event that is in here */
    struct point_set taken;
    struct point_set proposed; /* of the question at hand */
    struct text scratch;
};

struct search_study *search_study_new(int64_t id)
{
    struct search_study *study = ht_xcalloc(1, sizeof *study);
    study->id = id;
    study->arena = arena_new();
    return study;
}

void search_study_free(struct search_study *study)
{
    if (study == NULL)
        return;
    if (study->state != NULL)
        study->algorithm->free(study->state);
    point_set_free(&study->taken);
    point_set_free(&study->proposed);
    text_free(&study->scratch);
    arena_free(study->arena);
    free(study);
}

int64_t search_study_id(const struct search_study *study)
{
    return study->id;
}

/* The space, the metrics and the seed of a study never change. */
static enum ht_status begin(struct search_study *study, struct db *db,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status =
        db_study_get(db, study->arena, study->id, &row, err);
    if (status == HT_OK)
        status = job_parse(study->arena, row.spec, &study->job, err);
    if (status != HT_OK)
        return status;
    study->algorithm = search_method(study->job);
    return study->algorithm->new (&study->job->space, (uint64_t)row.seed,
                                  &study->state, err);
}

static enum ht_status observe(struct search_study *study, struct arena *arena,
                              const struct trial_row *trial,
                              struct ht_error *err)
{
    struct value *point =
        arena_alloc(arena, study->job->space.n + 1, sizeof *point);
    const enum ht_status status =
        point_parse(&study->job->space, trial->params, point, err);
    if (status != HT_OK)
        return status;
    const bool maximize =
        study->job->n_metrics == 0 || study->job->metrics[0].maximize;
    const struct observation seen = {.point = point,
                                     .feasible = trial->has_objective,
                                     .objective = maximize ? trial->objective
                                                           : -trial->objective};
    return study->algorithm->observe(study->state, &seen, err);
}

static bool is_result(const struct event_row *event)
{
    static const enum trial_state results[] = {TRIAL_SUCCEEDED, TRIAL_STOPPED,
                                               TRIAL_FAILED, TRIAL_INFEASIBLE};
    if (strcmp(event->kind, "trial.moved") != 0)
        return false;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(event->to, trial_state_name(results[i])) == 0)
            return true;
    return false;
}

static enum ht_status take_in(struct search_study *study, struct db *db,
                              struct arena *arena,
                              const struct event_row *event,
                              struct ht_error *err)
{
    const bool created = strcmp(event->kind, "trial.created") == 0;
    if (!created && !is_result(event))
        return HT_OK;
    struct trial_row trial;
    const enum ht_status status =
        db_trial_get(db, arena, study->id, event->trial, &trial, err);
    if (status != HT_OK)
        return status;
    if (!created)
        return observe(study, arena, &trial, err);
    point_set_add(&study->taken, trial.params);
    return HT_OK;
}

enum ht_status search_study_catch_up(struct search_study *study, struct db *db,
                                     struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (study->job == NULL)
        status = begin(study, db, err);
    struct arena *arena = arena_new();
    struct event_list page = {.n = PAGE};
    while (status == HT_OK && page.n == PAGE) {
        arena_reset(arena);
        status = db_event_list(db, arena, study->id, study->revision, PAGE,
                               &page, err);
        for (size_t i = 0; status == HT_OK && i < page.n; i++) {
            status = take_in(study, db, arena, &page.rows[i], err);
            study->revision = page.rows[i].revision;
        }
    }
    arena_free(arena);
    return status;
}

static bool is_taken(void *context, const struct value point[])
{
    struct search_study *study = context;
    text_clear(&study->scratch);
    point_text(&study->job->space, point, &study->scratch);
    return point_set_has(&study->taken, study->scratch.data) ||
           point_set_has(&study->proposed, study->scratch.data);
}

enum ht_status search_study_suggest(struct search_study *study, int64_t ordinal,
                                    size_t n, struct arena *arena,
                                    struct suggestions *found,
                                    struct ht_error *err)
{
    const struct space *space = &study->job->space;
    struct value *point = arena_alloc(arena, space->n + 1, sizeof *point);
    struct suggestions made = {.study = study->id};
    made.points = arena_alloc(arena, n, sizeof *made.points);
    point_set_clear(&study->proposed);
    while (made.n < n && !made.exhausted) {
        const struct taken taken = {.has = is_taken,
                                    .context = study,
                                    .n = study->taken.n + study->proposed.n};
        const struct suggest_request request = {
            .ordinal = (uint64_t)ordinal + made.n, .taken = &taken};
        const enum ht_status status =
            study->algorithm->suggest(study->state, &request, point, err);
        made.exhausted = status == HT_EXHAUSTED;
        if (status != HT_OK && !made.exhausted)
            return status;
        if (made.exhausted)
            continue;
        text_clear(&study->scratch);
        point_text(space, point, &study->scratch);
        point_set_add(&study->proposed, study->scratch.data);
        made.points[made.n++] = arena_strdup(arena, study->scratch.data);
    }
    *found = made;
    return HT_OK;
}
