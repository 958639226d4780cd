#include "tuner/study/elastic.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/core/core.h"
#include "tuner/db/fleet.h"
#include "tuner/db/write.h"
#include "tuner/runners/fleet.h"
#include "tuner/study/withdrawal.h"

/* --- what a poll says --- */

int64_t elastic_asking(const struct live_runner *runner, int64_t study,
                       int64_t *owed)
{
    int64_t n = 0;
    *owed = 0;
    for (size_t i = 0; i < runner->n_asks; i++) {
        const struct live_ask *ask = &runner->asks[i];
        if (ask->study != study)
            continue;
        if (n == 0)
            *owed = ask->owed;
        n += ask->n;
    }
    return n;
}

static void add_ask(struct live_runner *runner, const struct live_ask *ask)
{
    if (ask->n == 0)
        return;
    runner->asks =
        ht_xrealloc(runner->asks, runner->n_asks + 1, sizeof *runner->asks);
    runner->asks[runner->n_asks++] = *ask;
}

/* Adds those of `old` that still ask, the ones that began last. */
static void keep_asks(struct live_runner *runner, int64_t study, int64_t gone,
                      size_t n, const struct live_ask old[])
{
    for (size_t i = 0; i < n; i++) {
        struct live_ask ask = old[i];
        if (ask.study != study)
            continue;
        const int64_t less = gone < ask.n ? gone : ask.n;
        gone -= less;
        ask.n -= less;
        add_ask(runner, &ask);
    }
}

/* Read by what settles the study in this transaction, so it cannot wait for the
 * COMMIT: live_forget_rows() takes it back. */
static void note_change(struct core *core, struct live_runner *runner,
                        int64_t study)
{
    runner->slots_transaction = core_transaction_number(core);
    core_touch(core, study);
}

static void note_asks(struct core *core, struct live_runner *runner,
                      const struct elastic_poll *poll)
{
    const struct live_runner before = *runner;
    runner->asks = NULL;
    runner->n_asks = 0;
    for (size_t i = 0; i < poll->n_asks; i++) {
        const int64_t study = poll->asks[i].study, n = poll->asks[i].n;
        int64_t owed;
        const int64_t old = elastic_asking(&before, study, &owed);
        keep_asks(runner, study, old > n ? old - n : 0, before.n_asks,
                  before.asks);
        const struct live_ask more = {study, n > old ? n - old : 0,
                                      live_study(core_live(core), study)->news};
        add_ask(runner, &more);
        if (n != old)
            note_change(core, runner, study);
    }
    free(before.asks);
}

void elastic_note_given(struct core *core, struct live_runner *runner,
                        int64_t study)
{
    runner->slots_transaction = core_transaction_number(core);
    for (size_t i = 0; i < runner->n_asks; i++) {
        struct live_ask *ask = &runner->asks[i];
        if (ask->study != study || ask->n == 0)
            continue;
        ask->n--;
        return;
    }
}

void elastic_touch_asking(struct core *core)
{
    for (const struct live_runner *runner = live_runners(core_live(core));
         runner != NULL; runner = runner->next)
        for (size_t i = 0; runner->online && i < runner->n_asks; i++)
            if (runner->asks[i].n > 0)
                core_touch(core, runner->asks[i].study);
}

const char *elastic_refusal(size_t n, const struct live_refusal list[],
                            int64_t study)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].study == study)
            return list[i].reason;
    return "";
}

/* Settles the studies of `list` that another list says something else of. */
static void touch_changed(struct core *core, struct live_runner *runner,
                          size_t n, const struct live_refusal list[],
                          size_t n_other, const struct live_refusal other[])
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(elastic_refusal(n_other, other, list[i].study),
                   list[i].reason) != 0)
            note_change(core, runner, list[i].study);
}

static void note_refusals(struct core *core, struct live_runner *runner,
                          const struct elastic_poll *poll)
{
    touch_changed(core, runner, poll->n_refusals, poll->refusals,
                  runner->n_refusals, runner->refusals);
    touch_changed(core, runner, runner->n_refusals, runner->refusals,
                  poll->n_refusals, poll->refusals);
    arena_free(runner->refused);
    runner->refused = NULL;
    runner->refusals = NULL;
    runner->n_refusals = 0;
    if (poll->n_refusals == 0)
        return;
    struct arena *arena = arena_new();
    struct live_refusal *list =
        arena_alloc(arena, poll->n_refusals, sizeof *list);
    for (size_t i = 0; i < poll->n_refusals; i++)
        list[i] = (struct live_refusal){
            poll->refusals[i].study,
            arena_strdup(arena, poll->refusals[i].reason)};
    runner->refused = arena;
    runner->refusals = list;
    runner->n_refusals = poll->n_refusals;
}

