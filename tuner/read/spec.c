/* spec.c - the spec of a study, a draft checked and planned before it is sent,
 * and templates. */

#include "proto/form/form.h"
#include "tuner/read/reader.h"
#include "tuner/read/trials.h"

#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/form/native.h"
#include "proto/job/metrics_file.h"
#include "tuner/base/tracker_board.h"
#include "tuner/base/webhook_board.h"
#include "tuner/db/db.h"

enum { EXAMPLES = 3 }; /* commands of a plan */

static const char template_folder[] = "/path/to/your/code";

/* The project and location for the studies of these specs. */
static const char place[] = "local";

static void add_text(cJSON *object, const char *name, struct text *text)
{
    json_add_string(object, name, text->data != NULL ? text->data : "");
    text_free(text);
}

/* --- the spec of a study --- */

static void add_omitted(cJSON *object, const struct diag *losses)
{
    cJSON *list = json_add_array(object, "omitted");
    const struct diag_item *item = losses->first;
    for (; item != NULL; item = item->next) {
        cJSON *one = json_push_object(list);
        json_add_string(one, "path", item->path);
        json_add_string(one, "message", item->text);
    }
}

/* Takes the tree over. */
static void reply_spec(struct request *req, const char *form, cJSON *tree,
                       const struct diag *losses)
{
    struct diag diag;
    struct text json = {0}, yaml = {0};
    json_print(tree, &json);
    diag_init(&diag, req->arena, "spec", json.data, json.len);
    const struct node *root =
        node_read_long_json(req->arena, json.data, json.len, &diag);
    node_write_yaml(root, &yaml);
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "form", form);
    cJSON_AddItemToObject(object, "spec", json_of_node(root));
    add_text(object, "yaml", &yaml);
    add_omitted(object, losses);
    json_print(object, &req->reply);
    text_free(&json);
}

/* The job of a new study that begins with the results of this one. */
static void clone(struct arena *arena, struct job *job, const char *origin,
                  const char *name)
{
    const struct job old = *job;
    const char **prior = arena_alloc(arena, 1, sizeof *prior);
    prior[0] = origin;
    job_make_clone(arena, job, &old, name);
    job->warm_start = (struct strings){1, prior};
}

enum ht_status read_spec(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    const char *form = request_query(req, "form");
    struct study_row study;
    struct diag losses;
    struct job *job;
    cJSON *tree;
    diag_init(&losses, req->arena, "spec", NULL, 0);
    form = form != NULL ? form : "native";
    enum ht_status status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = vertex_parse(req->arena, study.spec, &job, err);
    if (status == HT_OK && request_query(req, "clone") != NULL)
        clone(req->arena, job, study.name, request_query(req, "clone"));
    if (status == HT_OK)
        status = form_write(job, form, &losses, &tree, err);
    if (status == HT_OK)
        reply_spec(req, form, tree, &losses);
    return status;
}

/* --- a spec to begin with --- */

enum ht_status read_template(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    struct text yaml = {0};
    (void)reader;
    (void)err;
    native_template("[python3, train.py]", template_folder, &yaml);
    cJSON *object = cJSON_CreateObject();
    add_text(object, "yaml", &yaml);
    json_print(object, &req->reply);
    return HT_OK;
}

/* --- what is being written --- */

/* What a shell that submits a file would have added must be said. */
static void check_alone(const struct node *root, const struct job *job,
                        struct diag *diag)
{
    const struct node *workdir = node_find(root, "workdir");
    const int line = workdir != NULL ? workdir->line : 0;
    const int column = workdir != NULL ? workdir->column : 0;
    const bool runs = job->n_pools > 0 && !job_needs_images(job);
    if (job->name == NULL && job->display == NULL) {
        diag_error(diag, 0, 0, "name", "is missing");
        diag_hint(diag, "there is no file that it could be named after");
    }
    if (runs && (job->workdir == NULL || job->workdir[0] != '/')) {
        diag_error(diag, line, column, "workdir",
                   job->workdir == NULL ? "is missing"
                                        : "must be an absolute path");
        diag_hint(diag, job->own_workdir
                            ? "each trial has a copy of a folder of the "
                              "machine that runs it: workdir: {own: /FOLDER}"
                            : "commands run in a folder of the machine that "
                              "runs them: say which");
    }
    if (runs && job->workdir != NULL &&
        strcmp(job->workdir, template_folder) == 0)
        diag_warning(diag, line, column, "workdir",
                     "is the template's still: say where your code is");
    if (job->pass_env.n > 0)
        diag_warning(diag, 0, 0, "passEnv",
                     "passes on nothing: no shell submits this spec");
}

