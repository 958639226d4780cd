#include "tuner/study_life.h"

#include <stdio.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/limits.h"
#include "tuner/db_write.h"
#include "tuner/memory.h"
#include "tuner/state.h"
#include "tuner/trial.h"

enum {
    RETRY_MS = 1000, /* before something that failed is tried again */
    ERASE_ROWS = 1000,
    ASK_AT_ONCE = 64, /* suggestions in one question to a worker */
    SAVE_USED_MS = 1000 /* running time is written no more often */
};

/* What one settling works on. */
struct settling {
    struct core *core;
    struct arena *arena;
    struct study_row row;
    const struct job *job;
    struct trial_counts counts;
    int64_t used_ms; /* running time up to now */
};

struct ending {
    enum study_state as;
    const char *reason; /* NULL: it goes on */
};

static int64_t open_trials(const struct trial_counts *counts)
{
    return counts->of[TRIAL_PREPARED] + counts->of[TRIAL_REQUESTED] +
           counts->of[TRIAL_ACTIVE] + counts->of[TRIAL_STOPPING];
}

/* --- memory of a study, changed after the commit --- */

struct look_at {
    int64_t study, at_ms;
};

static void apply_look_at(struct core *core, const void *data)
{
    const struct look_at *look = data;
    memory_study(core_memory(core), look->study)->look_at_ms = look->at_ms;
}

static void look_at(struct core *core, int64_t study, int64_t at_ms)
{
    const struct look_at look = {study, at_ms};
    core_defer(core, apply_look_at, &look, sizeof look);
}

static void apply_fresh(struct core *core, const void *data)
{
    const int64_t *study = data;
    memory_study(core_memory(core), *study)->stale = false;
}

static void apply_mark(struct core *core, const void *data)
{
    const struct look_at *look = data;
    memory_study(core_memory(core), look->study)->clock_mark_ms = look->at_ms;
}

struct question {
    int64_t study;
    int64_t ordinal;
    size_t n;
};

static void apply_ask(struct core *core, const void *data)
{
    const struct question *question = data;
    struct memory_study *memory =
        memory_study(core_memory(core), question->study);
    if (memory->asking)
        return;
    memory->asking = true;
    search_ask(core_search(core), question->study, question->ordinal,
               question->n);
}

static void apply_drop(struct core *core, const void *data)
{
    const int64_t *study = data;
    memory_drop_study(core_memory(core), *study);
}

static void apply_deleted(struct core *core, const void *data)
{
    const int64_t *study = data;
    const struct core_options *options = core_options_of(core);
    memory_drop_study(core_memory(core), *study);
    if (options->on_deleted != NULL)
        options->on_deleted(options->context, *study);
}

/* --- running time --- */

/* Only time spent RUNNING counts, on the monotonic clock; what a crash may
 * lose is the part since the last save. */
static enum ht_status count_time(struct settling *now, struct ht_error *err)
{
    struct memory_study *memory =
        memory_study(core_memory(now->core), now->row.id);
    const int64_t at = core_now_ms(now->core);
    const bool counts =
        now->row.state == STUDY_RUNNING && now->job->time_ms > 0;
    const int64_t gained =
        memory->clock_mark_ms > 0 ? at - memory->clock_mark_ms : 0;
    now->used_ms = now->row.used_ms + gained;
    const struct look_at mark = {now->row.id, counts ? at : 0};
    const bool save = gained >= SAVE_USED_MS || (gained > 0 && !counts);
    if (save || (memory->clock_mark_ms > 0) != counts)
        core_defer(now->core, apply_mark, &mark, sizeof mark);
    if (!save)
        return HT_OK;
    return db_study_add_used(core_db(now->core), now->row.id, gained, err);
}

/* --- rules that end a study --- */

static enum ht_status common_failure(struct settling *now, const char **text,
                                     struct ht_error *err)
{
    const char *reason;
    const enum ht_status status = db_trial_common_failure(
        core_db(now->core), now->arena, now->row.id, &reason, err);
    if (status == HT_OK)
        *text = *reason == '\0' ? ""
                                : arena_printf(now->arena,
                                               ": most often '%.200s'", reason);
    return status;
}

