#include "tuner/search/stop_worker.h"

#include "algorithms/stop/early_stop.h"
#include "proto/base/log.h"
#include "tuner/search/stop_curves.h"
#include "tuner/search/stop_record.h"

enum {
    CACHED_STUDIES = 8, /* of which curves are kept */
    REST_SHARE = 4      /* a verdict's time is rested so often */
};

/* --- what is kept of a study --- */

static void *new_curves(int64_t study, const char *part)
{
    (void)part;
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

static struct stop_finding *new_finding(const struct worker_question *question,
                                        struct arena *arena)
{
    struct stop_finding *finding = arena_alloc(arena, 1, sizeof *finding);
    *finding = (struct stop_finding){.study = question->study,
                                     .trial = question->first,
                                     .verdict = {.rung = -1},
                                     .record = ""};
    return finding;
}

/* The trial continues, as after any question that failed. */
static const void *refuse(const struct worker_question *question,
                          struct arena *arena)
{
    return new_finding(question, arena);
}

static const void *answer(struct worker *worker,
                          const struct worker_question *question,
                          struct arena *arena)
{
    struct stop_finding *finding = new_finding(question, arena);
    void *curves;
    struct ht_error err;
    const enum ht_status status =
        worker_read(worker, question->study, NULL, &curves, &err);
    if (status == HT_OK)
        decide(curves, arena, finding);
    else if (status != HT_NOT_FOUND) /* the study was deleted */
        log_event(LOG_ERROR, "judge.failed", "study=%lld trial=%lld why=%s",
                  (long long)finding->study, (long long)finding->trial,
                  err.text);
    return finding;
}

const struct worker_role stop_worker_role = {.name = "judging",
                                             .studies = CACHED_STUDIES,
                                             .spread = METER_JUDGE_SECONDS,
                                             .rests = REST_SHARE,
                                             .new = new_curves,
                                             .free = free_curves,
                                             .read = read_curves,
                                             .answer = answer,
                                             .refuse = refuse};