/* Where a spec of any form has the name, or NULL. */
static const struct node *find_name(const struct node *root, const char **path)
{
    const struct node *own = node_find(root, "hypertune");
    if (own != NULL) {
        *path = "hypertune.name";
        return node_find(own, "name");
    }
    *path = node_find(root, "jobId") != NULL ? "jobId" : "name";
    return node_find(root, *path);
}

static void refuse_name(const struct node *root, struct diag *diag,
                        const char *fault, const char *hint)
{
    const char *path;
    const struct node *name = find_name(root, &path);
    diag_error(diag, name != NULL ? name->line : 0,
               name != NULL ? name->column : 0, path, "%s", fault);
    diag_hint(diag, "%s", hint);
}

static enum ht_status check_name(struct reader *reader, const struct node *root,
                                 const struct job *job, struct diag *diag,
                                 struct ht_error *err)
{
    bool taken = false;
    enum ht_status status = HT_OK;
    if (job->name != NULL)
        status = db_study_name_taken(reader->db, place, place, job->name,
                                     &taken, err);
    if (status == HT_OK && taken)
        refuse_name(root, diag, "there is a study of that name",
                    "call this one otherwise, or delete the other");
    return status;
}

/* How the spec differs from that of a study that it would change, a line
 * each. */
static cJSON *list_changes(const struct job *now, const struct job *wanted)
{
    struct text lines = {0};
    cJSON *list = cJSON_CreateArray();
    form_diff(now, wanted, &lines);
    char *rest = lines.data, *line;
    while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0')
            json_push_string(list, line);
    text_free(&lines);
    return list;
}

/* The job of the study that this member of the body names; NULL without one. */
static enum ht_status find_named(struct reader *reader, struct request *req,
                                 const char *member, struct job **now,
                                 struct ht_error *err)
{
    const char *name = node_get_string(req->body, member, NULL);
    struct study_row study;
    *now = NULL;
    if (name == NULL)
        return HT_OK;
    const enum ht_status status =
        db_study_find(reader->db, req->arena, &req->scope, name, &study, err);
    return status == HT_OK ? vertex_parse(req->arena, study.spec, now, err)
                           : status;
}

static void add_findings(cJSON *object, const struct diag *diag)
{
    cJSON *list = json_add_array(object, "findings");
    const struct diag_item *item = diag->first;
    for (; item != NULL; item = item->next) {
        cJSON *one = json_push_object(list);
        json_add_string(one, "severity",
                        item->kind == DIAG_ERROR ? "ERROR" : "WARNING");
        json_add_int(one, "line", item->line);
        json_add_int(one, "column", item->column);
        json_add_string(one, "path", item->path);
        json_add_string(one, "message", item->text);
        json_add_string(one, "hint", item->hint != NULL ? item->hint : "");
    }
}

static void add_parameters(cJSON *plan, const struct space *space)
{
    cJSON *list = json_add_array(plan, "parameters");
    for (size_t i = 0; i < space->n; i++) {
        struct text range = {0}, when = {0};
        cJSON *one = json_push_object(list);
        form_plan_range(&space->params[i], &range);
        form_plan_condition(space, &space->params[i], &when);
        json_add_string(one, "name", space->params[i].name);
        json_add_string(one, "type", form_plan_type(space->params[i].type));
        add_text(one, "range", &range);
        add_text(one, "when", &when);
    }
}

static void add_examples(cJSON *plan, struct arena *arena,
                         const struct job *job)
{
    struct strings lines[EXAMPLES];
    const size_t n = job->kind == JOB_CUSTOM ? 1 : EXAMPLES;
    cJSON *list = json_add_array(plan, "examples");
    if (job->n_pools == 0)
        return;
    form_plan_examples(arena, job, n, lines);
    for (size_t i = 0; i < n; i++) {
        cJSON *words = cJSON_CreateArray();
        cJSON_AddItemToArray(list, words);
        for (size_t k = 0; k < lines[i].n; k++)
            json_push_string(words, lines[i].items[k]);
    }
}

