#include "tuner/study/checkpoints.h"

#include <string.h>

#include "proto/job/job.h"
#include "tuner/core/core.h"
#include "tuner/db/trees.h"

/* A second one is there in case the newest cannot be had. */
enum { KEPT = 2, KEPT_AT_END = 1, TRIES_OF_ONE = 2 };

static struct tree_use use_of(const struct trial_checkpoint *row,
                              const char *project)
{
    return (struct tree_use){.project = project,
                             .tree = row->tree,
                             .study = row->study,
                             .trial = row->trial,
                             .attempt = row->attempt,
                             .step = row->step,
                             .kind = TREE_CHECKPOINT};
}

static enum ht_status drop(struct db *db, const struct trial_checkpoint *row,
                           const char *project, struct ht_error *err)
{
    const struct tree_use use = use_of(row, project);
    const enum ht_status status = db_tree_use_remove(db, &use, err);
    return status == HT_OK ? db_trial_checkpoint_delete(db, row->id, err)
                           : status;
}

/* Removes all but the newest `kept`. */
static enum ht_status thin(struct core *core, struct arena *arena,
                           int64_t study, int64_t trial, size_t kept,
                           struct ht_error *err)
{
    struct trial_checkpoint_list list = {0};
    struct study_row row;
    struct db *db = core_db(core);
    enum ht_status status =
        db_trial_checkpoints(db, arena, study, trial, &list, err);
    if (status == HT_OK && list.n > kept)
        status = db_study_get(db, arena, study, &row, err);
    for (size_t i = kept; status == HT_OK && i < list.n; i++)
        status = drop(db, &list.rows[i], row.project, err);
    return status;
}

/* The store keeps the tree as long as the row names it. */
static enum ht_status insert(struct db *db, struct arena *arena,
                             const struct trial_checkpoint *row,
                             struct ht_error *err)
{
    struct study_row study;
    enum ht_status status = db_study_get(db, arena, row->study, &study, err);
    if (status != HT_OK)
        return status;
    const struct tree_use use = use_of(row, study.project);
    status = db_tree_use_add(db, &use, err);
    if (status == HT_NOT_FOUND)
        return ht_fail(err, HT_INVALID, "the store has no tree %s", row->tree);
    return status == HT_OK ? db_trial_checkpoint_insert(db, row, err) : status;
}

/* A report names what its runner took a moment before, for an earlier one. */
static enum ht_status note_step(struct db *db, struct arena *arena,
                                struct trial_checkpoint *row, int64_t step,
                                struct ht_error *err)
{
    struct study_row study;
    enum ht_status status = db_study_get(db, arena, row->study, &study, err);
    if (status == HT_OK)
        status = drop(db, row, study.project, err);
    row->step = step;
    return status == HT_OK ? insert(db, arena, row, err) : status;
}

enum ht_status checkpoints_add(struct core *core, struct arena *arena,
                               const struct attempt_row *attempt,
                               const char *tree, int64_t step,
                               struct ht_error *err)
{
    struct trial_checkpoint_list list = {0};
    struct db *db = core_db(core);
    enum ht_status status = db_trial_checkpoints(db, arena, attempt->study,
                                                 attempt->trial, &list, err);
    if (status != HT_OK)
        return status;
    if (list.n > 0 && strcmp(list.rows[0].tree, tree) == 0)
        return step > list.rows[0].step
                   ? note_step(db, arena, &list.rows[0], step, err)
                   : HT_OK;
    const struct trial_checkpoint row = {.study = attempt->study,
                                         .trial = attempt->trial,
                                         .attempt = attempt->n,
                                         .tree = tree,
                                         .step = step,
                                         .created_ms = core_wall_ms(core)};
    /* In this order, since an older row may use the same tree. */
    status = thin(core, arena, attempt->study, attempt->trial, KEPT - 1, err);
    return status == HT_OK ? insert(db, arena, &row, err) : status;
}

/* The attempt that wrote last where its runner keeps the trial's outputs; NULL:
 * none has, or they are gone. */
static const struct attempt_row *find_home(const struct attempt_list *list)
{
    for (size_t i = list->n; i > 0; i--) {
        const struct attempt_row *attempt = &list->rows[i - 1];
        if (attempt->started_ms > 0)
            return attempt->outputs == OUTPUTS_DISCARDED ? NULL : attempt;
    }
    return NULL;
}

/* Lost attempts since the last progress that could not even begin: the
 * checkpoint may be the reason. */
static size_t count_unbegun(const struct attempt_list *list,
                            const struct trial_row *trial)
{
    const size_t losses = (size_t)trial->losses;
    size_t n = 0;
    for (size_t i = list->n > losses ? list->n - losses : 0; i < list->n; i++)
        n += list->rows[i].started_ms == 0;
    return n;
}

enum ht_status checkpoints_find(struct core *core, struct arena *arena,
                                const struct trial_row *trial,
                                const struct job *job,
                                struct checkpoint_place *place,
                                struct ht_error *err)
{
    struct attempt_list attempts = {0};
    struct trial_checkpoint_list list = {0};
    *place = (struct checkpoint_place){.home = ""};
    if (trial->attempt == 0 || job->output_dir != NULL)
        return HT_OK; /* all runners have the folder, as far as any has */
    enum ht_status status = db_attempt_list(core_db(core), arena, trial->study,
                                            trial->id, &attempts, err);
    if (status == HT_OK)
        status = db_trial_checkpoints(core_db(core), arena, trial->study,
                                      trial->id, &list, err);
    if (status != HT_OK)
        return status;
    const struct attempt_row *home = find_home(&attempts);
    if (home != NULL)
        place->home = home->runner;
    const size_t chosen = count_unbegun(&attempts, trial) / TRIES_OF_ONE;
    place->travels = chosen < list.n;
    if (place->travels)
        place->row = list.rows[chosen];
    return HT_OK;
}

bool checkpoints_are_wanted(const struct trial_row *trial,
                            const struct attempt_row *attempt,
                            const struct job *job)
{
    if (job->output_dir != NULL)
        return false;
    if (trial->state == TRIAL_STOPPING)
        return trial->pausing;
    switch (attempt->outcome) {
    case OUTCOME_FAILED:
        return trial->failures < job->retries;
    case OUTCOME_LOST:
    case OUTCOME_STOPPED: /* not the trial: its runner wants to be free */
    case OUTCOME_NONE:
        return true;
    case OUTCOME_SUCCEEDED:
    case OUTCOME_TIMEOUT:
        break;
    }
    return false;
}

enum ht_status checkpoints_note_end(struct core *core,
                                    const struct trial_row *trial,
                                    struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status =
        thin(core, arena, trial->study, trial->id, KEPT_AT_END, err);
    arena_free(arena);
    return status;
}

enum ht_status checkpoints_forget(struct core *core, int64_t study,
                                  int64_t trial, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status = thin(core, arena, study, trial, 0, err);
    arena_free(arena);
    return status;
}