static enum ht_status too_many_failed(struct settling *now, struct ending *end,
                                      struct ht_error *err)
{
    const int64_t failed = now->counts.of[TRIAL_FAILED];
    if (now->job->max_failed == 0 || failed <= now->job->max_failed)
        return HT_OK;
    const char *why;
    const enum ht_status status = common_failure(now, &why, err);
    if (status != HT_OK)
        return status;
    *end = (struct ending){
        STUDY_FAILED,
        arena_printf(now->arena, "%lld trials failed, limit %lld%s",
                     (long long)failed, (long long)now->job->max_failed, why)};
    return HT_OK;
}

static bool is_success(const struct settling *now)
{
    return now->counts.of[TRIAL_SUCCEEDED] + now->counts.of[TRIAL_STOPPED] > 0;
}

static enum ht_status target_reached(struct settling *now, struct ending *end,
                                     struct ht_error *err)
{
    if (!now->job->has_target || now->job->n_metrics == 0)
        return HT_OK;
    const struct metric_goal *goal = &now->job->metrics[0];
    struct trial_row best;
    const enum ht_status status =
        db_trial_best(core_db(now->core), now->arena, now->row.id,
                      goal->maximize, &best, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    const bool reached = goal->maximize ? best.objective >= now->job->target
                                        : best.objective <= now->job->target;
    if (!reached)
        return HT_OK;
    char got[TEXT_DOUBLE_BYTES], wanted[TEXT_DOUBLE_BYTES];
    *end = (struct ending){
        STUDY_SUCCEEDED,
        arena_printf(now->arena, "trial %lld reached %s %s, target %s",
                     (long long)best.id, goal->name,
                     text_of_double(got, best.objective),
                     text_of_double(wanted, now->job->target))};
    return HT_OK;
}

/* An end without success names what went wrong instead. */
static enum ht_status planned_end(struct settling *now, const char *reason,
                                  struct ending *end, struct ht_error *err)
{
    if (is_success(now)) {
        *end = (struct ending){STUDY_SUCCEEDED, reason};
        return HT_OK;
    }
    const char *why;
    const enum ht_status status = common_failure(now, &why, err);
    if (status != HT_OK)
        return status;
    *end = (struct ending){
        STUDY_FAILED,
        arena_printf(now->arena, "no trial succeeded%s (%s)", why, reason)};
    return HT_OK;
}

static enum ht_status time_over(struct settling *now, struct ending *end,
                                struct ht_error *err)
{
    if (now->job->time_ms == 0 || now->used_ms < now->job->time_ms)
        return HT_OK;
    char limit[CLOCK_DURATION_BYTES];
    return planned_end(
        now,
        arena_printf(now->arena, "its time of %s is over",
                     clock_duration(limit, now->job->time_ms)),
        end, err);
}

static enum ht_status no_progress(struct settling *now, struct ending *end,
                                  struct ht_error *err)
{
    if (now->job->no_progress == 0 ||
        now->row.stale_trials < now->job->no_progress)
        return HT_OK;
    return planned_end(
        now,
        arena_printf(now->arena, "no progress in the last %lld trials",
                     (long long)now->row.stale_trials),
        end, err);
}

static enum ht_status all_done(struct settling *now, struct ending *end,
                               struct ht_error *err)
{
    const int64_t created = now->row.next_trial - 1;
    if (open_trials(&now->counts) > 0)
        return HT_OK;
    if (created >= now->job->max_trials)
        return planned_end(now,
                           created == 1
                               ? "its trial has ended"
                               : arena_printf(now->arena,
                                              "all %lld trials have ended",
                                              (long long)created),
                           end, err);
    if (!now->row.exhausted)
        return HT_OK;
    return planned_end(
        now,
        arena_printf(now->arena, "all %lld points of the space were tried",
                     (long long)created),
        end, err);
}

/* --- beginning and finishing the end --- */

static enum ht_status end_open_trials(struct core *core, struct arena *arena,
                                      int64_t study, const char *reason,
                                      struct ht_error *err)
{
    struct trial_list open;
    enum ht_status status =
        db_trial_open(core_db(core), arena, study, HT_MAX_PARALLEL, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++)
        status = trial_end(core, &open.rows[i], reason, err);
    return status;
}

enum ht_status study_begin_end(struct core *core, struct arena *arena,
                               struct study_row *row, enum study_state as,
                               const char *reason, struct ht_error *err)
{
    const enum study_state via =
        as == STUDY_CANCELLED ? STUDY_CANCELLING : STUDY_STOPPING;
    row->ends_as = as;
    enum ht_status status = state_move_study(core, row, via, reason, err);
    if (status == HT_OK)
        status = end_open_trials(core, arena, row->id, reason, err);
    return status;
}

/* In STOPPING or CANCELLING: ends once nothing runs any more. */
static enum ht_status finish(struct settling *now, struct ht_error *err)
{
    if (open_trials(&now->counts) > 0)
        return end_open_trials(now->core, now->arena, now->row.id,
                               now->row.reason, err);
    return state_move_study(now->core, &now->row, now->row.ends_as,
                            now->row.reason, err);
}

static enum ht_status find_end(struct settling *now, struct ending *end,
                               struct ht_error *err)
{
    static enum ht_status (*const rules[])(struct settling *, struct ending *,
                                           struct ht_error *) = {
        too_many_failed, target_reached, all_done, time_over, no_progress};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const enum ht_status status = rules[i](now, end, err);
        if (status != HT_OK || end->reason != NULL)
            return status;
    }
    return HT_OK;
}

