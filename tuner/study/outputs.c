#include "tuner/study/outputs.h"

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/core/core.h"
#include "tuner/db/outputs.h"
#include "tuner/db/ranking.h"
#include "tuner/study/checkpoints.h"

enum { MOST_AT_ONCE = 100 /* trials in one answer */ };

const char *outputs_folder(struct arena *arena, const struct job *job,
                           const char *folder, int64_t trial)
{
    if (folder == NULL || job->kind == JOB_CUSTOM)
        return folder;
    const size_t len = strlen(folder);
    const bool has_slash = len > 0 && folder[len - 1] == '/';
    return arena_printf(arena, "%s%s%lld", folder, has_slash ? "" : "/",
                        (long long)trial);
}

/* --- whose outputs are wanted --- */

static bool holds(const int64_t ids[], size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static enum ht_status disown(struct core *core, int64_t study, int64_t trial,
                             struct ht_error *err)
{
    const enum ht_status status = db_outputs_move(
        core_db(core), study, trial, OUTPUTS_THERE, OUTPUTS_UNWANTED, err);
    return status == HT_OK ? checkpoints_forget(core, study, trial, err)
                           : status;
}

/* At most one trial leaves the best ones when another ends: the first that is
 * no longer among them. */
static enum ht_status disown_worse(struct core *core, struct arena *arena,
                                   const struct trial_row *trial,
                                   const struct job *job, struct ht_error *err)
{
    struct id_list best;
    const size_t keep = (size_t)job->keep_best;
    const struct ranking ranking = {trial->study, job->metrics[0].maximize,
                                    job->keep_best + 1};
    enum ht_status status =
        db_trial_ranking(core_db(core), arena, &ranking, &best, err);
    if (status == HT_OK && best.n > keep)
        status = disown(core, trial->study, best.ids[keep], err);
    if (status == HT_OK &&
        !holds(best.ids, best.n < keep ? best.n : keep, trial->id))
        status = disown(core, trial->study, trial->id, err);
    return status;
}

/* Of several metrics all trials stay that no other one beats, however many. */
static enum ht_status disown_beaten(struct core *core,
                                    const struct trial_row *trial,
                                    struct ht_error *err)
{
    bool marked;
    const enum ht_status status = db_front_is_marked(
        core_db(core), trial->study, trial->id, &marked, err);
    return status == HT_OK && !marked
               ? disown(core, trial->study, trial->id, err)
               : status;
}

enum ht_status outputs_note_end(struct core *core,
                                const struct trial_row *trial,
                                struct ht_error *err)
{
    const struct job *job;
    struct arena *arena = arena_new();
    enum ht_status status = checkpoints_note_end(core, trial, err);
    if (status == HT_OK)
        status = core_job(core, trial->study, &job, err);
    /* A study whose spec is damaged ends all the same. */
    if (status == HT_CORRUPT)
        status = HT_OK;
    else if (status == HT_OK && job->keep_best > 0 && job->n_metrics == 1)
        status = disown_worse(core, arena, trial, job, err);
    else if (status == HT_OK && job->keep_best > 0 && job->n_metrics > 1)
        status = disown_beaten(core, trial, err);
    arena_free(arena);
    return status;
}

enum ht_status outputs_note_beaten(struct core *core, int64_t study,
                                   const struct job *job,
                                   const struct id_list *beaten,
                                   struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && job->keep_best > 0 && i < beaten->n;
         i++)
        status = disown(core, study, beaten->ids[i], err);
    return status;
}

enum ht_status outputs_spare(struct core *core, const struct trial_row *trial,
                             struct ht_error *err)
{
    return db_outputs_move(core_db(core), trial->study, trial->id,
                           OUTPUTS_UNWANTED, OUTPUTS_THERE, err);
}

/* --- the runner that has them --- */

enum ht_status outputs_add_unwanted(struct core *core, struct arena *arena,
                                    const struct live_runner *runner,
                                    cJSON *list, struct ht_error *err)
{
    struct outputs_list unwanted;
    enum ht_status status = db_outputs_unwanted(
        core_db(core), arena, runner->id, MOST_AT_ONCE, &unwanted, err);
    for (size_t i = 0; status == HT_OK && i < unwanted.n; i++) {
        const struct outputs_name *name = &unwanted.rows[i];
        const struct job *job;
        status = core_job(core, name->study, &job, err);
        if (status != HT_OK)
            break;
        cJSON *item = json_push_object(list);
        json_add_int(item, "study", name->study);
        json_add_int(item, "trial", name->trial);
        json_add_string(
            item, "outputDir",
            outputs_folder(arena, job, job->output_dir, name->trial));
        json_add_bool(item, "rewriteGs", job->rewrite_gcs);
    }
    return status == HT_CORRUPT ? HT_OK : status;
}

enum ht_status outputs_settle(struct core *core, const struct request *req,
                              const struct live_runner *runner,
                              struct ht_error *err)
{
    const struct node *list = node_find(req->body, "discarded");
    const struct node *item =
        list != NULL && list->kind == NODE_LIST ? list->first : NULL;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && item != NULL && i < MOST_AT_ONCE;
         i++, item = item->next) {
        const struct outputs_name name = {node_get_int(item, "study", 0),
                                          node_get_int(item, "trial", 0)};
        status = db_outputs_settle(core_db(core), runner->id, &name,
                                   node_get_bool(item, "kept", false), err);
    }
    return status;
}
