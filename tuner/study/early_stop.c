#include "tuner/study/early_stop.h"

#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/search/stop_worker.h"
#include "tuner/study/rungs.h"
#include "tuner/study/trial.h"
#include "tuner/study/trial_pause.h"

struct asked {
    int64_t study, trial;
    bool awaited;
};

static void apply_asked(struct core *core, const void *data)
{
    const struct asked *asked = data;
    struct live_trial *live =
        live_trial(core_live(core), asked->study, asked->trial);
    live->verdict_due = true;
    live->awaited = live->awaited || asked->awaited;
    worker_ask(core_part(core, CORE_STOP_WORKER),
               &(struct worker_question){
                   .study = asked->study, .first = asked->trial, .n = 1});
}

bool early_stop_ask(struct core *core, const struct job *job,
                    const struct trial_row *trial, bool awaited)
{
    const struct asked asked = {trial->study, trial->id, awaited};
    /* A confirmation that is cut short would confirm nothing. */
    if (job->early_stop.rule == EARLY_NONE || job->n_metrics == 0 ||
        trial->state != TRIAL_ACTIVE || trial->confirms != 0)
        return false;
    core_defer(core, apply_asked, &asked, sizeof asked);
    return true;
}

static void apply_judged(struct core *core, const void *data)
{
    const struct asked *judged = data;
    struct live_trial *live =
        live_find_trial(core_live(core), judged->study, judged->trial);
    if (live == NULL)
        return;
    if (live->awaited)
        core_wake(core, CORE_CLIENTS, judged->study);
    live->verdict_due = live->awaited = false;
}

/* A verdict that could not be stored comes again with the next report. */
static void give_up(struct core *core, const void *answer)
{
    const struct stop_finding *finding = answer;
    const struct asked judged = {finding->study, finding->trial, false};
    apply_judged(core, &judged);
}

/* An attempt that has come to its end needs no stopping. */
static enum ht_status is_running(struct core *core, struct arena *arena,
                                 const struct trial_row *trial, bool *running,
                                 struct ht_error *err)
{
    const struct trial_name name = {trial->study, trial->id, trial->attempt};
    struct attempt_row attempt;
    *running = trial->state == TRIAL_ACTIVE;
    if (!*running || trial->attempt == 0)
        return HT_OK;
    const enum ht_status status =
        db_attempt_get(core_db(core), arena, &name, &attempt, err);
    *running = status == HT_OK && attempt.state < ATTEMPT_DRAINING;
    return status;
}

/* Two verdicts at one rung may have been on their way: the first counts. */
static bool is_stale(const struct stop_finding *finding,
                     const struct trial_row *trial)
{
    return finding->verdict.rung >= 0 &&
           finding->verdict.rung != trial->rungs_passed;
}

/* *again: it has passed a rung, and may have come to the next one. */
static enum ht_status apply(struct core *core, struct arena *arena,
                            const struct stop_finding *finding, bool *again,
                            struct ht_error *err)
{
    struct trial_row trial;
    bool running = false;
    enum ht_status status = db_trial_get(core_db(core), arena, finding->study,
                                         finding->trial, &trial, err);
    if (status == HT_NOT_FOUND)
        return HT_OK; /* deleted since */
    if (status == HT_OK && trial.attempt == finding->attempt)
        status = is_running(core, arena, &trial, &running, err);
    running = running && !is_stale(finding, &trial);
    if (status == HT_OK && running)
        status = rungs_note(core, arena, &trial, &finding->verdict, err);
    if (status != HT_OK || !running)
        return status;
    *again = finding->verdict.action == STOP_GO_ON;
    if (*again)
        return HT_OK;
    trial.stop = finding->record;
    return finding->verdict.action == STOP_PAUSE
               ? trial_pause(core, arena, &trial, finding->reason, err)
               : trial_end(core, arena, &trial, finding->reason, err);
}

static enum ht_status store(struct core *core, const void *answer,
                            struct ht_error *err)
{
    const struct stop_finding *finding = answer;
    const struct asked judged = {finding->study, finding->trial, false};
    const bool tells =
        finding->verdict.action != STOP_GO_ON || finding->verdict.rung >= 0;
    struct arena *arena = arena_new();
    bool again = false;
    const enum ht_status status =
        tells ? apply(core, arena, finding, &again, err) : HT_OK;
    arena_free(arena);
    core_defer(core, again ? apply_asked : apply_judged, &judged,
               sizeof judged);
    return status;
}

const struct worker_receiver early_stop_receiver = {store, give_up};
