#include "tuner/search/study.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tuner/ask/trial_context.h"
#include "tuner/core/live.h"
#include "tuner/db/specs.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/method.h"
#include "tuner/search/points.h"
#include "tuner/search/reason_json.h"
#include "tuner/search/trial_event.h"
#include "tuner/search/trial_result.h"
#include "tuner/search/warm_start.h"

enum { PAGE = 500 }; /* events read at a time */

struct search_study {
    int64_t id;
    char *asked;                    /* owned, see asked_space.h; or NULL */
    const struct algorithm *chosen; /* NULL: the job's */
    struct arena *arena;            /* the job, results of earlier studies */
    struct job *job;                /* NULL: nothing read yet */
    const struct algorithm *algorithm;
    void *state;
    struct warm_start_knowledge known; /* of earlier studies */
    struct constraint_set constraints; /* of the job */
    int64_t revision;                  /* newest event that is in here */
    int64_t until;                     /* newest event that may be */
    int64_t edited;       /* newest change of what is searched; 0: none */
    bool lost;            /* data of an earlier moment is missing */
    int64_t newest_trial; /* id */
    int64_t max_trials;   /* of the job as it is now */
    int64_t deadline_ms;  /* monotonic, of questions */
    struct points_pending pending;
    struct points_observed observed;
    struct points_taken taken;
    struct points_taken proposed; /* of the current question */
    struct text scratch;
};

/* --- life --- */

struct search_study *search_study_new(int64_t id, const char *asked,
                                      const struct algorithm *algorithm)
{
    struct search_study *study = ht_xcalloc(1, sizeof *study);
    study->id = id;
    study->asked = asked == NULL ? NULL : ht_xstrdup(asked);
    study->chosen = algorithm;
    study->until = study->deadline_ms = INT64_MAX;
    study->arena = arena_new();
    return study;
}

void search_study_free(struct search_study *study)
{
    if (study == NULL)
        return;
    if (study->state != NULL)
        study->algorithm->free(study->state);
    points_pending_clear(&study->pending);
    free(study->observed.trials);
    points_taken_free(&study->taken);
    points_taken_free(&study->proposed);
    text_free(&study->scratch);
    free(study->asked);
    arena_free(study->arena);
    free(study);
}

/* --- the events --- */

/* A point outside can never be suggested, and is not counted. */
static void take_point(struct search_study *study, const struct value point[])
{
    if (!space_has(&study->job->space, point))
        return;
    text_clear(&study->scratch);
    space_point_text(&study->job->space, point, &study->scratch);
    points_taken_add(&study->taken, study->scratch.data);
}

/* Before the first event, results of earlier studies that count as own. */
static enum ht_status take_earlier(struct search_study *study,
                                   struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < study->known.n_own; i++) {
        const struct warm_start_result *result = &study->known.own[i];
        take_point(study, result->seen.point);
        points_observed_add(&study->observed, result->study, result->trial);
        status = study->algorithm->observe(study->state, &result->seen, err);
    }
    return status;
}

/* Parameters, goals and seed of a study never change; ranges, constraints,
 * bounds and noise do, and are those of the moment. */
static enum ht_status begin(struct search_study *study, struct db *db,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status =
        db_spec_then(db, study->arena, study->id, study->until, &row, err);
    if (status == HT_OK)
        status = vertex_parse(study->arena, row.spec, &study->job, err);
    if (status == HT_OK && study->asked != NULL)
        status = asked_space_parse(study->arena, study->job, study->asked,
                                   &study->job, err);
    if (status != HT_OK)
        return status;
    if (study->job->has_seed)
        row.seed = study->job->seed;
    study->max_trials = study->job->max_trials;
    study->algorithm =
        study->chosen != NULL ? study->chosen : search_method(study->job);
    status = constraint_set_parse(
        study->arena, &study->job->space, study->job->constraints.n,
        study->job->constraints.items, &study->constraints, err);
    if (status != HT_OK)
        return status;
    struct setting setting = search_setting(study->job, (uint64_t)row.seed);
    status = warm_start_read(db, study->arena, study->id, study->job,
                             &study->known, err);
    if (status != HT_OK)
        return status;
    setting.n_priors = study->known.n_studies;
    setting.priors = study->known.studies;
    status = study->algorithm->new (&setting, &study->state, err);
    return status == HT_OK ? take_earlier(study, err) : status;
}

