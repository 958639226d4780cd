/* study_change.c - PATCH of a study: what may change while it exists. */

#include <string.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/metrics_file.h"
#include "tuner/api/method.h"
#include "tuner/api/study.h"
#include "tuner/ask/faults.h"
#include "tuner/base/tracker_board.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/search/method.h"
#include "tuner/study/code_use.h"
#include "tuner/study/common_file.h"
#include "tuner/study/end.h"
#include "tuner/study/live_edit.h"
#include "tuner/view/aip.h"

/* What a change works on. */
struct change {
    struct method_call *call;
    struct job *job;  /* as stored, then as wanted */
    struct text what; /* the differences, for the event */
    bool asks_trials; /* anything that may make it longer */
};

/* --- how it ends --- */

/* The stored resource with another studyStoppingConfig; null takes it away. */
static const struct node *with_stopping(struct change *change,
                                        const struct node *stopping)
{
    struct arena *arena = change->call->arena;
    const struct node *stored =
        node_read_stored(arena, change->call->study.spec);
    if (node_find(stored, "studySpec") == NULL)
        return NULL;
    cJSON *resource = json_of_node(stored);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(resource, "studySpec");
    cJSON_DeleteItemFromObjectCaseSensitive(spec, "studyStoppingConfig");
    cJSON_AddItemToObject(spec, "studyStoppingConfig", json_of_node(stopping));
    return node_read_stored(arena, json_text(arena, resource));
}

static void read_stopping(struct change *change, const struct node *node)
{
    struct diag *diag = faults_of(change->call->req);
    const struct node *wanted = with_stopping(change, node);
    if (wanted == NULL) {
        diag_error(diag, node->key_line, node->key_column, node->key,
                   "a custom job has none");
        return;
    }
    const struct job *job = vertex_read(wanted, change->call->study.kind, diag);
    if (job == NULL)
        return;
    change->job->until = job->until;
    if (node_find(node, "maxNumTrials") != NULL)
        change->job->max_trials = job->max_trials;
}

static void read_target(struct change *change, const struct node *node)
{
    struct stopping *until = &change->job->until;
    double target;
    if (node->kind == NODE_NULL) {
        until->has_target = false;
    } else if (node_double(node, &target)) {
        until->has_target = true;
        until->target = target;
    } else {
        diag_error(faults_of(change->call->req), node->line, node->column,
                   node->key, "must be a number or null");
    }
}

/* --- single members --- */

struct member {
    const char *name;
    int64_t *value;
    int64_t least, most;
};

static void read_count(struct change *change, const struct node *node)
{
    struct job *job = change->job;
    const struct member members[] = {
        {"maxTrialCount", &job->max_trials, 1, HT_MAX_TRIALS},
        {"parallelTrialCount", &job->parallel, 1, HT_MAX_PARALLEL},
        {"maxFailedTrialCount", &job->max_failed, 0, HT_MAX_TRIALS},
    };
    struct diag *diag = faults_of(change->call->req);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, node->key) != 0)
            continue;
        int64_t value;
        if (!node_int64(node, &value) || value < members[i].least ||
            value > members[i].most)
            diag_error(diag, node->line, node->column, node->key,
                       "must be an integer from %lld to %lld",
                       (long long)members[i].least, (long long)members[i].most);
        else
            *members[i].value = value;
        return;
    }
    diag_error(diag, node->key_line, node->key_column, node->key,
               "cannot be changed; maxTrialCount, parallelTrialCount, "
               "maxFailedTrialCount, studyStoppingConfig, target and job can");
}

/* --- a whole job --- */

/* The new metrics with the old bounds, which may change. */
static const struct metric_goal *with_old_bounds(struct arena *arena,
                                                 const struct job *old,
                                                 const struct job *wanted)
{
    struct metric_goal *goals =
        arena_alloc(arena, wanted->n_metrics + 1, sizeof *goals);
    for (size_t i = 0; i < wanted->n_metrics; i++) {
        goals[i] = wanted->metrics[i];
        if (i >= old->n_metrics || !goals[i].safety || !old->metrics[i].safety)
            continue;
        goals[i].threshold = old->metrics[i].threshold;
        goals[i].safe_share = old->metrics[i].safe_share;
    }
    return goals;
}

/* The stored job with only those parts of the new one that may never change:
 * what differs then is what another study is needed for. */
