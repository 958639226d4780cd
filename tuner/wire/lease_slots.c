#include "tuner/wire/lease_slots.h"

#include <string.h>

#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/db/write.h"
#include "tuner/placement/demand.h"
#include "tuner/runners/machine_types.h"
#include "tuner/study/common_file.h"
#include "tuner/study/elastic.h"

enum { MOST_SLOTS = 10000 /* in one number of a poll */ };

struct slots_study {
    struct study_row row;
    const struct job *job;
    struct trial_counts counts;
    bool is_free;     /* as common_file_is_free() */
    int64_t given;    /* attempts, by this answer */
    int64_t running;  /* attempts at all runners, without those */
    int64_t here;     /* ... at this one */
    int64_t slots;    /* the result */
    const char *need; /* of one, as text; NULL: not made yet */
    const char *hash;
};

/* --- what is open --- */

static enum ht_status add_study(struct lease_slots *slots, int64_t id,
                                struct ht_error *err)
{
    struct lease_poll *poll = slots->poll;
    struct slots_study study = {0};
    int64_t startable;
    enum ht_status status =
        lease_find_job(poll, id, &study.row, &study.job, err);
    if (status == HT_CORRUPT)
        return HT_OK; /* nothing of it can run */
    if (status == HT_OK)
        status = lease_startable(poll, &study.row, study.job, &study.counts,
                                 &startable, err);
    if (status == HT_OK)
        status =
            common_file_is_free(poll->core, id, study.job, &study.is_free, err);
    if (status != HT_OK)
        return status;
    fleet_add_study(&poll->fleet, &study.row, study.job,
                    study.row.state == STUDY_RUNNING ? startable : 0,
                    trial_counts_all(&study.counts, TRIAL_ACTIVE));
    slots->studies = arena_grow(poll->arena, slots->studies, slots->n,
                                sizeof *slots->studies);
    slots->studies[slots->n++] = study;
    return HT_OK;
}

static struct slots_study *find(const struct lease_slots *slots, int64_t id)
{
    for (size_t i = 0; i < slots->n; i++)
        if (slots->studies[i].row.id == id)
            return &slots->studies[i];
    return NULL;
}

static void count_running(const struct lease_slots *slots)
{
    const struct fleet_attempt_list *all = &slots->poll->fleet.attempts;
    struct slots_study *study = NULL;
    for (size_t i = 0; i < all->n; i++) {
        if (study == NULL || study->row.id != all->rows[i].study)
            study = find(slots, all->rows[i].study);
        if (study == NULL)
            continue;
        study->running++;
        study->here +=
            strcmp(all->rows[i].runner, slots->poll->runner->id) == 0;
    }
}

/* --- what the poll says --- */

/* Of a list of the poll; NULL: it has none of the study. */
static const struct node *find_item(const struct lease_poll *poll,
                                    const char *list, int64_t study)
{
    NODE_EACH (item, node_first(poll->req->body, list))
        if (node_get_int(item, "study", 0) == study)
            return item;
    return NULL;
}

static enum ht_status read_asks(const struct lease_slots *slots,
                                struct elastic_poll *said, struct ht_error *err)
{
    const struct node *list = node_find(slots->poll->req->body, "asking");
    said->asks =
        arena_alloc(slots->poll->arena, slots->n + 1, sizeof *said->asks);
    NODE_EACH (item, list == NULL ? NULL : list->first) {
        const int64_t n = node_get_int(item, "n", 0);
        const struct slots_study *study =
            find(slots, node_get_int(item, "study", 0));
        if (n < 0 || n > MOST_SLOTS)
            return ht_fail(err, HT_INVALID, "asking: n must be from 0 to %d",
                           MOST_SLOTS);
        if (study == NULL) /* it has ended */
            continue;
        for (size_t i = 0; i < said->n_asks; i++)
            if (said->asks[i].study == study->row.id)
                return ht_fail(err, HT_INVALID,
                               "asking: study %lld comes twice",
                               (long long)study->row.id);
        said->asks[said->n_asks++] =
            (struct live_ask){.study = study->row.id, .n = n};
    }
    return HT_OK;
}

static void read_refusals(const struct lease_slots *slots,
                          struct elastic_poll *said)
{
    struct arena *arena = slots->poll->arena;
    const struct node *list = node_find(slots->poll->req->body, "refused");
    NODE_EACH (item, list == NULL ? NULL : list->first) {
        const struct slots_study *study =
            find(slots, node_get_int(item, "study", 0));
        const char *reason = node_get_string(item, "reason", "");
        if (study == NULL || *reason == '\0')
            continue;
        said->refusals = arena_grow(arena, said->refusals, said->n_refusals,
                                    sizeof *said->refusals);
        said->refusals[said->n_refusals++] = (struct live_refusal){
            study->row.id, reason_make(arena, "%s", reason)};
    }
}

