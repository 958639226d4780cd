#include "tuner/api/trial_files.h"

#include <ctype.h>
#include <string.h>

#include "proto/doc/json.h"
#include "tuner/api/method.h"
#include "tuner/ask/query.h"
#include "tuner/db/trees.h"
#include "tuner/db/trial_checkpoints.h"
#include "tuner/study/fetches.h"

enum { LIST_MOST = 10000 }; /* entries of a tree at once */

/* What the store has of a trial. */
struct kept {
    struct fetch_question question;
    struct fetch_place outputs;
    struct trial_checkpoint_list checkpoints;
};

static enum ht_status look(struct method_call *call, struct kept *kept,
                           struct ht_error *err)
{
    *kept = (struct kept){.question = {.study = &call->study,
                                       .job = call->job,
                                       .trial = &call->trial}};
    enum ht_status status = fetches_look(call->core, call->arena,
                                         &kept->question, &kept->outputs, err);
    if (status == HT_OK)
        status = db_trial_checkpoints(call->db, call->arena, call->study.id,
                                      call->trial.id, &kept->checkpoints, err);
    return status;
}

/* --- the list of trees --- */

static void add_outputs(cJSON *object, const struct fetch_place *place)
{
    if (place->attempt > 0) {
        json_add_int(object, "attempt", place->attempt);
        json_add_string(object, "runner", place->runner);
    }
    if (place->host[0] != '\0')
        json_add_string(object, "host", place->host);
    if (place->folder[0] != '\0')
        json_add_string(object, "folder", place->folder);
    if (place->why.status != HT_OK)
        json_add_string(object, "problem", place->why.text);
}

struct named_tree {
    const char *kind, *tree;
    int64_t attempt, step; /* step -1: none */
};

static enum ht_status add_tree(const struct method_call *call, cJSON *trees,
                               const struct named_tree *named,
                               struct ht_error *err)
{
    struct tree_row row;
    const enum ht_status status = db_tree_get(
        call->db, call->arena, call->study.project, named->tree, &row, err);
    if (status != HT_OK)
        return status;
    cJSON *item = json_push_object(trees);
    json_add_string(item, "kind", named->kind);
    json_add_string(item, "tree", named->tree);
    json_add_int(item, "attempt", named->attempt);
    if (named->step >= 0)
        json_add_int_text(item, "step", named->step);
    json_add_int(item, "files", row.files);
    json_add_int(item, "bytes", row.bytes);
    json_add_int(item, "storedTimeMs", row.created_ms);
    return HT_OK;
}

static enum ht_status add_trees(const struct method_call *call, cJSON *trees,
                                const struct kept *kept, struct ht_error *err)
{
    const struct fetch_place *place = &kept->outputs;
    const struct named_tree outputs = {"OUTPUTS", place->tree, place->attempt,
                                       -1};
    enum ht_status status =
        place->tree != NULL ? add_tree(call, trees, &outputs, err) : HT_OK;
    for (size_t i = 0; status == HT_OK && i < kept->checkpoints.n; i++) {
        const struct trial_checkpoint *row = &kept->checkpoints.rows[i];
        const struct named_tree named = {"CHECKPOINT", row->tree, row->attempt,
                                         row->step};
        status = add_tree(call, trees, &named, err);
    }
    return status;
}

static enum ht_status list(struct method_call *call, struct ht_error *err)
{
    struct kept kept;
    enum ht_status status = look(call, &kept, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    add_outputs(json_add_object(object, "outputs"), &kept.outputs);
    status = add_trees(call, json_add_array(object, "trees"), &kept, err);
    if (status == HT_OK)
        json_print(object, &call->req->reply);
    else
        cJSON_Delete(object);
    return status;
}

METHOD(trial_files, METHOD_TRIAL, list, NULL)

/* --- one tree --- */

/* What a file of all is called: the study's name may have any signs. */
static char *title_of(const struct method_call *call,
                      const struct trial_checkpoint *checkpoint)
{
    char *title = arena_printf(call->arena, "%.80s-%lld", call->study.name,
                               (long long)call->trial.id);
    for (char *at = title; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '-')
            *at = '_';
    if (checkpoint == NULL)
        return arena_printf(call->arena, "%s-outputs", title);
    if (checkpoint->step < 0)
        return arena_printf(call->arena, "%s-checkpoint", title);
    return arena_printf(call->arena, "%s-checkpoint-step-%lld", title,
                        (long long)checkpoint->step);
}

/* *checkpoint: NULL for the outputs. */
static enum ht_status find_kept(struct method_call *call,
                                const struct trial_checkpoint **checkpoint,
                                struct ht_error *err)
{
    struct kept kept;
    const char *tree = call->req->tree;
    const enum ht_status status = look(call, &kept, err);
    if (status != HT_OK)
        return status;
    *checkpoint = NULL;
    for (size_t i = 0; i < kept.checkpoints.n && *checkpoint == NULL; i++)
        if (strcmp(kept.checkpoints.rows[i].tree, tree) == 0)
            *checkpoint = &kept.checkpoints.rows[i];
    if (*checkpoint != NULL)
        return HT_OK;
    if (kept.outputs.tree != NULL && strcmp(kept.outputs.tree, tree) == 0)
        return fetches_note_use(call->core, &kept.question, err);
    return ht_fail(err, HT_NOT_FOUND,
                   "the store has no tree \"%.64s\" of trial %lld, or none any "
                   "more",
                   tree, (long long)call->trial.id);
}

static enum ht_status find(struct method_call *call, struct ht_error *err)
{
    static const struct number_range afters = {0, INT64_MAX, 0},
                                     limits = {1, LIST_MOST, LIST_MOST};
    const struct trial_checkpoint *checkpoint;
    struct tree_row row;
    struct tree_found *found = arena_alloc(call->arena, 1, sizeof *found);
    enum ht_status status =
        query_number(call->req, "after", &afters, &found->after, err);
    if (status == HT_OK)
        status = query_number(call->req, "limit", &limits, &found->limit, err);
    if (status == HT_OK)
        status = find_kept(call, &checkpoint, err);
    if (status == HT_OK)
        status = db_tree_get(call->db, call->arena, call->study.project,
                             call->req->tree, &row, err);
    if (status != HT_OK)
        return status;
    found->project = row.project;
    found->tree = row.tree;
    found->stored_ms = row.created_ms;
    found->title = title_of(call, checkpoint);
    call->req->found = found;
    return HT_OK;
}

METHOD(trial_find_tree, METHOD_TRIAL, find, NULL)
