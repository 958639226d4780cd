#include "runner/cluster/fleet.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/cluster/avoided.h"
#include "runner/cluster/clerk.h"
#include "runner/cluster/fleet_state.h"
#include "runner/cluster/listing.h"
#include "runner/cluster/plan.h"
#include "runner/cluster/study.h"
#include "runner/cluster/submission.h"
#include "runner/element/element.h"

enum {
    LOOK_MS = 500,       /* between looks at the elements' files */
    TAKEN_MS = 5000,     /* ... at those of one that has an attempt */
    IDLE_MS = 2000,      /* ... when there are none */
    EVICT_MS = 20000,    /* for a removed trial to end */
    MOST_ARRAY = 4000001 /* of any Slurm */
};

/* ---- results of the clerk ---- */

static void accept(struct study *study, struct batch *batch, int64_t job)
{
    struct ht_error err;
    /* What was refused may pass by now. */
    study->plan.most = study->plan.most < MOST_ARRAY ? 2 * study->plan.most : 0;
    if (!study->early)
        study_succeed(study);
    log_event(LOG_INFO, "batch.submitted", "name=%s job=%lld elements=%d",
              batch->name, (long long)job, batch->n);
    if (batch_know(batch, job, &err) != HT_OK)
        log_event(LOG_ERROR, "batch.unwritten", "name=%s reason=\"%s\"",
                  batch->name, err.text);
}

static void take_submission(struct fleet *fleet, struct batch *batch,
                            const struct clerk_task *task, int64_t now_ms)
{
    struct study *study = study_get(&fleet->studies, batch->study);
    if (task->err.status == HT_OK) {
        accept(study, batch, task->job);
    } else if (task->err.status == HT_PRECONDITION) {
        study_fail(study, now_ms, "%s", task->err.text);
        study->plan.most = batch->n > 1 ? batch->n / 2 : 1;
        batch_give_up(batch, now_ms);
    } else { /* it may have been accepted: the listing will tell */
        batch->submit = 0;
        batch->unknown_at = now_ms;
    }
}

static void take_results(struct fleet *fleet, int64_t now_ms)
{
    struct clerk_task *task;
    while ((task = clerk_take(fleet->clerk)) != NULL) {
        struct batch *batch = fleet->first;
        while (batch != NULL && batch->submit != task->number)
            batch = batch->next;
        if (task->submits && batch != NULL)
            take_submission(fleet, batch, task, now_ms);
        else if (!task->submits && task->err.status != HT_OK)
            log_event(LOG_WARN, "slots.not_cancelled",
                      "job=%lld first=%d last=%d reason=\"%s\"",
                      (long long)task->job, task->first, task->last,
                      task->err.text);
        clerk_task_free(task);
    }
}

static uint64_t cancel(struct fleet *fleet, int64_t job, int first, int last,
                       bool waiting)
{
    struct clerk_task *task = clerk_task_new();
    task->job = job;
    task->first = first;
    task->last = last;
    task->waiting = waiting;
    log_event(LOG_INFO, "slots.cancelled", "job=%lld first=%d last=%d",
              (long long)job, first, last);
    return clerk_do(fleet->clerk, task);
}

static void cancel_slot(struct fleet *fleet, struct batch *batch, int i)
{
    if (batch->job > 0 && batch->slots[i].cancel == 0)
        batch->slots[i].cancel =
            cancel(fleet, batch->job, batch_first(batch, i), i, false);
}

/* What ended an element before it asked may end all of them: the script, the
 * node, the folder. */
static void note_early_end(struct fleet *fleet, const struct batch *batch,
                           int element, int64_t now_ms)
{
    struct study *study = study_get(&fleet->studies, batch->study);
    struct arena *arena = arena_new();
    study_fail(study, now_ms, "%s",
               listing_describe_end(arena, batch, element));
    study->early = true;
    arena_free(arena);
}

static void avoid_bad_node(struct fleet *fleet, const struct batch *batch,
                           int element, int64_t now_ms)
{
    struct arena *arena = arena_new();
    struct ht_error err;
    const char *nodes = batch->slots[element].nodes;
    if (batch_end(batch, arena, element).exclude && nodes[0] != '\0') {
        log_event(LOG_WARN, "nodes.avoided", "nodes=%s", nodes);
        avoided_add(&fleet->avoided, nodes, now_ms);
        if (avoided_write(&fleet->avoided, fleet->site->state, now_ms, &err) !=
            HT_OK)
            log_event(LOG_ERROR, "nodes.unwritten", "reason=\"%s\"", err.text);
    }
    arena_free(arena);
}