static struct job probe_fixed(const struct change *change,
                              const struct job *wanted)
{
    const struct job *stored = change->job;
    struct job probe = *stored;
    probe.n_metrics = wanted->n_metrics;
    probe.metrics = with_old_bounds(change->call->arena, stored, wanted);
    probe.algorithm = wanted->algorithm;
    probe.warm_start = wanted->warm_start;
    if (stored->space.open || wanted->space.open)
        probe.space = wanted->space;
    if (wanted->has_seed) {
        probe.has_seed = true;
        probe.seed = wanted->seed;
    }
    return probe;
}

static enum ht_status refuse(const struct change *change,
                             const char *differences, struct ht_error *err)
{
    const char *name = change->call->study.name;
    return ht_fail(err, HT_CONFLICT,
                   "study %.60s cannot change in this, clone it (hypertune "
                   "clone %.60s): %s",
                   name, name, differences);
}

static enum ht_status check_fixed_parts(const struct change *change,
                                        const struct job *wanted,
                                        struct ht_error *err)
{
    const struct job probe = probe_fixed(change, wanted);
    const long long seed = (long long)change->call->study.seed;
    struct text differences = {0};
    enum ht_status status = HT_OK;
    if (form_diff(change->job, &probe, &differences) > 0)
        status = refuse(change, differences.data, err);
    else if (wanted->has_seed && wanted->seed != seed)
        status = refuse(change,
                        arena_printf(change->call->arena, "seed: %lld -> %lld",
                                     seed, (long long)wanted->seed),
                        err);
    text_free(&differences);
    return status;
}

/* The new space keeps what trials of the old one had; as at its creation, a
 * study is refused what it cannot search. */
static enum ht_status check_space(const struct change *change,
                                  struct job *wanted, struct ht_error *err)
{
    const char *name = change->call->study.name;
    struct ht_error why;
    if (change->call->study.kind == JOB_CUSTOM)
        return HT_OK;
    if (space_change(change->call->arena, &change->job->space, &wanted->space,
                     &why) != HT_OK)
        return ht_fail(err, HT_CONFLICT, "study %.60s: %s %.60s", name,
                       why.text,
                       name); /* its text ends with "hypertune clone" */
    return search_method_check(wanted, err);
}

