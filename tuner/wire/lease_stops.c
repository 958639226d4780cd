#include "tuner/wire/lease_stops.h"

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/wire/envelope.h"

struct sent_stop {
    char runner[HT_MAX_NAME + 1];
    struct live_sent_stop sent;
};

static void apply_sent_stop(struct core *core, const void *data)
{
    const struct sent_stop *note = data;
    struct live_runner *runner =
        live_find_runner(core_live(core), note->runner);
    if (runner == NULL)
        return;
    runner->sent_stops =
        ht_xrealloc(runner->sent_stops, runner->n_sent_stops + 1,
                    sizeof *runner->sent_stops);
    runner->sent_stops[runner->n_sent_stops++] = note->sent;
}

static bool was_sent(const struct live_runner *runner,
                     const struct live_sent_stop *sent)
{
    for (size_t i = 0; i < runner->n_sent_stops; i++) {
        const struct live_sent_stop *old = &runner->sent_stops[i];
        if (old->study == sent->study && old->trial == sent->trial &&
            old->attempt == sent->attempt && old->kill == sent->kill)
            return true;
    }
    return false;
}

static void note_sent_stop(struct core *core, const struct live_runner *runner,
                           const struct live_sent_stop *sent)
{
    struct sent_stop note = {.sent = *sent};
    memcpy(note.runner, runner->id, sizeof note.runner);
    core_defer(core, apply_sent_stop, &note, sizeof note);
}

static enum ht_status add_stop(struct core *core, struct arena *arena,
                               const struct trial_row *trial, bool *kill,
                               cJSON **stop, struct ht_error *err)
{
    struct study_row study;
    const enum ht_status status =
        db_study_get(core_db(core), arena, trial->study, &study, err);
    if (status != HT_OK)
        return status;
    const struct trial_name name = {trial->study, trial->id, trial->attempt};
    *kill = study.state == STUDY_CANCELLING;
    *stop = cJSON_CreateObject();
    wire_add_name(*stop, &name);
    json_add_string(*stop, "reason", trial->reason);
    json_add_string(*stop, "how", *kill ? "kill" : "stop");
    return HT_OK;
}

enum ht_status lease_add_stops(struct core *core, struct arena *arena,
                               const struct live_runner *runner, bool fresh,
                               cJSON *stops, struct ht_error *err)
{
    struct db *db = core_db(core);
    struct attempt_list open;
    enum ht_status status = db_attempt_open(db, arena, runner->id, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        const struct attempt_row *attempt = &open.rows[i];
        struct trial_row trial;
        if (attempt->state == ATTEMPT_DRAINING)
            continue;
        status = db_trial_get(db, arena, attempt->study, attempt->trial, &trial,
                              err);
        if (status != HT_OK || (trial.state != TRIAL_STOPPING &&
                                !attempt->hung && !attempt->moving))
            continue;
        if (trial.state != TRIAL_STOPPING) /* it hangs, or moves */
            trial.reason = attempt->moving ? "continues at another runner"
                                           : attempt->reason;
        struct live_sent_stop sent = {trial.study, trial.id, attempt->n, false};
        cJSON *stop;
        status = add_stop(core, arena, &trial, &sent.kill, &stop, err);
        if (status != HT_OK)
            continue;
        if (fresh && was_sent(runner, &sent)) {
            cJSON_Delete(stop);
            continue;
        }
        cJSON_AddItemToArray(stops, stop);
        if (fresh)
            note_sent_stop(core, runner, &sent);
    }
    return status;
}