static void note_end(struct fleet *fleet, struct batch *batch, int i,
                     int64_t now_ms)
{
    struct slot *slot = &batch->slots[i];
    slot->settled = true;
    slot->gone_at = now_ms;
    batch_look(batch, i);
    if (slot->turn == 0 && slot->cancel == 0 && slot->listed)
        note_early_end(fleet, batch, i, now_ms);
    avoid_bad_node(fleet, batch, i, now_ms);
}

static void note_ends(struct fleet *fleet, struct batch *batch, int64_t now_ms)
{
    for (int i = 0; i < batch->n; i++) {
        const struct slot *slot = &batch->slots[i];
        if (slot->gone && !slot->settled)
            note_end(fleet, batch, i, now_ms);
        if (slot->lingers) /* a cancellation while it is put back has no effect
                            */
            cancel_slot(fleet, batch, i);
    }
}

static void take_listing(struct fleet *fleet, int64_t now_ms)
{
    struct clerk_listing listing;
    if (!clerk_take_listing(fleet->clerk, &listing))
        return;
    for (struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next) {
        struct ht_error err;
        const int64_t job = listing_find(batch, &listing);
        if (job > 0 && batch_know(batch, job, &err) != HT_OK)
            log_event(LOG_ERROR, "batch.unwritten", "name=%s reason=\"%s\"",
                      batch->name, err.text);
        listing_apply(batch, &listing, now_ms);
        note_ends(fleet, batch, now_ms);
    }
    for (size_t i = 0; i < listing.rows.n; i++) {
        const struct slurm_row *row = &listing.rows.rows[i];
        if (listing_is_stray(fleet->first, row))
            cancel(fleet, row->job, row->first, row->last, false);
    }
    arena_free(listing.arena);
}

/* ---- the elements' files ---- */

static void answer_end(const struct fleet *fleet, struct batch *batch, int i)
{
    struct ht_error err;
    struct arena *arena = arena_new();
    struct slot *slot = &batch->slots[i];
    const struct element_answer answer = {.end = true};
    const char *folder = batch_element(batch, arena, i);
    if (element_answer_write(folder, slot->turn, &answer, &err) == HT_OK) {
        far_put(fleet->far, folder);
        slot->asks = false;
        slot->dismissed = true;
    } else {
        log_event(LOG_WARN, "slot.unanswered",
                  "batch=%s element=%d reason=\"%s\"", batch->name, i,
                  err.text);
    }
    arena_free(arena);
}

/* Whether it could still run a whole trial, as far as that is known. One that
 * has had none always gets one: a trial may be longer than its limit. */
static bool is_good_for_more(const struct fleet *fleet,
                             const struct batch *batch, const struct slot *slot)
{
    const struct study *study = study_find(fleet->studies, batch->study);
    const struct slurm_need *need = &batch->need;
    const int64_t trials = need->section.trials_per_job;
    if (slot->turn <= 1)
        return true;
    if (trials > 0 && slot->turn > trials)
        return false;
    const int64_t takes = need->trial_timeout_ms > 0 ? need->trial_timeout_ms
                          : study != NULL            ? study->longest_ms
                                                     : 0;
    return slot->end_ms == 0 ||
           clock_wall_ms() + takes + need->grace_ms <= slot->end_ms;
}

static void look_at_slot(struct fleet *fleet, struct batch *batch, int i,
                         int64_t now_ms)
{
    struct slot *slot = &batch->slots[i];
    if (slot->gone || slot->dismissed)
        return;
    const bool asked = slot->asks;
    if (!slot->asks && now_ms >= slot->look_at) {
        batch_look(batch, i);
        slot->look_at = now_ms + (slot->taken ? TAKEN_MS : 0);
    }
    if (slot->asks && !asked)
        study_succeed(study_get(&fleet->studies, batch->study));
    if (slot->asks) {
        slot->evict_at = 0;
        if (!slot->taken && !is_good_for_more(fleet, batch, slot))
            answer_end(fleet, batch, i);
    } else if (slot->evict_at > 0 && now_ms >= slot->evict_at) {
        cancel_slot(fleet, batch, i);
    }
}

/* ---- the plan ---- */

enum plan_slot fleet_slot_is(const struct slot *slot)
{
    if (slot->gone || slot->dismissed || slot->cancel > 0)
        return PLAN_GONE;
    if (slot->asks && !slot->taken)
        return PLAN_ASKS;
    const bool waits =
        slot->state == SLURM_PENDING || slot->state == SLURM_HELD;
    return waits && slot->turn == 0 ? PLAN_WAITS : PLAN_BUSY;
}

