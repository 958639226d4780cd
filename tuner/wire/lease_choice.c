/* lease_choice.c - which trial a runner gets next. */
#include "tuner/wire/lease_poll.h"

#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/checkpoints.h"
#include "tuner/study/common_file.h"
#include "tuner/study/elastic.h"

static bool backs_off(struct core *core, const struct trial_row *trial)
{
    const struct live_trial *live =
        live_find_trial(core_live(core), trial->study, trial->id);
    return live != NULL && live->retry_at_ms > core_now_ms(core);
}

enum ht_status lease_find_job(struct lease_poll *poll, int64_t id,
                              struct study_row *study, const struct job **job,
                              struct ht_error *err)
{
    const enum ht_status status =
        db_study_get(poll->db, poll->arena, id, study, err);
    return status == HT_OK ? live_job(core_live(poll->core), study, job, err)
                           : status;
}

/* Whether a trial that continues from a rung has its checkpoint only at another
 * runner that is online: it could not be sent. */
static enum ht_status is_at_home_elsewhere(struct lease_poll *poll,
                                           const struct trial_row *trial,
                                           bool *elsewhere,
                                           struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    struct checkpoint_place place;
    *elsewhere = trial->rungs_passed > 0 && trial->attempt > 0;
    if (!*elsewhere)
        return HT_OK;
    enum ht_status status =
        lease_find_job(poll, trial->study, &study, &job, err);
    if (status == HT_OK)
        status =
            checkpoints_find(poll->core, poll->arena, trial, job, &place, err);
    if (status != HT_OK)
        return status;
    const struct live_runner *home =
        live_find_runner(core_live(poll->core), place.home);
    *elsewhere = !place.travels && home != NULL && home != poll->runner &&
                 home->online && home->drain == RUNNER_SERVES;
    return HT_OK;
}

enum ht_status lease_next_of_study(struct lease_poll *poll, int64_t study,
                                   const struct lease_fresh *fresh,
                                   struct trial_row *trial, bool *found,
                                   struct ht_error *err)
{
    int64_t after = 0;
    struct trial_list page = {.n = DB_WAITING_PAGE};
    *found = false;
    while (page.n == DB_WAITING_PAGE) {
        enum ht_status status =
            db_trial_waiting(poll->db, poll->arena, study, after, &page, err);
        if (status != HT_OK)
            return status;
        for (size_t i = 0; i < page.n; i++) {
            after = page.rows[i].id;
            bool elsewhere;
            if (backs_off(poll->core, &page.rows[i]) ||
                (fresh != NULL &&
                 !elastic_is_fresh(poll->core, fresh->counts, &page.rows[i],
                                   fresh->owed)))
                continue;
            status = is_at_home_elsewhere(poll, &page.rows[i], &elsewhere, err);
            if (status != HT_OK)
                return status;
            if (elsewhere)
                continue;
            *trial = page.rows[i];
            *found = true;
            return HT_OK;
        }
    }
    return HT_OK;
}

enum ht_status lease_startable(struct lease_poll *poll,
                               const struct study_row *study,
                               const struct job *job,
                               struct trial_counts *counts, int64_t *n,
                               struct ht_error *err)
{
    bool is_free = false;
    enum ht_status status = db_trial_counts(poll->db, study->id, counts, err);
    if (status == HT_OK)
        status = common_file_is_free(poll->core, study->id, job, &is_free, err);
    if (status != HT_OK)
        return status;
    const int64_t waiting = trial_counts_all(counts, TRIAL_REQUESTED);
    const int64_t room = job->parallel -
                         trial_counts_all(counts, TRIAL_ACTIVE) -
                         trial_counts_all(counts, TRIAL_STOPPING);
    *n = waiting < room ? waiting : room;
    if (!is_free || *n < 0)
        *n = 0;
    return HT_OK;
}

static enum ht_status add_study(struct lease_poll *poll, int64_t id,
                                struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    struct trial_counts counts;
    int64_t startable;
    enum ht_status status = lease_find_job(poll, id, &study, &job, err);
    if (status == HT_OK)
        status = lease_startable(poll, &study, job, &counts, &startable, err);
    if (status == HT_OK)
        fleet_add_study(&poll->fleet, &study, job, startable,
                        trial_counts_all(&counts, TRIAL_ACTIVE));
    return status;
}

enum ht_status lease_read_fleet(struct lease_poll *poll, int64_t free_slots,
                                struct ht_error *err)
{
    struct id_list studies;
    enum ht_status status =
        db_study_waiting(poll->db, poll->arena, &studies, err);
    if (status != HT_OK || studies.n == 0)
        return status;
    status = fleet_read(poll->core, poll->arena, &poll->fleet, err);
    for (size_t i = 0; status == HT_OK && i < studies.n; i++)
        status = add_study(poll, studies.ids[i], err);
    poll->at = fleet_find(&poll->fleet, poll->runner);
    if (status == HT_OK && poll->at != PLACEMENT_NONE)
        fleet_offer(&poll->fleet, poll->at, free_slots);
    return status;
}

enum ht_status lease_next(struct lease_poll *poll, struct trial_row *trial,
                          bool *found, struct ht_error *err)
{
    struct placement *state = &poll->fleet.state;
    enum ht_status status = HT_OK;
    *found = false;
    while (status == HT_OK && !*found) {
        poll->choice = placement_next(state, poll->arena, poll->at);
        if (poll->choice.study == PLACEMENT_NONE)
            return HT_OK;
        struct placement_study *study = &state->studies[poll->choice.study];
        status = lease_next_of_study(poll, study->id, NULL, trial, found, err);
        if (!*found) /* they back off, or wait for another runner */
            study->waiting = 0;
    }
    return status;
}
