#include "tuner/study/cannot_start_pause.h"

#include "tuner/base/reason.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"

bool cannot_start_pause_paused(const struct study_row *study)
{
    return study->state == STUDY_PAUSED && study->refusals >= REFUSALS_MOST;
}

enum ht_status cannot_start_pause_note(struct core *core, struct arena *arena,
                                       int64_t study, const char *reason,
                                       struct ht_error *err)
{
    struct study_row row;
    enum ht_status status =
        db_study_get(core_db(core), arena, study, &row, err);
    if (status == HT_OK)
        status =
            db_study_set_refusals(core_db(core), study, ++row.refusals, err);
    if (status != HT_OK || row.refusals < REFUSALS_MOST ||
        row.state != STUDY_RUNNING)
        return status;
    return move_study(
        core, &row, STUDY_PAUSED,
        reason_make(arena,
                    "paused, as the last %d attempts could not begin: %s",
                    REFUSALS_MOST, reason),
        err);
}

enum ht_status cannot_start_pause_forget(struct core *core, int64_t study,
                                         struct ht_error *err)
{
    return db_study_set_refusals(core_db(core), study, 0, err);
}
