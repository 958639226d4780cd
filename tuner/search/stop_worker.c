#include "tuner/search/stop_worker.h"

#include "tuner/base/log.h"
#include "tuner/core/core.h"
#include "tuner/core/worker.h"
#include "tuner/search/stop_curves.h"
#include "tuner/search/stop_record.h"
#include "tuner/study/early_stop.h"

enum {
    CACHED_STUDIES = 8, /* of which curves are kept */
    REST_SHARE = 4      /* a verdict's time is rested so often */
};

/* --- what is kept of a study --- */

static void *new_curves(int64_t study)
{
    return stop_curves_new(study);
}

static void free_curves(void *curves)
{
    stop_curves_free(curves);
}

static enum ht_status read_curves(void *curves, struct db *db,
                                  struct ht_error *err)
{
    return stop_curves_read(curves, db, err);
}

/* --- judging --- */

static void decide(const struct stop_curves *curves, struct arena *arena,
                   struct stop_finding *finding)
{
    size_t current;
    const struct stop_study *study = stop_curves_study(curves);
    if (!stop_curves_find(curves, finding->trial, &current) ||
        study->curves[current].end != STOP_END_OPEN)
        return;
    early_stop_judge(study, current, &finding->verdict);
    finding->attempt = stop_curves_attempt(curves, current);
    if (finding->verdict.action == STOP_GO_ON)
        return;
    const struct job *job = stop_curves_job(curves);
    finding->record = stop_record_text(arena, job, &study->curves[current],
                                       &finding->verdict);
    finding->reason = stop_record_reason(arena, job, &finding->verdict);
}

/* --- answering --- */

static enum ht_status handle_judged(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return early_stop_accept(core, req->owner, err);
}

struct finding_owner {
    struct stop_finding finding; /* first, so that handle_judged() sees it */
    struct core *core;
};

/* A verdict that could not be stored comes again with the next report. */
static void answer_judged(struct request *req)
{
    const struct finding_owner *owner = req->owner;
    if (req->status != HT_OK && core_is_here(owner->core))
        early_stop_give_up(owner->core, &owner->finding);
    request_free(req);
}

static void answer(struct worker *judge, struct core *core,
                   const struct worker_question *question)
{
    struct request *req = request_new();
    struct finding_owner *owner = arena_alloc(req->arena, 1, sizeof *owner);
    owner->core = core;
    owner->finding = (struct stop_finding){.study = question->study,
                                           .trial = question->number,
                                           .verdict = {.rung = -1},
                                           .record = ""};
    req->owner = owner;
    req->handle = handle_judged;
    req->answer = answer_judged;
    void *curves;
    struct ht_error err;
    const enum ht_status status =
        worker_read(judge, question->study, &curves, &err);
    if (status == HT_OK)
        decide(curves, req->arena, &owner->finding);
    else if (status != HT_NOT_FOUND) /* the study was deleted */
        log_event(LOG_ERROR, "judge.failed", "study=%lld trial=%lld why=%s",
                  (long long)question->study, (long long)question->number,
                  err.text);
    core_post(core, req);
}

static const struct worker_role role = {.name = "judging",
                                        .studies = CACHED_STUDIES,
                                        .spread = METER_JUDGE_SECONDS,
                                        .rests = REST_SHARE,
                                        .new = new_curves,
                                        .free = free_curves,
                                        .read = read_curves,
                                        .answer = answer};

enum ht_status stop_worker_start(struct core *core, const char *path,
                                 struct worker **judge, struct ht_error *err)
{
    return worker_start(&role, core, path, judge, err);
}

void stop_worker_ask(struct worker *judge, int64_t study, int64_t trial)
{
    worker_ask(judge, &(struct worker_question){
                          .study = study, .number = trial, .n = 1});
}
