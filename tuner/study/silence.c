#include "tuner/study/silence.h"

#include <stdlib.h>

#include "proto/base/clock.h"
#include "tuner/base/life_board.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/db/silence.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/report_batch.h"

enum {
    LEAST_MS = 60000,  /* of a silence that no spec asks for */
    LEAST_REPORTS = 4, /* that a median is taken from */
    MEDIANS = 5,       /* so many of them are silence */
    LONGESTS = 2,      /* a pause that it has survived is no silence */
    SILENT_MS = 2000,  /* until a silent one is looked at again: what it prints
                          does not wake the core */
    LATE_MS = 5000     /* a look that comes so late was held up, as were
                          reports: they get as much time to arrive */
};

static struct life_board *board_of(struct core *core)
{
    return core_part(core, CORE_SILENCE);
}

/* --- signs of life --- */

static void apply_watch(struct core *core, const void *data)
{
    const struct life *life = data;
    life_board_set(board_of(core), life);
}

void silence_watch(struct core *core, const struct attempt_row *attempt)
{
    const int64_t now_ms = core_now_ms(core);
    /* Due at once: the first look says when it may be silent. */
    const struct life life = {.study = attempt->study,
                              .trial = attempt->trial,
                              .attempt = attempt->n,
                              .heard_ms = now_ms,
                              .due_ms = now_ms};
    core_defer(core, apply_watch, &life, sizeof life);
}

void silence_end(struct core *core, const struct attempt_row *attempt)
{
    life_board_note(board_of(core), attempt->study, attempt->trial, attempt->n,
                    core_now_ms(core));
}

void silence_end_printed(struct core *core, int64_t study, int64_t trial,
                         int64_t attempt)
{
    life_board_note(board_of(core), study, trial, attempt,
                    clock_monotonic_ms());
}

/* --- how long it may be silent --- */

