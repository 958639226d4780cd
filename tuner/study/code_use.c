#include "tuner/study/code_use.h"

#include <string.h>

#include "tuner/core/core.h"
#include "tuner/db/trees.h"

static const char *tree_of(const struct job *job)
{
    return job != NULL && job_code_travels(job) ? job->code.tree : NULL;
}

enum ht_status code_use_change(struct core *core, const char *project,
                               int64_t study, const struct job *before,
                               const struct job *after, struct ht_error *err)
{
    struct db *db = core_db(core);
    const char *old = tree_of(before), *new = tree_of(after);
    struct tree_use use = {
        .project = project, .study = study, .kind = TREE_CODE};
    enum ht_status status = HT_OK;
    if (old != NULL && new != NULL && strcmp(old, new) == 0)
        return HT_OK;
    if (new != NULL) {
        use.tree = new;
        status = db_tree_use_add(db, &use, err);
    }
    if (status == HT_NOT_FOUND)
        return ht_fail(err, HT_PRECONDITION,
                       "hypertune.code: project %.60s has no tree %.64s; send "
                       "it before",
                       project, new);
    if (status == HT_OK && old != NULL) {
        use.tree = old;
        status = db_tree_use_remove(db, &use, err);
    }
    return status;
}
