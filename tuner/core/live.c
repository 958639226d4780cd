#include "tuner/core/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/form/form.h"
#include "tuner/base/budget.h"

enum { BUCKETS = 1024 }; /* for a few thousand entries at most */

struct live {
    struct live_study *studies[BUCKETS];
    struct live_trial *trials[BUCKETS];
    struct live_runner *runners;
    struct live_study *newest, *oldest; /* used, of those with bytes */
    size_t bytes;                       /* of all of them */
};

struct live *live_new(void)
{
    return ht_xcalloc(1, sizeof(struct live));
}

void live_forget_slots(struct live_runner *runner)
{
    free(runner->asks);
    runner->asks = NULL;
    runner->n_asks = 0;
    arena_free(runner->refused);
    runner->refused = NULL;
    runner->refusals = NULL;
    runner->n_refusals = 0;
}

static void clear_runner(struct live_runner *runner)
{
    for (size_t i = 0; i < LIVE_TYPES; i++) {
        free(runner->answers[i].text);
        runner->answers[i] = (struct live_answer){0};
    }
    free(runner->sent_stops);
    runner->sent_stops = NULL;
    runner->n_sent_stops = 0;
    live_forget_slots(runner);
}

void live_free(struct live *live)
{
    if (live == NULL)
        return;
    const struct live_study *study;
    while ((study = live_next_study(live, NULL)) != NULL)
        live_drop_study(live, study->id);
    const struct live_trial *trial;
    while ((trial = live_next_trial(live, NULL)) != NULL)
        live_drop_trial(live, trial->study, trial->trial);
    while (live->runners != NULL) {
        struct live_runner *runner = live->runners;
        live->runners = runner->next;
        clear_runner(runner);
        arena_free(runner->arena);
        free(runner);
    }
    free(live);
}

/* --- studies --- */

static size_t study_bucket(int64_t id)
{
    return (size_t)((uint64_t)id % BUCKETS);
}