/* As if the study were new here. */
static void clear(struct search_study *study)
{
    if (study->state != NULL)
        study->algorithm->free(study->state);
    study->state = NULL;
    study->job = NULL;
    study->known = (struct warm_start_knowledge){0};
    points_pending_clear(&study->pending);
    points_taken_clear(&study->taken);
    study->observed.n = 0;
    study->revision = study->newest_trial = 0;
    study->lost = false;
    arena_reset(study->arena);
}

/* Begins, or begins anew when what is searched has changed. */
static enum ht_status follow_spec(struct search_study *study, struct db *db,
                                  struct ht_error *err)
{
    int64_t edited;
    const enum ht_status status =
        db_spec_changed(db, study->id, study->until, &edited, err);
    if (status != HT_OK || (study->job != NULL && edited == study->edited))
        return status;
    clear(study);
    study->edited = edited;
    return begin(study, db, err);
}

/* As if no event had been read yet. What earlier studies teach stays, which
 * took the longest to learn. */
static enum ht_status forget(struct search_study *study, struct ht_error *err)
{
    study->algorithm->forget(study->state);
    points_pending_clear(&study->pending);
    points_taken_clear(&study->taken);
    study->observed.n = 0;
    study->revision = study->newest_trial = 0;
    study->lost = false;
    return take_earlier(study, err);
}

static enum ht_status read_max_trials(struct search_study *study, struct db *db,
                                      struct arena *arena, struct ht_error *err)
{
    struct study_row row;
    struct job *job;
    enum ht_status status = db_study_get(db, arena, study->id, &row, err);
    if (status == HT_OK)
        status = vertex_parse(arena, row.spec, &job, err);
    if (status == HT_OK)
        study->max_trials = job->max_trials;
    return status;
}

static enum ht_status observe(struct search_study *study,
                              const struct trial_row *trial,
                              const struct value point[], struct ht_error *err)
{
    double values[SETTING_METRICS];
    const struct observation seen =
        trial_result_read(study->job, trial, point, values);
    points_observed_add(&study->observed, NULL, trial->id);
    return study->algorithm->observe(study->state, &seen, err);
}

/* Whether the trial was deleted or taken up again after the event, as far as
 * events may be in here. */
static enum ht_status is_undone(const struct search_study *study, struct db *db,
                                const struct event_row *event, bool *undone,
                                struct ht_error *err)
{
    *undone = true;
    return study->until == INT64_MAX
               ? HT_OK
               : db_trial_undone(db, event, study->until, undone, err);
}

/* A paused trial without a prediction is still pending. */
static enum ht_status count_end(struct search_study *study,
                                const struct trial_row *trial,
                                const struct value point[],
                                struct ht_error *err)
{
    if (trial->state == TRIAL_CANCELLED)
        return HT_OK;
    if (trial->state != TRIAL_PAUSED ||
        trial_result_is_foretold(study->job, trial))
        return observe(study, trial, point, err);
    points_pending_add(&study->pending, trial->id, false, point,
                       study->job->space.n);
    return HT_OK;
}

/* The trial has changed since, which is not to be known yet. Without a result
 * it was the same then, its prediction is in the event; a result is lost. */
static enum ht_status end_as_then(struct search_study *study,
                                  const struct event_row *event,
                                  const struct trial_row *trial,
                                  const struct value point[],
                                  struct ht_error *err)
{
    const bool paused =
        trial_event_went_to(event, TRIAL_PAUSED) && event->data[0] != '\0';
    struct trial_row then = *trial;
    if (trial_event_went_to(event, TRIAL_CANCELLED))
        return HT_OK;
    if (!paused && !trial_event_went_to(event, TRIAL_FAILED) &&
        !trial_event_went_to(event, TRIAL_INFEASIBLE)) {
        study->lost = true;
        return HT_OK;
    }
    then.state = paused ? TRIAL_PAUSED : TRIAL_FAILED;
    then.stop = event->data;
    then.has_objective = false;
    then.final_metrics = NULL;
    then.final_step = 0;
    return count_end(study, &then, point, err);
}

