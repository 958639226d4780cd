#include "tuner/search/trial_event.h"

#include <stddef.h>
#include <string.h>

#include "tuner/db/event.h"

/* The predicted result of a paused trial counts while it is paused. */
static bool may_count(const char *state)
{
    static const enum trial_state ends[] = {TRIAL_SUCCEEDED, TRIAL_STOPPED,
                                            TRIAL_FAILED,    TRIAL_INFEASIBLE,
                                            TRIAL_CANCELLED, TRIAL_PAUSED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(state, db_trial_state_name(ends[i])) == 0)
            return true;
    return false;
}

enum trial_change trial_event_change(const struct event_row *event)
{
    if (strcmp(event->kind, "trial.created") == 0)
        return TRIAL_CHANGE_CREATED;
    if (strcmp(event->kind, "trial.deleted") == 0)
        return TRIAL_CHANGE_DELETED;
    if (strcmp(event->kind, "trial.changed") == 0 && event->data[0] == '{')
        return TRIAL_CHANGE_DEFINED;
    if (strcmp(event->kind, "trial.moved") != 0)
        return TRIAL_CHANGE_NONE;
    if (may_count(event->to))
        return TRIAL_CHANGE_ENDED;
    return may_count(event->from) ? TRIAL_CHANGE_REOPENED : TRIAL_CHANGE_NONE;
}

/* Whether what was known of the trial before no longer holds. */
bool trial_event_takes_back(const struct event_row *event)
{
    return trial_event_change(event) == TRIAL_CHANGE_DELETED ||
           (strcmp(event->kind, "trial.moved") == 0 && may_count(event->from));
}

bool trial_event_went_to(const struct event_row *event, enum trial_state state)
{
    return strcmp(event->to, db_trial_state_name(state)) == 0;
}

// NOLINTNEXTLINE(readability-function-size): a moment, an event and a result
static enum ht_status recall(struct db *db, struct arena *arena,
                             const struct event_row *event, int64_t until,
                             struct trial_row *trial, enum trial_known *known,
                             struct ht_error *err)
{
    struct event_row deletion = {0};
    *known = TRIAL_IS_GONE;
    const enum ht_status status =
        until == INT64_MAX
            ? HT_NOT_FOUND
            : db_event_deletion(db, arena, event, &deletion, err);
    if (status == HT_NOT_FOUND || deletion.revision <= until)
        return status == HT_NOT_FOUND ? HT_OK : status;
    *known = deletion.data[0] == '\0' ? TRIAL_IS_LOST : TRIAL_IS_KNOWN;
    *trial = (struct trial_row){.study = event->study,
                                .id = event->trial,
                                .params = deletion.data,
                                .stop = ""};
    return HT_OK;
}

// NOLINTNEXTLINE(readability-function-size): a moment, an event and a result
enum ht_status trial_event_find(struct db *db, struct arena *arena,
                                const struct event_row *event, int64_t until,
                                struct trial_row *trial,
                                enum trial_known *known, struct ht_error *err)
{
    const enum ht_status status =
        db_trial_get(db, arena, event->study, event->trial, trial, err);
    *known = TRIAL_IS_KNOWN;
    return status == HT_NOT_FOUND
               ? recall(db, arena, event, until, trial, known, err)
               : status;
}
