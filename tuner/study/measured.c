#include "tuner/study/measured.h"

#include <stdio.h>
#include <string.h>

#include "tuner/core/live.h"
#include "tuner/db/db.h"
#include "tuner/study/move.h"

enum { MEASURED_MS = 1000 }; /* between two trial.measured events of a trial */

struct measured {
    int64_t study, trial, at_ms;
    bool due;
    char by[LIVE_ACTOR_BYTES];
};

static void apply_measured(struct core *core, const void *data)
{
    const struct measured *measured = data;
    struct live_trial *live =
        live_trial(core_live(core), measured->study, measured->trial);
    live->measured_at_ms = measured->at_ms;
    live->measured_due = measured->due;
    memcpy(live->measured_by, measured->by, sizeof measured->by);
}

static void defer_measured(struct core *core, const struct trial_row *trial,
                           int64_t at_ms, bool due)
{
    struct measured measured = {trial->study, trial->id, at_ms, due, ""};
    snprintf(measured.by, sizeof measured.by, "%s", core_actor(core));
    core_defer(core, apply_measured, &measured, sizeof measured);
}

static enum ht_status write_measured(struct core *core,
                                     const struct trial_row *trial,
                                     struct ht_error *err)
{
    struct event_row event = {.study = trial->study,
                              .kind = "trial.measured",
                              .trial = trial->id,
                              .attempt = trial->attempt,
                              .from = "",
                              .to = "",
                              .reason = "",
                              .data = "",
                              .record = trial->latest};
    const enum ht_status status = move_event(core, &event, err);
    if (status != HT_OK)
        return status;
    defer_measured(core, trial, core_now_ms(core), false);
    return HT_OK;
}

enum ht_status measured_note(struct core *core, const struct trial_row *trial,
                             struct ht_error *err)
{
    const struct live_trial *live =
        live_find_trial(core_live(core), trial->study, trial->id);
    const int64_t last = live == NULL ? 0 : live->measured_at_ms;
    if (last == 0 || core_now_ms(core) - last >= MEASURED_MS)
        return write_measured(core, trial, err);
    defer_measured(core, trial, last, true);
    return HT_OK;
}

struct due_trials {
    struct core *core;
    struct arena *arena;
    enum ht_status status;
    struct ht_error *err;
};

static void visit_due(void *context, struct live_trial *live)
{
    struct due_trials *due = context;
    if (!live->measured_due || due->status != HT_OK ||
        core_now_ms(due->core) - live->measured_at_ms < MEASURED_MS)
        return;
    struct trial_row trial = {0};
    due->status = db_trial_get(core_db(due->core), due->arena, live->study,
                               live->trial, &trial, due->err);
    if (due->status == HT_OK && trial.latest.replica != NULL) {
        core_act_for(due->core, live->measured_by);
        due->status = write_measured(due->core, &trial, due->err);
        return;
    }
    /* Deleted, or started anew since. */
    live->measured_due = false;
    if (due->status == HT_NOT_FOUND)
        due->status = HT_OK;
}

enum ht_status measured_tick(struct core *core, struct ht_error *err)
{
    struct due_trials due = {core, arena_new(), HT_OK, err};
    live_each_trial(core_live(core), visit_due, &due);
    arena_free(due.arena);
    return due.status;
}

static void visit_earliest(void *context, struct live_trial *live)
{
    int64_t *next = context;
    if (live->measured_due && live->measured_at_ms + MEASURED_MS < *next)
        *next = live->measured_at_ms + MEASURED_MS;
}

int64_t measured_deadline(struct core *core)
{
    int64_t next = LIVE_NEVER;
    live_each_trial(core_live(core), visit_earliest, &next);
    return next;
}