/* What its replicas and AI Platform's clients are shown as sent. */
static void note_sent(struct change *change, const struct node *node)
{
    struct arena *arena = change->call->arena;
    struct study_row *row = &change->call->study;
    row->job_spec = study_sent_spec(arena, node, change->job);
    if (row->submitted[0] != '\0')
        row->submitted =
            json_text(arena, view_aip_input(arena, row, change->job));
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum ht_status read_whole_job(struct change *change,
                                     const struct node *node,
                                     struct ht_error *err)
{
    struct job *wanted = vertex_read(node, change->call->study.kind,
                                     faults_of(change->call->req));
    if (wanted == NULL)
        return HT_OK; /* the faults are in diag */
    if (wanted->algorithm == ALGORITHM_DEFAULT)
        wanted->algorithm = change->job->algorithm;
    enum ht_status status = check_fixed_parts(change, wanted, err);
    if (status == HT_OK)
        status = check_space(change, wanted, err);
    if (status != HT_OK)
        return status;
    tracker_board_check(core_options_of(change->call->core)->trackers, wanted,
                        "job.hypertune.", faults_of(change->call->req));
    metrics_events_check(node, wanted, faults_of(change->call->req));
    wanted->name = change->job->name;
    if (wanted->captured_env.n == 0) /* what the shell of submit had */
        wanted->captured_env = change->job->captured_env;
    if (wanted->code.tree == NULL && wanted->code.way == CODE_AUTO &&
        is_same_text(wanted->workdir, change->job->workdir))
        wanted->code = change->job->code;
    wanted->has_seed = change->job->has_seed;
    wanted->seed = change->job->seed;
    change->job = wanted;
    note_sent(change, node);
    return HT_OK;
}

static enum ht_status read_member(struct change *change,
                                  const struct node *node, struct ht_error *err)
{
    if (strcmp(node->key, "parallelTrialCount") != 0)
        change->asks_trials = true;
    if (strcmp(node->key, "job") == 0)
        return read_whole_job(change, node, err);
    if (strcmp(node->key, "studyStoppingConfig") == 0)
        read_stopping(change, node);
    else if (strcmp(node->key, "target") == 0)
        read_target(change, node);
    else
        read_count(change, node);
    return HT_OK; /* the faults are in diag */
}

static enum ht_status read_body(struct change *change, struct ht_error *err)
{
    const struct node *body = change->call->req->body;
    if (body == NULL || body->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "the body must be an object");
    NODE_EACH (node, body->first) {
        const enum ht_status status = read_member(change, node, err);
        if (status != HT_OK)
            return status;
    }
    return faults_check(change->call->req, err);
}

/* Trials are not unmade, so a study never has more than it may. */
static enum ht_status check_budget(struct change *change,
                                   const struct job *before,
                                   struct ht_error *err)
{
    const int64_t most = change->job->max_trials;
    const int64_t made = db_study_trials_made(&change->call->study);
    if (most == 0 || most == before->max_trials || most >= made)
        return HT_OK;
    struct diag *diag = faults_of(change->call->req);
    diag_error(diag, 0, 0, "maxTrialCount",
               "%lld is below the %lld trials that study %.128s has made",
               (long long)most, (long long)made, change->call->study.name);
    return faults_fail(diag, err);
}

/* --- storing --- */

/* More trials at a time are not more trials. */
static enum ht_status reopen(struct change *change, struct ht_error *err)
{
    const int64_t created = db_study_trials_made(&change->call->study);
    const bool over = db_study_state_is_final(change->call->study.state) ||
                      db_study_only_confirms(&change->call->study);
    if (!over || !change->asks_trials || change->job->max_trials <= created)
        return HT_OK;
    change->call->study.exhausted = false;
    return study_reopen(
        change->call->core, &change->call->study,
        arena_printf(change->call->arena, "reopened for %lld more trials",
                     (long long)(change->job->max_trials - created)),
        err);
}

static enum ht_status store(struct change *change, struct ht_error *err)
{
    struct method_call *call = change->call;
    const char *spec = call->study.spec;
    const bool edits = live_edit_is_one(call->job, change->job);
    if (change->job->display != NULL)
        call->study.display = change->job->display;
    if (edits) /* also when it had run out of points */
        call->study.exhausted = false;
    enum ht_status status =
        code_use_change(call->core, call->study.project, call->study.id,
                        call->job, change->job, err);
    if (status == HT_OK)
        status = method_store_job(call, change->job, change->what.data, err);
    if (status == HT_OK && edits)
        status =
            live_edit_apply(call->core, &call->study, change->job, spec, err);
    core_touch(call->core, call->study.id);
    return status == HT_OK ? reopen(change, err) : status;
}

/* What is to run more at a time, or in another place, than it did. */
static enum ht_status check_file(struct change *change,
                                 const struct job *before, struct ht_error *err)
{
    struct arena *arena = change->call->arena;
    const struct job *job = change->job;
    const char *old = metrics_file_shared(arena, before);
    const char *new = metrics_file_shared(arena, job);
    const bool same = old != NULL && new != NULL &&strcmp(old, new) == 0;
    const int64_t writers = metrics_file_writers(job);
    if (new != NULL && writers > 1 &&
        !(same && writers <= metrics_file_writers(before)))
        return ht_fail(err, HT_PRECONDITION,
                       "%lld processes at a time would write one metrics file, "
                       "%.80s; first write %s",
                       (long long)writers, new,
                       metrics_file_repair(arena, job));
    return db_study_state_is_final(change->call->study.state)
               ? HT_OK /* study_reopen() asks */
               : common_file_check(change->call->core, change->call->study.id,
                                   job, err);
}

/* A person chose no tree, so it is no part of what form_diff() compares. */
static bool note_code(struct change *change)
{
    const char *before = change->call->job->code.tree;
    const char *after = change->job->code.tree;
    if (is_same_text(before, after))
        return false;
    text_printf(&change->what, "code: %.12s -> %.12s\n",
                before != NULL ? before : "none",
                after != NULL ? after : "none");
    return true;
}

static enum ht_status apply(struct change *change, struct ht_error *err)
{
    struct method_call *call = change->call;
    enum ht_status status =
        vertex_parse(call->arena, call->study.spec, &change->job, err);
    if (status == HT_OK)
        status = live_job(core_live(call->core), &call->study, &call->job, err);
    if (status == HT_OK)
        status = read_body(change, err);
    if (status == HT_OK)
        status = check_budget(change, call->job, err);
    if (status == HT_OK)
        status = check_file(change, call->job, err);
    if (status != HT_OK)
        return status;
    if (form_diff(call->job, change->job, &change->what) == 0 &&
        !note_code(change))
        return reopen(change, err);
    return store(change, err);
}

static enum ht_status change_study(struct method_call *call,
                                   struct ht_error *err)
{
    struct change change = {.call = call};
    const enum study_state state = call->study.state;
    if (state == STUDY_CANCELLING || state == STUDY_CANCELLED)
        return ht_fail(err, HT_PRECONDITION, "study %s is %s", call->study.name,
                       db_study_state_name(state));
    const enum ht_status status = apply(&change, err);
    text_free(&change.what);
    return status;
}

METHOD(study_change, METHOD_STUDY, change_study, method_reply_job)