static void add_plan(cJSON *object, struct arena *arena, const struct job *job)
{
    struct text goal = {0}, safety = {0}, search = {0};
    cJSON *plan = json_add_object(object, "plan");
    json_add_string(plan, "name", job->name != NULL ? job->name : job->display);
    if (job->kind != JOB_CUSTOM) {
        form_plan_goals(job, false, &goal);
        form_plan_goals(job, true, &safety);
        form_plan_search(job, &search);
        add_text(plan, "goal", &goal);
        add_text(plan, "safety", &safety);
        add_text(plan, "search", &search);
        add_parameters(plan, &job->space);
    }
    add_examples(plan, arena, job);
    if (job->n_pools > 0 && job->pools[0].image != NULL)
        json_add_string(plan, "image", job->pools[0].image);
    else if (job->workdir != NULL)
        json_add_string(plan, "folder", job->workdir);
}

static const char *collection_of(enum job_kind kind)
{
    switch (kind) {
    case JOB_TUNING:
        return "hyperparameterTuningJobs";
    case JOB_STUDY:
        return "studies";
    case JOB_CUSTOM:
        return "customJobs";
    }
    return "";
}

/* What creates it: a POST of the resource to its collection. */
static void add_job(cJSON *object, struct arena *arena, const struct job *job)
{
    add_plan(object, arena, job);
    json_add_string(object, "collection",
                    arena_printf(arena, "/v1/projects/%s/locations/%s/%s",
                                 place, place, collection_of(job->kind)));
    cJSON_AddItemToObject(object, "resource", vertex_write(job));
}

/* What no change of a study may do. */
static void check_change(const struct node *root, const struct job *job,
                         const struct job *now, struct diag *diag)
{
    struct space space = job->space;
    struct ht_error why;
    if (job->name != NULL && now->name != NULL &&
        strcmp(job->name, now->name) != 0)
        refuse_name(root, diag, "a study keeps its name",
                    "for a study of its own, clone it");
    if (space_change(diag->arena, &now->space, &space, &why) != HT_OK)
        diag_error(diag, 0, 0, "parameters", "%s", why.text);
}

static enum ht_status check_draft(struct reader *reader,
                                  const struct node *root,
                                  const struct job *job, const struct job *now,
                                  struct diag *diag, struct ht_error *err)
{
    check_alone(root, job, diag);
    metrics_file_check(root, job, diag);
    metrics_events_check(root, job, diag);
    webhook_board_check(reader->facts->webhooks, job, "", diag, diag);
    tracker_board_check(reader->facts->trackers, job, "", diag);
    if (now == NULL)
        return check_name(reader, root, job, diag, err);
    check_change(root, job, now, diag);
    return HT_OK;
}

enum ht_status read_draft(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    const char *text = node_get_string(req->body, "text", NULL);
    struct job *job = NULL, *now, *original;
    struct diag diag;
    if (text == NULL)
        return ht_fail(err, HT_INVALID,
                       "the body must be {\"text\":\"a spec\"}");
    enum ht_status status = find_named(reader, req, "study", &now, err);
    if (status == HT_OK)
        status = find_named(reader, req, "cloneOf", &original, err);
    diag_init(&diag, req->arena, "spec", text, strlen(text));
    const struct node *root = node_read(req->arena, text, strlen(text), &diag);
    if (root != NULL)
        job = form_read(root, &diag);
    if (status == HT_OK && job != NULL)
        status = check_draft(reader, root, job, now, &diag, err);
    if (status == HT_OK && job != NULL && original != NULL &&
        job->captured_env.n == 0)
        job->captured_env = original->captured_env; /* no form says it */
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    const bool ok = diag.errors == 0;
    json_add_bool(object, "ok", ok);
    add_findings(object, &diag);
    if (job != NULL && ok)
        add_job(object, req->arena, job);
    if (job != NULL && ok && now != NULL)
        cJSON_AddItemToObject(object, "changes", list_changes(now, job));
    json_print(object, &req->reply);
    return HT_OK;
}