/* --- wanting trials --- */

static int64_t wanted(const struct settling *now)
{
    if (now->row.state != STUDY_RUNNING || now->row.exhausted)
        return 0;
    const int64_t room = now->job->parallel - open_trials(&now->counts);
    const int64_t left = now->job->max_trials - (now->row.next_trial - 1);
    const int64_t n = room < left ? room : left;
    return n < 0 ? 0 : n;
}

static void ask(struct settling *now)
{
    const int64_t n = wanted(now);
    const struct memory_study *memory =
        memory_study(core_memory(now->core), now->row.id);
    if (n == 0 || memory->asking || memory->ask_after_ms > core_now_ms(now->core))
        return;
    const struct question question = {
        .study = now->row.id,
        .ordinal = now->row.next_trial - 1,
        .n = (size_t)(n < ASK_AT_ONCE ? n : ASK_AT_ONCE)};
    core_defer(now->core, apply_ask, &question, sizeof question);
}

static const char *running_reason(struct settling *now)
{
    const int64_t active =
        now->counts.of[TRIAL_ACTIVE] + now->counts.of[TRIAL_STOPPING];
    const int64_t waiting = now->counts.of[TRIAL_REQUESTED];
    bool any;
    const int64_t slots = memory_slots(core_memory(now->core), &any);
    if (now->row.state == STUDY_PAUSED)
        return active == 0 ? "paused"
                           : arena_printf(now->arena, "paused, %lld still run",
                                          (long long)active);
    if (!any)
        return "no runner is connected";
    if (active + waiting == 0)
        return "the next trials are being chosen";
    if (waiting == 0)
        return arena_printf(now->arena, "%lld of %lld run", (long long)active,
                            (long long)active);
    return arena_printf(now->arena, "%lld of %lld wait: %lld slots",
                        (long long)waiting, (long long)(active + waiting),
                        (long long)slots);
}

/* Kept true on the row without an event: it follows from moves that have one,
 * and from runners coming and going. */
static enum ht_status save_reason(struct settling *now, struct ht_error *err)
{
    const char *reason = running_reason(now);
    const bool starts = now->row.started_ms == 0 &&
                        now->counts.of[TRIAL_ACTIVE] > 0;
    if (!starts && strcmp(reason, now->row.reason) == 0)
        return HT_OK;
    now->row.reason = reason;
    if (starts)
        now->row.started_ms = core_wall_ms(now->core);
    return db_study_save(core_db(now->core), &now->row, err);
}

/* --- settling --- */