/* A result counts while it is its trial's newest move; a cancelled trial has
 * none. */
static enum ht_status end_trial(struct search_study *study, struct db *db,
                                const struct event_row *event,
                                const struct trial_row *trial,
                                const struct value point[],
                                struct ht_error *err)
{
    bool undone = true;
    points_pending_drop(&study->pending, trial->id);
    if (trial->revision == event->revision)
        return count_end(study, trial, point, err);
    const enum ht_status status = is_undone(study, db, event, &undone, err);
    return status == HT_OK && !undone
               ? end_as_then(study, event, trial, point, err)
               : status;
}

static void note_trial(struct search_study *study, int64_t id)
{
    if (study->newest_trial < id)
        study->newest_trial = id;
}

/* The trial's point after the event. An open trial may have got more since, so
 * where a space is asked for, only one that has ended takes its point for good.
 */
static enum ht_status read_point(const struct search_study *study,
                                 const struct event_row *event,
                                 const struct trial_row *trial,
                                 struct value point[], enum asked_fit *fit,
                                 struct ht_error *err)
{
    const struct space *space = &study->job->space;
    const enum trial_change change = trial_event_change(event);
    const bool says =
        change == TRIAL_CHANGE_CREATED || change == TRIAL_CHANGE_DEFINED;
    *fit = ASKED_EQUAL;
    if (study->asked == NULL)
        return space_point_parse(space, trial->params, point, err);
    *fit = asked_space_point(space, says ? event->data : trial->params, point);
    return HT_OK;
}

static enum ht_status change_trial(struct search_study *study, struct db *db,
                                   struct arena *arena,
                                   const struct event_row *event,
                                   struct ht_error *err)
{
    const struct space *space = &study->job->space;
    struct value *point = arena_alloc(arena, space->n + 1, sizeof *point);
    const enum trial_change change = trial_event_change(event);
    struct trial_row trial;
    enum trial_known known;
    enum asked_fit fit;
    enum ht_status status =
        trial_event_find(db, arena, event, study->until, &trial, &known, err);
    if (status != HT_OK || known == TRIAL_IS_GONE)
        return status;
    note_trial(study, event->trial);
    if (known == TRIAL_IS_LOST) {
        study->lost = true; /* until the trial is deleted */
        return HT_OK;
    }
    status = read_point(study, event, &trial, point, &fit, err);
    if (status != HT_OK)
        return status;
    if (change != TRIAL_CHANGE_ENDED || fit == ASKED_OUTSIDE)
        points_pending_drop(&study->pending, trial.id);
    if (fit == ASKED_OUTSIDE)
        return HT_OK;
    const bool whole = fit == ASKED_EQUAL;
    if (whole && (change == TRIAL_CHANGE_ENDED || study->asked == NULL))
        take_point(study, point);
    if (change == TRIAL_CHANGE_ENDED)
        return end_trial(study, db, event, &trial, point, err);
    if (trial.confirms == 0) /* else its point has been believed already */
        points_pending_add(&study->pending, trial.id,
                           whole && study->asked != NULL, point, space->n);
    return HT_OK;
}

/* `forgets` is set when what an earlier transaction read of a trial, one up to
 * `known`, no longer holds: it was deleted, or what counted taken back. */
static enum ht_status take_in(struct search_study *study, struct db *db,
                              const struct event_row *event, int64_t known,
                              bool *forgets, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum trial_change change = trial_event_change(event);
    enum ht_status status = HT_OK;
    if (trial_event_takes_back(event))
        *forgets = *forgets || event->trial <= known;
    if (change != TRIAL_CHANGE_NONE && change != TRIAL_CHANGE_DELETED &&
        (change != TRIAL_CHANGE_DEFINED || study->asked != NULL))
        status = change_trial(study, db, arena, event, err);
    else if (strcmp(event->kind, "study.changed") == 0)
        status = read_max_trials(study, db, arena, err);
    study->revision = event->revision;
    arena_free(arena);
    return status;
}

