#include "tuner/study/trial_create.h"

#include "proto/base/limits.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/suggestion_stock.h"

static enum ht_status insert(struct core *core, const struct study_row *study,
                             struct trial_row *trial, bool *created,
                             struct ht_error *err)
{
    struct db *db = core_db(core);
    enum ht_status status = HT_OK;
    if (trial->replicate == TRIAL_AGAIN)
        status = db_trial_next_replicate(db, study->id, trial->params,
                                         &trial->replicate, err);
    return status == HT_OK ? db_trial_insert(db, trial, created, err) : status;
}

static enum ht_status tell(struct core *core, struct trial_row *trial,
                           struct ht_error *err)
{
    struct event_row event = {.study = trial->study,
                              .kind = "trial.created",
                              .trial = trial->id,
                              .from = "",
                              .to = db_trial_state_name(trial->state),
                              .reason = trial->reason,
                              .data = trial->params};
    const enum ht_status status = move_event(core, &event, err);
    trial->revision = event.revision;
    return status;
}

/* The study's next id, or the one that the trial has; those between are
 * nobody's. */
static enum ht_status find_id(struct db *db, struct study_row *study,
                              struct trial_row *trial, struct ht_error *err)
{
    if (trial->id != 0 && trial->id < study->next_trial)
        return ht_fail(err, HT_CONFLICT, "trial %lld is not behind trial %lld",
                       (long long)trial->id, (long long)study->next_trial - 1);
    if (trial->id > study->next_trial) {
        study->next_trial = trial->id;
        return db_study_skip_trial_ids(db, study->id, trial->id, err);
    }
    trial->id = study->next_trial;
    return HT_OK;
}

enum ht_status trial_create(struct core *core, struct study_row *study,
                            struct trial_row *trial, bool *created,
                            struct ht_error *err)
{
    struct db *db = core_db(core);
    if (study->next_trial > HT_MAX_TRIALS)
        return ht_fail(err, HT_LIMIT, "study %.128s has %d trials, no more fit",
                       study->name, HT_MAX_TRIALS);
    enum ht_status status = find_id(db, study, trial, err);
    if (status != HT_OK)
        return status;
    trial->study = study->id;
    trial->ordinal = db_study_trials_made(study);
    trial->final_elapsed_ms = -1;
    if (trial->created_ms == 0)
        trial->created_ms = core_wall_ms(core);
    trial->started_ms = trial->state == TRIAL_ACTIVE ? trial->created_ms : 0;
    status = insert(core, study, trial, created, err);
    if (status != HT_OK || !*created)
        return status;
    status = db_study_take_trial_id(db, study->id, trial->confirms != 0,
                                    &trial->id, err);
    if (status == HT_OK)
        status = db_trial_count(db, trial, trial->state, 1, err);
    if (status == HT_OK)
        status = tell(core, trial, err);
    if (status != HT_OK)
        return status;
    if (trial->chosen_by_person)
        suggestion_stock_outdate(core, study->id);
    study->next_trial = trial->id + 1;
    study->confirmations += trial->confirms != 0;
    core_touch(core, study->id);
    return db_trial_save(db, trial, err);
}