/* For people; the server itself needs none of it. */
static void note_elements(const struct lease_slots *slots,
                          const struct elastic_poll *said)
{
    const struct lease_poll *poll = slots->poll;
    const struct core_options *options = core_options_of(poll->core);
    if (options->on_elements == NULL)
        return;
    cJSON *all = cJSON_CreateArray();
    for (size_t i = 0; i < slots->n; i++) {
        const struct study_row *row = &slots->studies[i].row;
        const struct node *item = find_item(poll, "elements", row->id);
        const char *why = node_get_string(item, "why", "");
        const char *refused =
            elastic_refusal(said->n_refusals, said->refusals, row->id);
        if (item == NULL && *refused == '\0')
            continue;
        cJSON *shown = json_push_object(all);
        json_add_string(shown, "study", row->name);
        json_add_int(shown, "run", node_get_int(item, "run", 0));
        json_add_int(shown, "wait", node_get_int(item, "wait", 0));
        if (*why != '\0')
            json_add_string(shown, "why", reason_make(poll->arena, "%s", why));
        else if (*refused != '\0')
            json_add_string(shown, "refused", refused);
    }
    options->on_elements(options->context, poll->runner->id,
                         json_text(poll->arena, all));
}

enum ht_status lease_slots_read(struct lease_slots *slots,
                                struct lease_poll *poll, struct ht_error *err)
{
    struct id_list open;
    struct elastic_poll said = {0};
    *slots = (struct lease_slots){.poll = poll};
    enum ht_status status = db_study_served(poll->db, poll->arena, &open, err);
    if (status == HT_OK)
        status = fleet_read(poll->core, poll->arena, &poll->fleet, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++)
        status = add_study(slots, open.ids[i], err);
    if (status == HT_OK)
        status = read_asks(slots, &said, err);
    if (status != HT_OK)
        return status;
    read_refusals(slots, &said);
    poll->at = fleet_find(&poll->fleet, poll->runner);
    count_running(slots);
    note_elements(slots, &said);
    elastic_note(poll->core, poll->runner, &said);
    return HT_OK;
}

/* --- who gets a trial --- */

static enum ht_status give_to(struct lease_slots *slots, size_t index,
                              bool *more, struct ht_error *err)
{
    struct lease_poll *poll = slots->poll;
    struct slots_study *study = &slots->studies[index];
    struct lease_fresh fresh = {.counts = &study->counts};
    struct trial_pair pair;
    *more = false;
    if (elastic_asking(poll->runner, study->row.id, &fresh.owed) == 0)
        return HT_OK;
    poll->choice =
        placement_next_of(&poll->fleet.state, poll->arena, poll->at, index);
    if (poll->choice.study == PLACEMENT_NONE)
        return HT_OK;
    enum ht_status status = lease_next_of_study(poll, study->row.id, &fresh,
                                                &pair.trial, more, err);
    if (status == HT_OK && *more)
        status = lease_give(poll, &pair, err);
    if (status != HT_OK || !*more)
        return status;
    *more = !poll->full;
    if (!*more)
        return HT_OK;
    elastic_note_given(poll->core, poll->runner, study->row.id);
    study->given++;
    return HT_OK;
}

enum ht_status lease_slots_give(struct lease_slots *slots, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (slots->poll->at == PLACEMENT_NONE)
        return HT_OK;
    for (size_t i = 0; status == HT_OK && i < slots->n; i++)
        for (bool more = true; status == HT_OK && more;)
            status = give_to(slots, i, &more, err);
    return status;
}

/* --- what slots need --- */