static enum ht_status read_events(struct search_study *study, struct db *db,
                                  bool *forgets, struct ht_error *err)
{
    const int64_t known = study->newest_trial;
    enum ht_status status = HT_OK;
    struct arena *arena = arena_new();
    struct event_list page = {.n = PAGE};
    bool over = false;
    while (status == HT_OK && page.n == PAGE && !over) {
        arena_reset(arena);
        status = db_event_list(db, arena, study->id, study->revision, PAGE,
                               &page, err);
        for (size_t i = 0; status == HT_OK && i < page.n; i++) {
            over = page.rows[i].revision > study->until;
            if (over)
                break;
            status = take_in(study, db, &page.rows[i], known, forgets, err);
        }
    }
    arena_free(arena);
    return status;
}

enum ht_status search_study_catch_up(struct search_study *study, struct db *db,
                                     struct ht_error *err)
{
    bool forgets = false;
    enum ht_status status = follow_spec(study, db, err);
    if (status == HT_OK)
        status = read_events(study, db, &forgets, err);
    if (status != HT_OK || !forgets)
        return status;
    status = forget(study, err);
    return status == HT_OK ? read_events(study, db, &forgets, err) : status;
}

enum ht_status search_study_go_to(struct search_study *study, struct db *db,
                                  int64_t revision, int64_t max_trials,
                                  bool *faithful, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (study->job != NULL && study->revision > revision)
        status = forget(study, err);
    study->until = revision;
    if (status == HT_OK)
        status = search_study_catch_up(study, db, err);
    if (status != HT_OK)
        return status;
    study->max_trials = max_trials;
    *faithful = !study->lost;
    return HT_OK;
}

/* --- suggestions --- */

void search_study_hurry(struct search_study *study, int64_t deadline_ms)
{
    study->deadline_ms = deadline_ms;
}

/* One question on its way. */
struct suggesting {
    const struct worker_question *question;
    struct trial_context context; /* its own, read */
    const struct value **pending; /* see list_pending() */
    struct suggestions made;
};

static bool is_late(const struct search_study *study)
{
    return study->deadline_ms < INT64_MAX &&
           clock_monotonic_ms() >= study->deadline_ms;
}

static bool is_taken(void *context, const struct value point[])
{
    struct search_study *study = context;
    text_clear(&study->scratch);
    space_point_text(&study->job->space, point, &study->scratch);
    return points_taken_has(&study->taken, study->scratch.data) ||
           points_taken_has(&study->proposed, study->scratch.data) ||
           points_pending_has(&study->pending, &study->job->space, point);
}

/* Open trials first, room for the batch's own behind. */
static const struct value **list_pending(const struct search_study *study,
                                         size_t more, struct arena *arena)
{
    const struct value **pending =
        arena_alloc(arena, study->pending.n + more, sizeof(struct value *));
    for (size_t i = 0; i < study->pending.n; i++)
        pending[i] = study->pending.items[i].point;
    return pending;
}

static const int64_t *list_pending_ids(const struct search_study *study,
                                       struct arena *arena)
{
    int64_t *ids = arena_alloc(arena, study->pending.n + 1, sizeof *ids);
    for (size_t i = 0; i < study->pending.n; i++)
        ids[i] = study->pending.items[i].id;
    return ids;
}

static struct suggestion propose(struct search_study *study,
                                 const struct value point[],
                                 const struct reason *reason,
                                 struct reason_json_origin *origin,
                                 struct arena *arena)
{
    const struct point_observed none = {0};
    const struct point_observed nearest =
        reason->has_nearest ? study->observed.trials[reason->nearest] : none;
    origin->nearest = nearest.id;
    origin->nearest_study = nearest.study;
    text_clear(&study->scratch);
    space_point_text(&study->job->space, point, &study->scratch);
    points_taken_add(&study->proposed, study->scratch.data);
    return (struct suggestion){
        .params = arena_strdup(arena, study->scratch.data),
        .why = reason_json_text(arena, study->job, reason, origin),
        .repeats = reason->kind == REASON_REPEATS};
}