static int64_t next_look(const struct settling *now)
{
    const struct memory_study *memory =
        memory_study(core_memory(now->core), now->row.id);
    int64_t next = MEMORY_NEVER;
    if (now->row.state == STUDY_RUNNING && now->job->time_ms > 0)
        next = core_now_ms(now->core) + now->job->time_ms - now->used_ms;
    if (wanted(now) > 0 && memory->ask_after_ms > core_now_ms(now->core) &&
        memory->ask_after_ms < next)
        next = memory->ask_after_ms;
    return next;
}

static enum ht_status go_on(struct settling *now, struct ht_error *err)
{
    struct ending end = {0};
    enum ht_status status = find_end(now, &end, err);
    if (status != HT_OK)
        return status;
    if (end.reason == NULL) {
        ask(now);
        return save_reason(now, err);
    }
    if (open_trials(&now->counts) == 0)
        return state_move_study(now->core, &now->row, end.as, end.reason, err);
    status = study_begin_end(now->core, now->arena, &now->row, end.as,
                             end.reason, err);
    if (status == HT_OK)
        status = db_trial_counts(core_db(now->core), now->row.id, &now->counts,
                                 err);
    /* All of them may have been waiting. */
    if (status == HT_OK && open_trials(&now->counts) == 0)
        status = finish(now, err);
    return status;
}

static enum ht_status erase(struct settling *now, struct ht_error *err)
{
    bool left;
    const enum ht_status status = db_study_erase(
        core_db(now->core), now->row.id, ERASE_ROWS, &left, err);
    if (status != HT_OK)
        return status;
    if (left)
        look_at(now->core, now->row.id, core_now_ms(now->core));
    else
        core_defer(now->core, apply_deleted, &now->row.id,
                   sizeof now->row.id);
    return HT_OK;
}

static enum ht_status settle_open(struct settling *now, struct ht_error *err)
{
    enum ht_status status =
        memory_job(core_memory(now->core), &now->row, &now->job, err);
    if (status == HT_OK)
        status = db_trial_counts(core_db(now->core), now->row.id, &now->counts,
                                 err);
    if (status == HT_OK)
        status = count_time(now, err);
    if (status != HT_OK)
        return status;
    const bool ending = now->row.state == STUDY_STOPPING ||
                        now->row.state == STUDY_CANCELLING;
    status = ending ? finish(now, err) : go_on(now, err);
    if (status == HT_OK)
        look_at(now->core, now->row.id, next_look(now));
    return status;
}

static enum ht_status settle(struct settling *now, int64_t study,
                             struct ht_error *err)
{
    const enum ht_status status = db_study_get(core_db(now->core), now->arena,
                                               study, &now->row, err);
    if (status != HT_OK)
        return status;
    if (now->row.state == STUDY_DELETING)
        return erase(now, err);
    if (study_state_is_final(now->row.state)) {
        core_defer(now->core, apply_drop, &now->row.id, sizeof now->row.id);
        return HT_OK;
    }
    return settle_open(now, err);
}

enum ht_status study_settle(struct core *core, int64_t study,
                            struct ht_error *err)
{
    struct settling now = {.core = core, .arena = arena_new()};
    const enum ht_status status = settle(&now, study, err);
    arena_free(now.arena);
    return status;
}

/* --- suggestions --- */

static enum ht_status create_trial(struct core *core, struct study_row *study,
                                   const char *params, bool *created,
                                   struct ht_error *err)
{
    struct db *db = core_db(core);
    struct trial_row trial = {.study = study->id,
                              .id = study->next_trial,
                              .state = TRIAL_REQUESTED,
                              .params = params,
                              .ordinal = study->next_trial - 1,
                              .reason = "waits for a slot",
                              .created_ms = core_wall_ms(core)};
    enum ht_status status = db_trial_insert(db, &trial, created, err);
    if (status != HT_OK || !*created)
        return status;
    status = db_study_take_trial_id(db, study->id, &trial.id, err);
    if (status == HT_OK)
        status = db_trial_count(db, study->id, TRIAL_REQUESTED, 1, err);
    if (status != HT_OK)
        return status;
    study->next_trial = trial.id + 1;
    struct event_row event = {.study = study->id,
                              .kind = "trial.created",
                              .trial = trial.id,
                              .from = "",
                              .to = trial_state_name(TRIAL_REQUESTED),
                              .reason = trial.reason,
                              .data = params};
    status = state_event(core, &event, err);
    trial.revision = event.revision;
    return status == HT_OK ? db_trial_save(db, &trial, err) : status;
}