void elastic_note(struct core *core, struct live_runner *runner,
                  const struct elastic_poll *poll)
{
    note_asks(core, runner, poll);
    note_refusals(core, runner, poll);
}

/* --- what points know --- */

/* Not taken back with a transaction: a later trial with that id knows as much
 * or more. */
void elastic_note_made(struct core *core, const struct trial_row *trial,
                       int64_t news)
{
    struct live_study *live = live_study(core_live(core), trial->study);
    if (live->n_made > 0 && live->made[live->n_made - 1].news == news)
        return;
    if (live->n_made == LIVE_MADE) {
        memmove(live->made, live->made + 1,
                (LIVE_MADE - 1) * sizeof *live->made);
        live->n_made--;
    }
    live->made[live->n_made++] = (struct live_made){trial->id, news};
}

bool elastic_is_fresh(struct core *core, const struct trial_counts *counts,
                      const struct trial_row *trial, int64_t owed)
{
    const struct live_study *live = live_study(core_live(core), trial->study);
    if (!withdrawal_may_be(trial) || trial_counts_ended(counts->of) == 0)
        return true;
    size_t i = live->n_made;
    while (i > 0 && live->made[i - 1].from > trial->id)
        i--;
    return i > 0 && live->made[i - 1].news >= owed;
}

/* --- how many are made --- */

int64_t elastic_backing_off(struct core *core, int64_t study)
{
    const struct live_trial *trial = NULL;
    int64_t n = 0;
    while ((trial = live_next_trial(core_live(core), trial)) != NULL)
        n += trial->study == study && trial->retry_at_ms > core_now_ms(core);
    return n;
}

/* The slots that a study has trials made for. */
struct plan {
    bool elastic;  /* only for these, not for all trials that may run */
    int64_t ahead; /* of runners with slots of their own */
    int64_t asked; /* that ask, and owe no more than the news in question */
    int64_t owed;  /* by the first of them */
    int64_t quota; /* of the project, for trials that wait */
};

static void count_asked(const struct fleet_serving *serving, int64_t study,
                        int64_t news, struct plan *plan)
{
    bool first = true;
    for (size_t i = 0; i < serving->n_elastic; i++)
        for (size_t k = 0; k < serving->elastic[i]->n_asks; k++) {
            const struct live_ask *ask = &serving->elastic[i]->asks[k];
            if (ask->study != study || ask->n == 0 || ask->owed > news)
                continue;
            plan->asked += ask->n;
            if (first || ask->owed < plan->owed)
                plan->owed = ask->owed;
            first = false;
        }
}

static enum ht_status count_ahead(const struct settling *settling,
                                  const struct fleet_serving *serving,
                                  struct plan *plan, struct ht_error *err)
{
    const struct trial_counts *counts = &settling->counts;
    const int64_t running = trial_counts_all(counts, TRIAL_ACTIVE) +
                            trial_counts_all(counts, TRIAL_STOPPING);
    enum ht_status status = HT_OK;
    int64_t others = running;
    if (serving->slots == 0)
        return HT_OK;
    for (size_t i = 0; status == HT_OK && i < serving->n_elastic; i++) {
        int64_t n = 0;
        status = db_study_open_at(core_db(settling->core), settling->row.id,
                                  serving->elastic[i]->id, &n, err);
        others -= n;
    }
    const int64_t room = settling->job->parallel - running - plan->asked;
    plan->ahead = serving->slots - (others > 0 ? others : 0);
    if (plan->ahead > room)
        plan->ahead = room;
    if (plan->ahead < 0)
        plan->ahead = 0;
    return status;
}

/* Trials that the project's quota has no room for would wait with old points.
 */
