#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/end_rules.h"
#include "tuner/study/move.h"
#include "tuner/study/settle.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"

static enum ht_status create_trial(struct core *core, struct study_row *study,
                                   const struct suggestion *suggestion,
                                   bool *created, struct ht_error *err)
{
    struct trial_row trial = {.state = TRIAL_REQUESTED,
                              .params = suggestion->params,
                              .replicate =
                                  suggestion->repeats ? TRIAL_AGAIN : 0,
                              .why = suggestion->why,
                              .reason = "waits for a slot",
                              .client = ""};
    return trial_create(core, study, &trial, created, err);
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
    const enum ht_status status = move_event(core, &event, err);
    return status == HT_OK ? db_study_save(core_db(core), row, err) : status;
}

static enum ht_status make_trials(struct settling *settling,
                                  const struct suggestions *found, size_t *used,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    int64_t room = study_wanted(settling);
    for (; status == HT_OK && *used < found->n && room > 0; ++*used) {
        bool created = false;
        status = create_trial(settling->core, &settling->row,
                              &found->items[*used], &created, err);
        room -= created;
    }
    return status;
}

static enum ht_status accept(struct settling *settling,
                             const struct suggestions *found,
                             struct ht_error *err)
{
    struct core *core = settling->core;
    size_t used = 0;
    enum ht_status status = HT_OK;
    if (settling->row.kind == JOB_STUDY || found->context != NULL)
        suggestion_stock_put(core, found);
    else
        status = make_trials(settling, found, &used, err);
    if (status == HT_OK && found->exhausted && found->context == NULL &&
        used == found->n && settling->row.state == STUDY_RUNNING)
        status = note_exhausted(core, &settling->row, err);
    core_wake(core, CORE_ALL_HELD, settling->row.id);
    core_touch(core, settling->row.id);
    return status;
}

static enum ht_status accept_in(struct settling *settling,
                                const struct suggestions *found,
                                struct ht_error *err)
{
    enum ht_status status =
        db_study_get(core_db(settling->core), settling->arena, found->study,
                     &settling->row, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        status = live_job(core_memory(settling->core), &settling->row,
                          &settling->job, err);
    if (status == HT_OK)
        status = db_trial_counts(core_db(settling->core), found->study,
                                 &settling->counts, err);
    return status == HT_OK ? accept(settling, found, err) : status;
}

/* Never fails because the study has moved on. */
static enum ht_status store(struct core *core, const void *answer,
                            struct ht_error *err)
{
    const struct suggestions *found = answer;
    struct live_study *memory = live_study(core_memory(core), found->study);
    memory->asking = false;
    memory->ask_after_ms = 0;
    if (found->failed) {
        study_ask_later(core, found->study);
        core_wake(core, CORE_CLIENTS, found->study);
        return HT_OK;
    }
    struct settling settling = {.core = core, .arena = arena_new()};
    const enum ht_status status = accept_in(&settling, found, err);
    arena_free(settling.arena);
    return status;
}

static void give_up(struct core *core, const void *answer)
{
    const struct suggestions *found = answer;
    study_ask_later(core, found->study);
}

const struct worker_receiver suggestions_found_receiver = {store, give_up};