static struct live_study **study_link(struct live *live, int64_t id)
{
    struct live_study **link = &live->studies[study_bucket(id)];
    while (*link != NULL && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

struct live_study *live_study(struct live *live, int64_t id)
{
    struct live_study **link = study_link(live, id);
    if (*link == NULL) {
        *link = ht_xcalloc(1, sizeof **link);
        (*link)->id = id;
        (*link)->look_at_ms = LIVE_NEVER;
    }
    return *link;
}

/* Out of the order of use. */
static void unlink_used(struct live *live, struct live_study *study)
{
    if (study->bytes == 0)
        return;
    *(study->newer != NULL ? &study->newer->older : &live->newest) =
        study->older;
    *(study->older != NULL ? &study->older->newer : &live->oldest) =
        study->newer;
    live->bytes -= study->bytes;
    study->bytes = 0;
    study->newer = study->older = NULL;
}

static size_t bytes_of(const struct live_study *study)
{
    return arena_bytes(study->arena) + arena_bytes(study->stock.arena);
}

void live_use(struct live *live, struct live_study *study)
{
    unlink_used(live, study);
    study->bytes = bytes_of(study);
    if (study->bytes == 0)
        return;
    study->older = live->newest;
    *(live->newest != NULL ? &live->newest->newer : &live->oldest) = study;
    live->newest = study;
    live->bytes += study->bytes;
}

void live_drop_study(struct live *live, int64_t id)
{
    struct live_study **link = study_link(live, id);
    struct live_study *study = *link;
    if (study == NULL)
        return;
    *link = study->next;
    unlink_used(live, study);
    arena_free(study->arena);
    arena_free(study->stock.arena);
    free(study);
}

static void forget_job(struct live *live, struct live_study *study)
{
    const size_t before = bytes_of(study);
    arena_free(study->arena);
    study->arena = NULL;
    study->job = NULL;
    const size_t left = bytes_of(study);
    if (left == 0) {
        unlink_used(live, study);
    } else {
        live->bytes -= before - left;
        study->bytes = left;
    }
}

/* No search ahead of clients begins again before one asks. */
static void drop_stock(struct live *live, struct live_study *study)
{
    arena_free(study->stock.arena);
    study->stock = (struct live_suggestion){0};
    unlink_used(live, study);
}

void live_trim(struct live *live, bool stocks)
{
    /* Without the stocks much may be left, which is not to be walked through
     * again and again. */
    const size_t most =
        (size_t)budget_of(BUDGET_STUDY_MEMORY) * (stocks ? 1 : 2);
    struct live_study *study = live->oldest, *newer;
    for (; study != NULL && live->bytes > most; study = newer) {
        newer = study->newer;
        if (study->job == NULL && !stocks)
            continue;
        forget_job(live, study);
        if (stocks)
            drop_stock(live, study);
        budget_exceeded(BUDGET_STUDY_MEMORY);
    }
}

void live_forget_job(struct live *live, int64_t study)
{
    struct live_study *entry = *study_link(live, study);
    if (entry != NULL)
        forget_job(live, entry);
}

enum ht_status live_job(struct live *live, const struct study_row *row,
                        const struct job **job, struct ht_error *err)
{
    struct live_study *study = live_study(live, row->id);
    if (study->job == NULL) {
        struct arena *arena = arena_new();
        struct job *parsed;
        const enum ht_status status =
            vertex_parse(arena, row->spec, &parsed, err);
        if (status != HT_OK) {
            arena_free(arena);
            return status;
        }
        study->arena = arena;
        study->job = parsed;
    }
    live_use(live, study);
    *job = study->job;
    return HT_OK;
}

const struct job *live_find_job(struct live *live, int64_t id)
{
    struct live_study *study = *study_link(live, id);
    if (study == NULL || study->job == NULL)
        return NULL;
    live_use(live, study);
    return study->job;
}

/* --- trials --- */

static size_t trial_bucket(int64_t study, int64_t trial)
{
    return (size_t)(((uint64_t)study * 31 + (uint64_t)trial) % BUCKETS);
}

static struct live_trial **trial_link(struct live *live, int64_t study,
                                      int64_t trial)
{
    struct live_trial **link = &live->trials[trial_bucket(study, trial)];
    while (*link != NULL &&
           ((*link)->study != study || (*link)->trial != trial))
        link = &(*link)->next;
    return link;
}

struct live_trial *live_find_trial(struct live *live, int64_t study,
                                   int64_t trial)
{
    return *trial_link(live, study, trial);
}

struct live_trial *live_trial(struct live *live, int64_t study, int64_t trial)
{
    struct live_trial **link = trial_link(live, study, trial);
    if (*link == NULL) {
        *link = ht_xcalloc(1, sizeof **link);
        (*link)->study = study;
        (*link)->trial = trial;
    }
    return *link;
}

void live_drop_trial(struct live *live, int64_t study, int64_t trial)
{
    struct live_trial **link = trial_link(live, study, trial);
    struct live_trial *entry = *link;
    if (entry == NULL)
        return;
    *link = entry->next;
    free(entry);
}

/* --- runners --- */

struct live_runner *live_find_runner(struct live *live, const char *id)
{
    struct live_runner *runner = live->runners;
    while (runner != NULL && strcmp(runner->id, id) != 0)
        runner = runner->next;
    return runner;
}

struct live_runner *live_runner(struct live *live, const char *id,
                                const char *boot)
{
    struct live_runner *runner = live_find_runner(live, id);
    if (runner == NULL) {
        runner = ht_xcalloc(1, sizeof *runner);
        snprintf(runner->id, sizeof runner->id, "%s", id);
        runner->next = live->runners;
        live->runners = runner;
    }
    if (strcmp(runner->boot, boot) != 0) {
        clear_runner(runner);
        snprintf(runner->boot, sizeof runner->boot, "%s", boot);
    }
    return runner;
}

void live_set_rules(struct live_runner *runner, const char *json)
{
    struct arena *arena = arena_new();
    runner->rules = runner_rules_read(arena, json);
    arena_free(runner->arena);
    runner->arena = arena;
}

struct live_runner *live_runners(struct live *live)
{
    return live->runners;
}

bool live_has_runner(const struct live *live)
{
    const struct live_runner *runner = live->runners;
    while (runner != NULL && !runner->online)
        runner = runner->next;
    return runner != NULL;
}

/* --- all of them --- */

struct live_study *live_next_study(struct live *live,
                                   const struct live_study *after)
{
    if (after != NULL && after->next != NULL)
        return after->next;
    size_t i = after == NULL ? 0 : study_bucket(after->id) + 1;
    while (i < BUCKETS && live->studies[i] == NULL)
        i++;
    return i < BUCKETS ? live->studies[i] : NULL;
}

struct live_trial *live_next_trial(struct live *live,
                                   const struct live_trial *after)
{
    if (after != NULL && after->next != NULL)
        return after->next;
    size_t i = after == NULL ? 0 : trial_bucket(after->study, after->trial) + 1;
    while (i < BUCKETS && live->trials[i] == NULL)
        i++;
    return i < BUCKETS ? live->trials[i] : NULL;
}

static void forget_answer(struct live_answer *answer, int64_t transaction)
{
    if (answer->transaction != transaction)
        return;
    free(answer->text);
    *answer = (struct live_answer){.seen = answer->seen};
}

void live_forget_rows(struct live *live, int64_t transaction)
{
    struct live_study *study = NULL;
    while ((study = live_next_study(live, study)) != NULL)
        forget_job(live, study);
    for (struct live_runner *runner = live->runners;
         transaction > 0 && runner != NULL; runner = runner->next) {
        for (size_t i = 0; i < LIVE_TYPES; i++)
            forget_answer(&runner->answers[i], transaction);
        /* The poll was refused, too: the next one says it anew. */
        if (runner->slots_transaction == transaction)
            live_forget_slots(runner);
    }
}