/* One point more; HT_EXHAUSTED when none is left. */
static enum ht_status suggest_next(struct search_study *study,
                                   const struct suggesting *suggesting,
                                   const struct taken *taken,
                                   struct value point[], struct reason *reason,
                                   struct ht_error *err)
{
    const size_t made = suggesting->made.n;
    const struct suggest_request request = {
        .ordinal = (uint64_t)suggesting->question->first + made,
        .taken = taken,
        .constraints = study->constraints.n > 0 ? &study->constraints : NULL,
        .within = suggesting->question->context == NULL
                      ? NULL
                      : &suggesting->context.part,
        .n_pending = study->pending.n + made,
        .pending = suggesting->pending,
        .max_trials = (uint64_t)study->max_trials,
        .may_repeat =
            !suggesting->context.untried && study->job->noise != JOB_NOISE_LOW};
    return study->algorithm->suggest(study->state, &request, point, reason,
                                     err);
}

static bool is_never_taken(void *context, const struct value point[])
{
    (void)context, (void)point;
    return false;
}

/* Whether the constraints leave nothing, tried or not, of what was asked for.
 */
static bool is_barren(struct search_study *study,
                      const struct suggesting *suggesting, struct value point[])
{
    static const struct taken none = {.has = is_never_taken};
    struct reason reason;
    return suggesting->made.n == 0 && study->constraints.n > 0 &&
           suggest_next(study, suggesting, &none, point, &reason, NULL) ==
               HT_EXHAUSTED;
}

static enum ht_status suggest_all(struct search_study *study,
                                  struct suggesting *suggesting,
                                  struct arena *arena, struct ht_error *err)
{
    const struct worker_question *question = suggesting->question;
    struct suggestions *made = &suggesting->made;
    struct reason_json_origin origin = {.revision = study->revision,
                                        .max_trials = study->max_trials,
                                        .context = question->context,
                                        .n_pending = study->pending.n,
                                        .pending =
                                            list_pending_ids(study, arena),
                                        .earlier = &study->known.list};
    while (made->n < question->n && (made->n == 0 || !is_late(study))) {
        struct value *point =
            arena_alloc(arena, study->job->space.n + 1, sizeof *point);
        struct reason reason;
        struct ht_error fault;
        const struct taken taken = {.has = is_taken,
                                    .context = study,
                                    .n = study->taken.n + study->proposed.n};
        const enum ht_status status =
            suggest_next(study, suggesting, &taken, point, &reason, &fault);
        if (status == HT_EXHAUSTED) {
            made->exhausted = true;
            made->barren = is_barren(study, suggesting, point);
            break;
        }
        if (status != HT_OK)
            return ht_fail(err, status, "%s", fault.text);
        suggesting->pending[study->pending.n + made->n] = point;
        origin.ordinal = question->first + (int64_t)made->n;
        origin.batch = (int64_t)made->n;
        made->items[made->n++] = propose(study, point, &reason, &origin, arena);
    }
    return HT_OK;
}

enum ht_status search_study_suggest(struct search_study *study,
                                    const struct worker_question *question,
                                    struct arena *arena,
                                    struct suggestions *found,
                                    struct ht_error *err)
{
    struct suggesting suggesting = {.question = question,
                                    .pending =
                                        list_pending(study, question->n, arena),
                                    .made = {.study = study->id,
                                             .revision = study->revision,
                                             .context = question->context}};
    enum ht_status status = HT_OK;
    suggesting.made.items =
        arena_alloc(arena, question->n, sizeof *suggesting.made.items);
    points_taken_clear(&study->proposed);
    if (question->context != NULL)
        status =
            trial_context_parse(arena, &study->job->space, question->context,
                                &suggesting.context, err);
    if (status == HT_OK)
        status = suggest_all(study, &suggesting, arena, err);
    if (status == HT_OK)
        *found = suggesting.made;
    return status;
}