static void submit(struct fleet *fleet, struct study *study, int n,
                   int64_t now_ms)
{
    struct ht_error err;
    struct batch *batch = NULL;
    struct clerk_task *task = clerk_task_new();
    const struct submission submission = {
        .site = fleet->site,
        .defaults = fleet->defaults,
        .limits = clerk_limits(fleet->clerk),
        .avoid = avoided_text(&fleet->avoided, task->arena, now_ms),
        .prefix = fleet->prefix,
        .n = n,
    };
    const enum ht_status status = submission_make(
        &submission, study, task->arena, &task->batch, &batch, &err);
    if (status != HT_OK) {
        clerk_task_free(task);
        study_fail(study, now_ms, "%s", err.text);
        return;
    }
    batch->next = fleet->first;
    fleet->first = batch;
    far_watch(fleet->far, NAMES_BATCH, batch->folder, NULL, false);
    task->far = fleet->far;
    task->submits = true;
    batch->submit = clerk_do(fleet->clerk, task);
}

static void carry_out(struct fleet *fleet, const struct plan_step *step,
                      struct study *const studies[],
                      struct batch *const batches[], int64_t now_ms)
{
    struct batch *batch;
    uint64_t number;
    switch (step->kind) {
    case PLAN_SUBMIT:
        if (clerk_limits(fleet->clerk) != NULL) /* known a moment later */
            submit(fleet, studies[step->of], step->last, now_ms);
        return;
    case PLAN_CANCEL:
        batch = batches[step->of];
        number = cancel(fleet, batch->job, batch_first(batch, step->first),
                        step->last, true);
        for (int i = step->first; i <= step->last; i++)
            batch->slots[i].cancel = number;
        return;
    case PLAN_END:
        answer_end(fleet, batches[step->of], step->first);
        return;
    }
}

struct gathered { /* both lists, for the plan and behind it */
    struct plan_fleet plan;
    struct plan_study *plan_studies;
    struct study **studies;
    struct batch **batches;
};

static void gather_batches(struct fleet *fleet, struct arena *arena,
                           struct gathered *all)
{
    size_t n = 0;
    for (struct batch *batch = fleet->first; batch != NULL; batch = batch->next)
        n++;
    struct plan_batch *items = arena_alloc(arena, n + 1, sizeof *items);
    all->batches = arena_alloc(arena, n + 1, sizeof(void *));
    n = 0;
    for (struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next) {
        enum plan_slot *slots =
            arena_alloc(arena, (size_t)batch->n, sizeof *slots);
        for (int i = 0; i < batch->n; i++)
            slots[i] = fleet_slot_is(&batch->slots[i]);
        all->batches[n] = batch;
        items[n++] = (struct plan_batch){.study = batch->study,
                                         .need = batch->hash,
                                         .known = batch->job > 0,
                                         .n = batch->n,
                                         .slots = slots};
    }
    all->plan.batches = items;
    all->plan.n_batches = n;
}

static void gather_studies(struct fleet *fleet, struct arena *arena,
                           struct gathered *all)
{
    size_t n = 0;
    for (const struct study *study = fleet->studies; study != NULL;
         study = study->next)
        n++;
    all->plan_studies = arena_alloc(arena, n + 1, sizeof *all->plan_studies);
    all->studies = arena_alloc(arena, n + 1, sizeof(void *));
    n = 0;
    for (struct study *study = fleet->studies; study != NULL;
         study = study->next) {
        all->studies[n] = study;
        all->plan_studies[n++] = study->plan;
    }
    all->plan.studies = all->plan_studies;
    all->plan.n_studies = n;
}

/* After a restart nothing is given back before the server has said what it
 * wants. */
static void plan(struct fleet *fleet, int64_t now_ms)
{
    if (!fleet->told)
        return;
    const struct slurm_limits *limits = clerk_limits(fleet->clerk);
    struct arena *arena = arena_new();
    struct gathered all = {
        .plan = {.most_slots = fleet->site->slots,
                 .most_array = limits != NULL ? limits->most_array : 0}};
    gather_batches(fleet, arena, &all);
    gather_studies(fleet, arena, &all);
    size_t n;
    const struct plan_step *steps = plan_make(arena, &all.plan, now_ms, &n);
    for (size_t i = 0; i < all.plan.n_studies; i++)
        all.studies[i]->plan.surplus_at = all.plan_studies[i].surplus_at;
    for (size_t i = 0; i < n; i++)
        carry_out(fleet, &steps[i], all.studies, all.batches, now_ms);
    arena_free(arena);
}

