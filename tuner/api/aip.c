#include <string.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/check.h"
#include "tuner/api/aip.h"
#include "tuner/api/method.h"
#include "tuner/api/study.h"
#include "tuner/ask/faults.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/study/create.h"
#include "tuner/view/aip.h"

#define RESUMED "trainingInput.hyperparameters.resumePreviousJobId"
#define NOWHERE "local" /* the location of a job without a region */

/* Google's clients may send null for a missing member. */
static bool is_said(const struct node *map, const char *key)
{
    const struct node *member = node_find(map, key);
    return member != NULL && member->kind != NODE_NULL;
}

static bool is_of_texts(const char *key)
{
    static const char *const keys[] = {"args",           "containerArgs",
                                       "pythonVersion",  "containerCommand",
                                       "runtimeVersion", "categoricalValues"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* A file may contain 16 or true for a text, as YAML has no quotes. A request
 * may not: gcloud can show no job that has them, nor list those beside it. */
static void check_texts(const struct field_reader *reader, struct place at,
                        bool texts)
{
    size_t i = 0;
    if (texts && (at.node->kind == NODE_NUMBER || at.node->kind == NODE_BOOL))
        field_wrong_kind(reader, at, "text");
    NODE_EACH (node, at.node->first) {
        struct place below = field_item(reader, at, node, i++);
        if (node->key)
            below.path =
                arena_printf(reader->arena, "%s.%s", at.path, node->key);
        check_texts(reader, below,
                    texts || (node->key && is_of_texts(node->key)));
    }
}

/* A request must contain what a file may leave to the command line; and new
 * jobs keep Google's rules of labels and texts. */
static void check_new(const struct node *body, struct diag *diag)
{
    const struct field_reader reader = {.diag = diag, .arena = diag->arena};
    job_check_labels(&reader, (struct place){body, ""});
    const struct node *input = node_find(body, "trainingInput");
    const struct node *master = node_find(input, "masterConfig");
    if (body->kind == NODE_MAP && !is_said(body, "jobId"))
        diag_error(diag, 0, 0, "jobId", "is missing");
    if (input != NULL)
        check_texts(&reader, (struct place){input, "trainingInput"}, false);
    if (input == NULL || input->kind != NODE_MAP ||
        is_said(master, "imageUri") || is_said(input, "pythonModule"))
        return;
    diag_error(diag, 0, 0, "trainingInput.masterConfig.imageUri", "is missing");
    diag_hint(diag, "or pythonModule, where the runners start processes");
}

static struct job *job_of_body(struct request *req, struct ht_error *err)
{
    if (req->body == NULL) {
        ht_fail(err, HT_INVALID, "the request has no body");
        return NULL;
    }
    struct diag *diag = faults_of(req);
    struct job *job = aip_read(req->body, diag);
    check_new(req->body, diag);
    if (diag->errors == 0)
        return job;
    faults_fail(diag, err);
    return NULL;
}

/* --- continuing an earlier job --- */

static enum ht_status refuse(struct request *req, const char *text,
                             struct ht_error *err)
{
    diag_error(faults_of(req), 0, 0, RESUMED, "%s", text);
    return faults_fail(faults_of(req), err);
}

/* The space with its parameters in the order of the old one, where they are
 * the same: their order makes no other search. Parameters of AI Platform have
 * no conditions, which would mean them by their place. */
static struct space in_order_of(struct arena *arena, const struct space *old,
                                const struct space *space)
{
    struct space sorted = *space;
    sorted.params = arena_alloc(arena, space->n + 1, sizeof *sorted.params);
    for (size_t i = 0; i < space->n; i++) {
        const int at = i < old->n ? space_find(space, old->params[i].name) : -1;
        if (at < 0 || old->n != space->n)
            return *space;
        sorted.params[i] = space->params[at];
    }
    return sorted;
}

/* The earlier job with the space and metrics of the new one: the differences
 * forbid to continue it. */
static enum ht_status check_same_search(struct request *req,
                                        const struct job *old,
                                        const struct job *job,
                                        struct ht_error *err)
{
    struct job probe = *old;
    struct text differences = {0};
    probe.space = in_order_of(req->arena, &old->space, &job->space);
    probe.n_metrics = job->n_metrics;
    probe.metrics = job->metrics;
    enum ht_status status = HT_OK;
    if (form_diff(old, &probe, &differences) > 0) {
        differences.data[strcspn(differences.data, "\n")] = '\0';
        status = refuse(req,
                        arena_printf(req->arena,
                                     "searches for something else: %.150s",
                                     differences.data),
                        err);
    }
    text_free(&differences);
    return status;
}

/* Google continues the very search of that job. Its number takes the place of
 * its id, which a job elsewhere in the project may have too. */
static enum ht_status find_resumed(struct core *core, struct request *req,
                                   struct job *job, struct ht_error *err)
{
    const struct study_scope scope = {.project = req->scope.project,
                                      .kinds = STUDY_KIND(JOB_TUNING)};
    struct study_row row;
    struct job *old;
    if (job->warm_start.n == 0)
        return HT_OK;
    enum ht_status status = db_study_find(core_db(core), req->arena, &scope,
                                          job->warm_start.items[0], &row, err);
    if (status == HT_NOT_FOUND)
        return refuse(req, "is no tuning job of the project", err);
    if (status == HT_OK)
        status = vertex_parse(req->arena, row.spec, &old, err);
    if (status == HT_OK)
        status = check_same_search(req, old, job, err);
    if (status != HT_OK)
        return status;
    const char **number = arena_alloc(req->arena, 1, sizeof *number);
    *number = arena_printf(req->arena, "%lld", (long long)row.id);
    job->warm_start.items = number;
    return HT_OK;
}

/* --- the job --- */

static enum ht_status reply(struct method_call *call, struct ht_error *err)
{
    cJSON *view;
    enum ht_status status = method_settle(call, err);
    if (status == HT_OK)
        status = view_aip(call->db, call->arena, &call->study, &view, err);
    if (status == HT_OK)
        json_print(view, &call->req->reply);
    return status;
}

enum ht_status aip_create(struct core *core, struct request *req,
                          struct ht_error *err)
{
    struct job *job = job_of_body(req, err);
    if (job == NULL)
        return HT_INVALID;
    /* Its clients have no word for a pause, and would wait for ever. */
    job->metric_doctor = DOCTOR_WARN;
    const struct node *input = node_find(req->body, "trainingInput");
    const char *region = node_get_string(input, "region", "");
    struct making making = {
        .job = job,
        .location = *region == '\0' ? NOWHERE : region,
        .submitted = study_sent(req->arena, req->body, job, "trainingInput")};
    enum ht_status status = find_resumed(core, req, job, err);
    if (status == HT_OK)
        status = study_make(core, req, &making, err);
    struct method_call call = method_call(core, req);
    call.study.id = making.id;
    return status == HT_OK ? reply(&call, err) : status;
}

/* --- labels --- */

/* Labels are all that may change; an etag only guards them. */
static void read_mask(struct request *req)
{
    struct diag *diag = faults_of(req);
    const char *mask = request_query(req, "updateMask");
    if (mask == NULL || *mask == '\0') {
        diag_error(diag, 0, 0, "updateMask", "is missing");
        diag_hint(diag, "labels can be changed");
        return;
    }
    char *rest = arena_strdup(req->arena, mask), *name;
    while ((name = strsep(&rest, ",")) != NULL) {
        if (strcmp(name, "labels") == 0 || strcmp(name, "etag") == 0)
            continue;
        diag_error(diag, 0, 0, "updateMask", "\"%.100s\" cannot be changed",
                   name);
        diag_hint(diag, "labels can");
    }
}

static enum ht_status check_etag(struct request *req, const struct job *job,
                                 const char *etag, struct ht_error *err)
{
    if (etag == NULL || strcmp(etag, view_aip_etag(req->arena, job)) == 0)
        return HT_OK;
    return ht_fail(err, HT_CONFLICT,
                   "the job's labels have changed since; its etag is %s",
                   view_aip_etag(req->arena, job));
}

/* Whatever has ended may get other labels too. */
static enum ht_status change_labels(struct method_call *call,
                                    const struct aip_change *change,
                                    struct ht_error *err)
{
    struct job *job;
    enum ht_status status =
        vertex_parse(call->arena, call->study.spec, &job, err);
    if (status == HT_OK)
        status = check_etag(call->req, job, change->etag, err);
    if (status != HT_OK)
        return status;
    struct job wanted = *job;
    struct text differences = {0};
    wanted.labels = change->labels;
    if (form_diff(job, &wanted, &differences) > 0)
        status = method_store_job(call, &wanted, differences.data, err);
    text_free(&differences);
    return status;
}

static enum ht_status patch(struct method_call *call, struct ht_error *err)
{
    struct request *req = call->req;
    struct aip_change change;
    if (req->body == NULL)
        return ht_fail(err, HT_INVALID, "the request has no body");
    read_mask(req);
    aip_read_change(req->body, &change, faults_of(req));
    const enum ht_status status = faults_check(req, err);
    return status == HT_OK ? change_labels(call, &change, err) : status;
}

METHOD(aip_patch, METHOD_STUDY, patch, reply)