static enum ht_status note_exhausted(struct core *core, struct study_row *row,
                                     struct ht_error *err)
{
    row->exhausted = true;
    struct event_row event = {.study = row->id,
                              .kind = "study.changed",
                              .from = "",
                              .to = "",
                              .reason = "every point of the space is taken",
                              .data = ""};
    const enum ht_status status = state_event(core, &event, err);
    return status == HT_OK ? db_study_save(core_db(core), row, err) : status;
}

static enum ht_status accept(struct settling *now,
                             const struct suggestions *found,
                             struct ht_error *err)
{
    struct core *core = now->core;
    size_t used = 0;
    enum ht_status status = HT_OK;
    int64_t room = wanted(now);
    for (; status == HT_OK && used < found->n && room > 0; used++) {
        bool created = false;
        status =
            create_trial(core, &now->row, found->points[used], &created, err);
        room -= created;
    }
    if (status == HT_OK && found->exhausted && used == found->n &&
        now->row.state == STUDY_RUNNING)
        status = note_exhausted(core, &now->row, err);
    core_wake(core);
    core_touch(core, now->row.id);
    return status;
}

static enum ht_status accept_in(struct settling *now,
                                const struct suggestions *found,
                                struct ht_error *err)
{
    enum ht_status status = db_study_get(core_db(now->core), now->arena,
                                         found->study, &now->row, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        status = memory_job(core_memory(now->core), &now->row, &now->job, err);
    if (status == HT_OK)
        status = db_trial_counts(core_db(now->core), found->study, &now->counts,
                                 err);
    return status == HT_OK ? accept(now, found, err) : status;
}

enum ht_status study_accept(struct core *core, const struct suggestions *found,
                            struct ht_error *err)
{
    memory_study(core_memory(core), found->study)->asking = false;
    if (found->failed) {
        study_ask_later(core, found->study);
        return HT_OK;
    }
    struct settling now = {.core = core, .arena = arena_new()};
    const enum ht_status status = accept_in(&now, found, err);
    arena_free(now.arena);
    return status;
}

void study_ask_later(struct core *core, int64_t study)
{
    struct memory_study *memory = memory_study(core_memory(core), study);
    memory->asking = false;
    memory->ask_after_ms = core_now_ms(core) + RETRY_MS;
    memory->look_at_ms = memory->ask_after_ms;
}

/* --- start and tick --- */

enum ht_status study_recover(struct core *core, struct ht_error *err)
{
    static const enum study_state states[] = {STUDY_RUNNING, STUDY_PAUSED,
                                              STUDY_STOPPING, STUDY_CANCELLING,
                                              STUDY_DELETING};
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sizeof states / sizeof *states;
         i++) {
        struct id_list list = {0};
        status = db_study_ids(core_db(core), arena, states[i], &list, err);
        for (size_t j = 0; j < list.n; j++)
            memory_study(core_memory(core), list.ids[j])->look_at_ms =
                core_now_ms(core);
    }
    arena_free(arena);
    return status;
}

static void visit_due(void *context, struct memory_study *study)
{
    struct core *core = context;
    if (!study->stale && study->look_at_ms > core_now_ms(core))
        return;
    /* Settling well sets its own time; this one holds when it fails. */
    look_at(core, study->id, core_now_ms(core) + RETRY_MS);
    core_defer(core, apply_fresh, &study->id, sizeof study->id);
    core_touch(core, study->id);
}

enum ht_status study_tick(struct core *core, struct ht_error *err)
{
    (void)err;
    memory_each_study(core_memory(core), visit_due, core);
    return HT_OK;
}

static void visit_earliest(void *context, struct memory_study *study)
{
    int64_t *next = context;
    const int64_t at_ms = study->stale ? 0 : study->look_at_ms;
    if (at_ms < *next)
        *next = at_ms;
}

int64_t study_deadline(struct core *core)
{
    int64_t next = MEMORY_NEVER;
    memory_each_study(core_memory(core), visit_earliest, &next);
    return next;
}