/* The server knows machine types that others do not. */
static void make_need(struct lease_poll *poll, struct slots_study *study)
{
    const struct machine_types *machines = machine_types_now(poll->core);
    struct job job = *study->job;
    job.pools = arena_alloc(poll->arena, job.n_pools + 1, sizeof *job.pools);
    for (size_t i = 0; i < job.n_pools; i++) {
        const struct machine_type needs =
            machine_types_needs(machines, study->job, &study->job->pools[i]);
        job.pools[i] = study->job->pools[i];
        job.pools[i].machine = NULL;
        job.pools[i].cpus = needs.cpus;
        job.pools[i].memory_bytes = needs.memory;
        job.pools[i].gpus = needs.gpus;
    }
    const struct slurm_need need = slurm_need_of(poll->arena, &job);
    unsigned char sha[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    study->need = slurm_need_write(poll->arena, &need);
    token_sha256(sha, study->need, strlen(study->need));
    token_hex(hex, sha);
    study->hash = arena_strdup(poll->arena, hex);
}

/* --- how many are wanted --- */

/* Trials that could run at a time, also what runs. */
static int64_t most_of(const struct lease_slots *slots,
                       const struct slots_study *study)
{
    const struct study_row *row = &study->row;
    const int64_t running = study->running + study->given;
    if (row->state != STUDY_RUNNING || !study->is_free ||
        disk_guard_is_closed(slots->poll->core))
        return running;
    int64_t more =
        trial_counts_all(&study->counts, TRIAL_REQUESTED) - study->given;
    const int64_t left = study->job->max_trials - db_study_trials_made(row);
    if (row->kind == JOB_TUNING && !row->exhausted &&
        !db_study_only_confirms(row) && left > 0)
        more += left;
    return running + more < study->job->parallel ? running + more
                                                 : study->job->parallel;
}

/* Runners with slots of their own have them at once. */
static int64_t startable_elsewhere(const struct lease_slots *slots,
                                   size_t index,
                                   const struct demand_study *demand)
{
    struct lease_poll *poll = slots->poll;
    const int64_t most = demand->most - demand->running;
    return most > 0 ? placement_startable(&poll->fleet.state, poll->arena,
                                          index, most)
                    : 0;
}

/* False: the runner gets no further trial of it. */
static bool describe(const struct lease_slots *slots, size_t index,
                     struct demand_study *demand)
{
    const struct lease_poll *poll = slots->poll;
    const struct placement *state = &poll->fleet.state;
    const struct slots_study *study = &slots->studies[index];
    int64_t *asking =
        arena_alloc(poll->arena, state->n_runners + 1, sizeof *asking);
    bool serves = false;
    int64_t owed;
    *demand = (struct demand_study){.id = study->row.id,
                                    .priority = state->studies[index].priority,
                                    .project = state->studies[index].project,
                                    .needs = state->studies[index].needs,
                                    .most = most_of(slots, study),
                                    .running = study->running + study->given,
                                    .here = study->here + study->given,
                                    .asking = asking};
    for (size_t i = 0; i < state->n_runners; i++) {
        if (!state->runners[i].elastic || !placement_may_run(state, i, index))
            continue;
        if (i == poll->at) {
            serves = true;
            demand->at = demand->n;
        }
        asking[demand->n++] =
            elastic_asking(poll->fleet.runners[i], study->row.id, &owed);
    }
    if (serves)
        demand->elsewhere = startable_elsewhere(slots, index, demand);
    return serves;
}

static void divide(struct lease_slots *slots)
{
    struct lease_poll *poll = slots->poll;
    struct demand demand = {.n_projects = poll->fleet.state.n_projects,
                            .projects = poll->fleet.state.projects,
                            .most = poll->runner->slots};
    size_t *of = arena_alloc(poll->arena, slots->n + 1, sizeof *of);
    demand.studies =
        arena_alloc(poll->arena, slots->n + 1, sizeof *demand.studies);
    for (size_t i = 0; i < slots->n; i++) {
        struct slots_study *study = &slots->studies[i];
        study->slots = study->here + study->given;
        of[demand.n] = i;
        if (describe(slots, i, &demand.studies[demand.n]))
            demand.n++;
        else
            demand.most -= study->slots;
    }
    demand_divide(poll->arena, &demand);
    for (size_t i = 0; i < demand.n; i++)
        slots->studies[of[i]].slots = demand.studies[i].slots;
}

/* Whether the runner has slots of a study that is not wanted. */
static bool has_others(const struct lease_slots *slots)
{
    const struct node *list = node_find(slots->poll->req->body, "have");
    NODE_EACH (item, list == NULL ? NULL : list->first) {
        const struct slots_study *study =
            find(slots, node_get_int(item, "study", 0));
        if (node_get_int(item, "slots", 0) > 0 &&
            (study == NULL || study->slots == 0))
            return true;
    }
    return false;
}

static void add_wanted(struct lease_poll *poll, struct slots_study *study,
                       cJSON *wanted, bool *news)
{
    const struct node *had = find_item(poll, "have", study->row.id);
    make_need(poll, study);
    const bool same_need =
        strcmp(node_get_string(had, "need", ""), study->hash) == 0;
    cJSON *item = json_push_object(wanted);
    json_add_int(item, "study", study->row.id);
    json_add_int(item, "slots", study->slots);
    json_add_string(item, "need", study->hash);
    if (!same_need)
        cJSON_AddItemToObject(item, "is", cJSON_CreateRaw(study->need));
    if (!same_need || node_get_int(had, "slots", 0) != study->slots)
        *news = true;
}

void lease_slots_want(struct lease_slots *slots, cJSON *wanted, bool *news)
{
    if (slots->poll->at != PLACEMENT_NONE)
        divide(slots);
    *news = has_others(slots);
    for (size_t i = 0; i < slots->n; i++)
        if (slots->studies[i].slots > 0)
            add_wanted(slots->poll, &slots->studies[i], wanted, news);
}