static enum ht_status count_quota(const struct settling *settling,
                                  struct plan *plan, struct ht_error *err)
{
    struct project_row row;
    struct fleet fleet;
    enum ht_status status =
        db_project_get(core_db(settling->core), settling->arena,
                       settling->row.project, &row, err);
    plan->quota = INT64_MAX;
    if (status != HT_OK || (row.most_slots == 0 && row.most_gpus <= 0))
        return status;
    status = fleet_read(settling->core, settling->arena, &fleet, err);
    const struct placement_needs needs =
        fleet_needs(settling->core, settling->arena, settling->job);
    for (size_t i = 0; status == HT_OK && i < fleet.state.n_projects; i++)
        if (strcmp(fleet.state.projects[i].name, settling->row.project) == 0)
            plan->quota = placement_quota(&fleet.state.projects[i], &needs);
    return status;
}

static enum ht_status make_plan(const struct settling *settling, int64_t news,
                                struct plan *plan, struct ht_error *err)
{
    *plan = (struct plan){0};
    if (!job_is_for_cluster(settling->job) && !fleet_is_elastic(settling->core))
        return HT_OK;
    const struct fleet_serving serving =
        fleet_find_serving(settling->core, settling->arena, settling->job);
    plan->elastic = job_is_for_cluster(settling->job) || serving.n_elastic > 0;
    count_asked(&serving, settling->row.id, news, plan);
    if (!plan->elastic)
        return HT_OK;
    const enum ht_status status = count_quota(settling, plan, err);
    return status == HT_OK ? count_ahead(settling, &serving, plan, err)
                           : status;
}

enum ht_status elastic_due(const struct settling *settling, int64_t news,
                           int64_t *n, struct ht_error *err)
{
    struct plan plan = {0};
    *n = study_wanted(settling);
    const enum ht_status status =
        *n > 0 ? make_plan(settling, news, &plan, err) : HT_OK;
    if (status != HT_OK || !plan.elastic)
        return status;
    const int64_t ready = trial_counts_all(&settling->counts, TRIAL_REQUESTED) -
                          elastic_backing_off(settling->core, settling->row.id);
    const int64_t slots = plan.ahead + plan.asked;
    const int64_t due = (slots < plan.quota ? slots : plan.quota) - ready;
    if (due < *n)
        *n = due > 0 ? due : 0;
    return HT_OK;
}

/* --- points that are too old --- */

static enum ht_status list_old(struct settling *settling,
                               const struct plan *plan, struct trial_list *old,
                               struct ht_error *err)
{
    struct trial_list page = {.n = DB_WAITING_PAGE};
    int64_t after = 0;
    *old = (struct trial_list){0};
    while (page.n == DB_WAITING_PAGE) {
        const enum ht_status status =
            db_trial_waiting(core_db(settling->core), settling->arena,
                             settling->row.id, after, &page, err);
        if (status != HT_OK)
            return status;
        for (size_t i = 0; i < page.n; i++) {
            after = page.rows[i].id;
            if (elastic_is_fresh(settling->core, &settling->counts,
                                 &page.rows[i], plan->owed))
                continue;
            old->rows = arena_grow(settling->arena, old->rows, old->n,
                                   sizeof *old->rows);
            old->rows[old->n++] = page.rows[i];
        }
    }
    return HT_OK;
}

enum ht_status elastic_withdraw(struct settling *settling, struct ht_error *err)
{
    struct core *core = settling->core;
    const struct live_study *live =
        live_study(core_live(core), settling->row.id);
    struct plan plan = {0};
    struct trial_list old = {0};
    enum ht_status status = make_plan(settling, live->news, &plan, err);
    if (status == HT_OK && plan.asked > 0 &&
        trial_counts_all(&settling->counts, TRIAL_REQUESTED) > 0)
        status = list_old(settling, &plan, &old, err);
    /* The slots of other runners may have the first ones. */
    const size_t kept = (size_t)plan.ahead;
    if (status != HT_OK || old.n <= kept)
        return status;
    for (size_t i = kept; status == HT_OK && i < old.n; i++)
        status =
            withdrawal_of(core, &settling->row, settling->job, &old.rows[i],
                          "withdrawn: found before newer results", err);
    if (status == HT_OK)
        status = db_study_get(core_db(core), settling->arena, settling->row.id,
                              &settling->row, err);
    return status == HT_OK ? db_trial_counts(core_db(core), settling->row.id,
                                             &settling->counts, err)
                           : status;
}
