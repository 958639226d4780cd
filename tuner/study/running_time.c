#include "tuner/study/running_time.h"

#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"

enum { SAVE_USED_MS = 1000 }; /* at least, between two writes of it */

/* --- running time --- */

struct mark {
    int64_t study, at_ms, used_ms;
};

static void apply_mark(struct core *core, const void *data)
{
    const struct mark *mark = data;
    struct live_study *live = live_study(core_live(core), mark->study);
    live->clock_mark_ms = mark->at_ms;
    live->clock_used_ms = mark->used_ms;
}

int64_t running_time_used_ms(struct core *core, const struct study_row *study)
{
    const struct live_study *live = live_study(core_live(core), study->id);
    if (live->clock_mark_ms == 0)
        return study->used_ms;
    return live->clock_used_ms + core_now_ms(core) - live->clock_mark_ms;
}

enum ht_status running_time_count(struct core *core,
                                  const struct study_row *study,
                                  struct ht_error *err)
{
    const bool counts =
        study->state == STUDY_RUNNING && !db_study_only_confirms(study);
    const bool counted =
        live_study(core_live(core), study->id)->clock_mark_ms > 0;
    const int64_t used_ms = running_time_used_ms(core, study);
    const int64_t gained = used_ms - study->used_ms;
    const bool save = gained >= SAVE_USED_MS || (gained > 0 && !counts);
    if (save || counted != counts) {
        const struct mark mark = {study->id, counts ? core_now_ms(core) : 0,
                                  used_ms};
        core_defer(core, apply_mark, &mark, sizeof mark);
    }
    return save ? db_study_set(core_db(core), study->id, STUDY_USED_MS, used_ms,
                               err)
                : HT_OK;
}

/* --- gain --- */

enum ht_status running_time_note(struct core *core,
                                 const struct study_row *study, bool gain,
                                 struct ht_error *err)
{
    return db_study_set_progress(
        core_db(core), study->id, gain ? 0 : study->stale_trials + 1,
        gain ? running_time_used_ms(core, study) : study->gain_ms, err);
}

enum ht_status running_time_restart(struct core *core, struct study_row *study,
                                    struct ht_error *err)
{
    study->stale_trials = 0;
    study->gain_ms = running_time_used_ms(core, study);
    return db_study_set_progress(core_db(core), study->id, 0, study->gain_ms,
                                 err);
}