static int compare(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Of n >= 1 times that become the times between them; sorted. */
static size_t sort_intervals(const struct report_times *times)
{
    const size_t n = times->n - 1;
    for (size_t i = 0; i < n; i++)
        times->items[i] -= times->items[i + 1];
    qsort(times->items, n, sizeof *times->items, compare);
    return n;
}

/* *limit_ms: how long it may be silent, 0: as long as it likes. *usual_ms: the
 * median between its reports, 0: not known. */
static enum ht_status find_limit(struct core *core, struct arena *arena,
                                 const struct job *job,
                                 struct attempt_row *attempt, int64_t *limit_ms,
                                 struct ht_error *err)
{
    struct report_times times;
    const enum ht_status status =
        db_silence_reports(core_db(core), arena, attempt,
                           report_batch_master(arena, job), &times, err);
    *limit_ms = job->silence_ms;
    attempt->usual_ms = 0;
    if (status != HT_OK || times.n < LEAST_REPORTS)
        return status;
    const size_t n = sort_intervals(&times);
    const int64_t longest_ms = times.items[n - 1];
    attempt->usual_ms = times.items[n / 2];
    if (job->silence_ms > 0)
        return HT_OK;
    *limit_ms = LEAST_MS;
    if (*limit_ms < MEDIANS * attempt->usual_ms)
        *limit_ms = MEDIANS * attempt->usual_ms;
    if (*limit_ms < LONGESTS * longest_ms)
        *limit_ms = LONGESTS * longest_ms;
    return HT_OK;
}

/* --- one look --- */

struct look {
    struct core *core;
    struct arena *arena;
    struct life life;
    const struct job *job;
    struct trial_row trial;
    struct attempt_row attempt;
};

const char *silence_words(struct arena *arena,
                          const struct attempt_row *attempt, int64_t wall_ms)
{
    char span[CLOCK_DURATION_BYTES], usual[CLOCK_DURATION_BYTES];
    if (attempt->silent_ms <= 0 || attempt->state != ATTEMPT_RUNNING)
        return NULL;
    clock_duration(span, wall_ms - attempt->silent_ms);
    return attempt->usual_ms > 0
               ? arena_printf(arena, "silent for %s, usually reports every %s",
                              span, clock_duration(usual, attempt->usual_ms))
               : arena_printf(arena, "silent for %s", span);
}

static enum ht_status save(struct look *look, const char *kind,
                           const char *reason, struct ht_error *err)
{
    struct event_row event = {.study = look->attempt.study,
                              .kind = kind,
                              .trial = look->attempt.trial,
                              .attempt = look->attempt.n,
                              .reason = reason};
    const enum ht_status status = move_event(look->core, &event, err);
    return status == HT_OK
               ? db_silence_set(core_db(look->core), &look->attempt, err)
               : status;
}

static enum ht_status begin_silence(struct look *look, struct ht_error *err)
{
    struct attempt_row *attempt = &look->attempt;
    const char *kind =
        attempt->silent_ms == 0 ? "trial.silent" : "trial.changed";
    attempt->silent_ms = core_wall_ms(look->core) -
                         (core_now_ms(look->core) - look->life.heard_ms);
    const char *words =
        silence_words(look->arena, attempt, core_wall_ms(look->core));
    if (look->job->on_silence == SILENCE_STOP) {
        attempt->hung = true;
        attempt->reason = reason_make(look->arena, "%s", words);
        core_wake(look->core, CORE_POLLS, 0);
    }
    return save(look, kind, words, err);
}

static enum ht_status end_silence(struct look *look, struct ht_error *err)
{
    look->attempt.silent_ms = -1;
    return save(look, "trial.changed", "no longer silent", err);
}

/* Whether time counts as silence now. */
static enum ht_status is_awaited(struct look *look, bool *is,
                                 struct ht_error *err)
{
    struct study_row study;
    const enum ht_status status = db_study_get(core_db(look->core), look->arena,
                                               look->life.study, &study, err);
    if (status == HT_OK)
        *is = study.state == STUDY_RUNNING && look->trial.state == TRIAL_ACTIVE;
    return status;
}

/* Judges an attempt that runs, and sets when it is due again. */
static enum ht_status judge(struct look *look, struct ht_error *err)
{
    const int64_t now_ms = core_now_ms(look->core);
    const int64_t least_ms =
        look->job->silence_ms > 0 ? look->job->silence_ms : LEAST_MS;
    bool awaited = false;
    int64_t limit_ms = least_ms;
    enum ht_status status = is_awaited(look, &awaited, err);
    if (status == HT_OK && !awaited)
        look->life.heard_ms = now_ms;
    /* It stays silent: its reports, which may be many, are the same. */
    if (status == HT_OK && look->life.silent && look->attempt.silent_ms > 0 &&
        now_ms - look->life.heard_ms >= least_ms) {
        look->life.due_ms = now_ms + SILENT_MS;
        return HT_OK;
    }
    if (status == HT_OK && now_ms - look->life.heard_ms >= least_ms)
        status = find_limit(look->core, look->arena, look->job, &look->attempt,
                            &limit_ms, err);
    if (status != HT_OK)
        return status;
    const bool was = look->attempt.silent_ms > 0;
    const bool is = limit_ms > 0 && now_ms - look->life.heard_ms >= limit_ms;
    look->life.silent = is;
    look->life.due_ms = is              ? now_ms + SILENT_MS
                        : limit_ms == 0 ? now_ms + LEAST_MS
                                        : look->life.heard_ms + limit_ms;
    if (look->life.due_ms > now_ms + LEAST_MS) /* it may have ended by then */
        look->life.due_ms = now_ms + LEAST_MS;
    if (is == was || (is && look->attempt.hung))
        return HT_OK;
    return is ? begin_silence(look, err) : end_silence(look, err);
}

static void apply_drop(struct core *core, const void *data)
{
    const struct life *life = data;
    life_board_drop(board_of(core), life->study, life->trial);
}

static enum ht_status read(struct look *look, bool *runs, struct ht_error *err)
{
    const struct life *life = &look->life;
    const struct trial_name name = {life->study, life->trial, life->attempt};
    struct db *db = core_db(look->core);
    enum ht_status status =
        db_attempt_get(db, look->arena, &name, &look->attempt, err);
    if (status == HT_OK)
        status = db_trial_get(db, look->arena, life->study, life->trial,
                              &look->trial, err);
    if (status == HT_OK)
        status = core_job(look->core, life->study, &look->job, err);
    *runs = status == HT_OK && look->attempt.state == ATTEMPT_RUNNING &&
            look->trial.attempt == life->attempt;
    return status == HT_NOT_FOUND ? HT_OK : status; /* deleted since */
}

static enum ht_status look_at(struct look *look, struct ht_error *err)
{
    bool runs;
    const int64_t now_ms = core_now_ms(look->core);
    const bool late =
        look->life.due_ms > 0 && now_ms - look->life.due_ms >= LATE_MS;
    enum ht_status status = read(look, &runs, err);
    if (status != HT_OK)
        return status;
    if (!runs) {
        core_defer(look->core, apply_drop, &look->life, sizeof look->life);
        return HT_OK;
    }
    if (late)
        look->life.due_ms = now_ms + LATE_MS;
    else
        status = judge(look, err);
    if (status == HT_OK)
        core_defer(look->core, apply_watch, &look->life, sizeof look->life);
    return status;
}

/* --- the part of the core --- */

/* One attempt a tick: what it changes belongs to one savepoint, and the core
 * ticks again at once while others are due. */
enum ht_status silence_tick(struct core *core, struct ht_error *err)
{
    struct look look = {.core = core};
    if (!life_board_due(board_of(core), core_now_ms(core), &look.life))
        return HT_OK;
    look.arena = arena_new();
    const enum ht_status status = look_at(&look, err);
    arena_free(look.arena);
    if (status != HT_OK) { /* not at once again */
        look.life.due_ms = core_now_ms(core) + LEAST_MS;
        life_board_set(board_of(core), &look.life);
    }
    return status;
}

int64_t silence_deadline(struct core *core)
{
    return life_board_deadline(board_of(core));
}

enum ht_status silence_start(struct core *core, void **data,
                             struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct attempt_list list = {0};
    struct life_board *board = life_board_new();
    const int64_t now_ms = core_now_ms(core);
    const enum ht_status status =
        db_silence_running(core_db(core), arena, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        const struct attempt_row *row = &list.rows[i];
        const bool silent = row->silent_ms > 0;
        const int64_t ago_ms = silent ? core_wall_ms(core) - row->silent_ms : 0;
        life_board_set(board, &(struct life){.study = row->study,
                                             .trial = row->trial,
                                             .attempt = row->n,
                                             .heard_ms = now_ms - ago_ms,
                                             .due_ms = now_ms,
                                             .silent = silent});
    }
    arena_free(arena);
    *data = board;
    return status;
}

void silence_stop(void *data)
{
    life_board_free(data);
}