/* ---- the tick ---- */

/* Nothing of it is needed any more. */
static bool is_over(const struct batch *batch)
{
    for (int i = 0; i < batch->n; i++)
        if (!batch->slots[i].gone || batch->slots[i].lingers ||
            batch->slots[i].taken)
            return false;
    return true;
}

static bool has_batch(const struct fleet *fleet, int64_t study)
{
    const struct batch *batch = fleet->first;
    while (batch != NULL && batch->study != study)
        batch = batch->next;
    return batch != NULL;
}

static void drop_studies(struct fleet *fleet)
{
    struct study **link = &fleet->studies;
    while (*link != NULL) {
        struct study *study = *link;
        if (study->plan.need != NULL || study->waiting > 0 ||
            has_batch(fleet, study->plan.study)) {
            link = &study->next;
            continue;
        }
        *link = study->next;
        study->next = NULL;
        study_free_all(study);
    }
}

static void drop_old(struct fleet *fleet)
{
    struct batch **link = &fleet->first;
    while (*link != NULL) {
        struct batch *batch = *link;
        if (!is_over(batch)) {
            link = &batch->next;
            continue;
        }
        *link = batch->next;
        log_event(LOG_INFO, "batch.over", "name=%s job=%lld", batch->name,
                  (long long)batch->job);
        far_remove(fleet->far, batch->folder);
        batch_remove(batch);
        batch_free(batch);
    }
}

static bool is_restless(const struct batch *batch)
{
    for (int i = 0; i < batch->n; i++) {
        const struct slot *slot = &batch->slots[i];
        if (slot->lingers ||
            (!slot->gone && (!slot->taken || slot->cancel > 0 ||
                             slot->evict_at > 0 || slot->asks)))
            return true;
    }
    return batch->job == 0;
}

static enum clerk_pace pace_of(const struct fleet *fleet)
{
    if (fleet->first == NULL)
        return CLERK_IDLE;
    for (const struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next)
        if (is_restless(batch))
            return CLERK_BUSY;
    return CLERK_STEADY;
}

int64_t fleet_tick(struct fleet *fleet, int64_t now_ms)
{
    if (now_ms < fleet->look_at)
        return fleet->look_at;
    far_tick(fleet->far);
    take_results(fleet, now_ms);
    take_listing(fleet, now_ms);
    for (struct batch *batch = fleet->first; batch != NULL; batch = batch->next)
        for (int i = 0; i < batch->n; i++)
            look_at_slot(fleet, batch, i, now_ms);
    plan(fleet, now_ms);
    drop_old(fleet);
    if (fleet->told)
        drop_studies(fleet);
    clerk_set_pace(fleet->clerk, pace_of(fleet));
    fleet->look_at = now_ms + (fleet->first != NULL ? LOOK_MS : IDLE_MS);
    return fleet->look_at;
}

/* ---- slots for attempts ---- */

void fleet_wait(struct fleet *fleet, int64_t study, int change)
{
    study_get(&fleet->studies, study)->waiting += change;
}

struct fleet_slot fleet_take(struct fleet *fleet, int64_t study)
{
    for (struct batch *batch = fleet->first; batch != NULL; batch = batch->next)
        for (int i = 0; batch->study == study && i < batch->n; i++)
            if (fleet_slot_is(&batch->slots[i]) == PLAN_ASKS) {
                batch->slots[i].taken = true;
                return (struct fleet_slot){batch, i};
            }
    return (struct fleet_slot){.batch = NULL};
}

struct fleet_slot fleet_retake(struct fleet *fleet, const char *name,
                               int element)
{
    struct batch *batch = fleet->first;
    while (batch != NULL && strcmp(batch->name, name) != 0)
        batch = batch->next;
    if (batch == NULL || element < 0 || element >= batch->n)
        return (struct fleet_slot){.batch = NULL};
    batch->slots[element].taken = true;
    return (struct fleet_slot){batch, element};
}

void fleet_leave(struct fleet *fleet, struct fleet_slot slot, int64_t ran_ms,
                 bool evict)
{
    struct study *study = study_get(&fleet->studies, slot.batch->study);
    struct slot *left = &slot.batch->slots[slot.element];
    if (study->longest_ms < ran_ms)
        study->longest_ms = ran_ms;
    left->taken = false;
    left->look_at = 0;
    if (evict && !left->gone)
        left->evict_at = clock_monotonic_ms() + EVICT_MS;
    fleet->look_at = 0;
}
