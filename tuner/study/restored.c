#include "tuner/study/restored.h"

#include "proto/base/log.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/trial.h"

static enum ht_status end_attempts(struct core *core, struct arena *arena,
                                   const char *reason, size_t *n,
                                   struct ht_error *err)
{
    struct attempt_list open;
    enum ht_status status =
        db_attempt_all_open(core_db(core), arena, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        struct trial_pair pair = {.attempt = open.rows[i]};
        status = db_trial_get(core_db(core), arena, pair.attempt.study,
                              pair.attempt.trial, &pair.trial, err);
        if (status == HT_OK)
            status = trial_lost(core, arena, &pair, reason, err);
    }
    if (status == HT_OK)
        *n = open.n;
    return status;
}

/* Who follows a study sees that revisions were skipped, and why. */
static enum ht_status tell_studies(struct core *core, struct arena *arena,
                                   const char *reason, struct ht_error *err)
{
    struct id_list studies;
    enum ht_status status = db_study_shown(core_db(core), arena, &studies, err);
    for (size_t i = 0; status == HT_OK && i < studies.n; i++) {
        struct event_row event = {
            .study = studies.ids[i], .kind = "study.warned", .reason = reason};
        status = move_event(core, &event, err);
    }
    return status;
}

static enum ht_status fence(struct core *core, struct arena *arena,
                            const char *made, struct ht_error *err)
{
    size_t ended = 0;
    const char *reason =
        arena_printf(arena, "the server was restored from a copy of %s", made);
    enum ht_status status = db_begin(core_db(core), err);
    if (status != HT_OK)
        return status;
    status = end_attempts(core, arena, reason, &ended, err);
    if (status == HT_OK)
        status = tell_studies(core, arena, reason, err);
    if (status == HT_OK)
        status = db_meta_remove(core_db(core), "restored", err);
    status = db_end(core_db(core), status, err);
    if (status == HT_OK)
        log_event(LOG_WARN, "server.restored", "copy=%s lost=%zu", made, ended);
    return status;
}

enum ht_status restored_fence(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *made = NULL;
    enum ht_status status =
        db_meta_get(core_db(core), arena, "restored", &made, err);
    if (status == HT_OK && made != NULL)
        status = fence(core, arena, made, err);
    arena_free(arena);
    return status;
}
