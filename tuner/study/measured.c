#include "tuner/study/measured.h"

#include <stdio.h>
#include <string.h>

#include "tuner/core/core.h"
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

static enum ht_status write_due(struct core *core, struct arena *arena,
                                struct live_trial *live, struct ht_error *err)
{
    struct trial_row trial = {0};
    const enum ht_status status = db_trial_get(
        core_db(core), arena, live->study, live->trial, &trial, err);
    if (status == HT_OK && trial.latest.replica != NULL) {
        core_act_for(core, live->measured_by);
        return write_measured(core, &trial, err);
    }
    /* Deleted, or started again since. */
    live->measured_due = false;
    return status == HT_NOT_FOUND ? HT_OK : status;
}

enum ht_status measured_tick(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    struct live_trial *live = NULL;
    while (status == HT_OK &&
           (live = live_next_trial(core_live(core), live)) != NULL)
        if (live->measured_due &&
            core_now_ms(core) - live->measured_at_ms >= MEASURED_MS)
            status = write_due(core, arena, live, err);
    arena_free(arena);
    return status;
}

int64_t measured_deadline(struct core *core)
{
    int64_t next = LIVE_NEVER;
    const struct live_trial *live = NULL;
    while ((live = live_next_trial(core_live(core), live)) != NULL)
        if (live->measured_due && live->measured_at_ms + MEASURED_MS < next)
            next = live->measured_at_ms + MEASURED_MS;
    return next;
}
