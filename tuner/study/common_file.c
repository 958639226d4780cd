#include "tuner/study/common_file.h"

#include <string.h>

#include "proto/job/metrics_file.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"

/* One look at the studies that write a file. */
struct looking {
    struct core *core;
    struct arena *arena;
    int64_t id; /* of the study that is left out */
    const char *(*find)(struct arena *arena, const struct job *job);
    const char *path;       /* what it found */
    struct study_row found; /* the one that is looked at */
};

/* A study whose stored job cannot be read runs nothing. */
static enum ht_status writes_it(struct looking *looking, int64_t id, bool *does,
                                struct ht_error *err)
{
    const struct job *job;
    const enum ht_status status = db_study_get(
        core_db(looking->core), looking->arena, id, &looking->found, err);
    *does = false;
    if (status != HT_OK || looking->found.state == STUDY_DELETING ||
        live_job(core_live(looking->core), &looking->found, &job, NULL) !=
            HT_OK)
        return status;
    const char *path = looking->find(looking->arena, job);
    *does = path != NULL && strcmp(path, looking->path) == 0;
    return HT_OK;
}

typedef enum ht_status look(struct looking *looking, bool *stop,
                            struct ht_error *err);

/* Calls `check` for each other open study that writes the file, until it stops.
 */
static enum ht_status each_writer(struct looking *looking, look *check,
                                  bool *stopped, struct ht_error *err)
{
    struct id_list list;
    enum ht_status status =
        db_study_unfinished(core_db(looking->core), looking->arena, &list, err);
    *stopped = false;
    for (size_t i = 0; status == HT_OK && !*stopped && i < list.n; i++) {
        bool does = false;
        if (list.ids[i] != looking->id)
            status = writes_it(looking, list.ids[i], &does, err);
        if (status == HT_OK && does)
            status = check(looking, stopped, err);
    }
    return status;
}

static enum ht_status any(struct looking *looking, bool *stop,
                          struct ht_error *err)
{
    (void)looking;
    (void)err;
    *stop = true;
    return HT_OK;
}

/* Trials of two studies would have the same numbers there. */
static const char *find_outputs(struct arena *arena, const struct job *job)
{
    const char *folder = job->output_dir;
    if (job->kind != JOB_TUNING || folder == NULL || folder[0] != '/')
        return NULL;
    char *tidied = arena_strdup(arena, folder);
    size_t len = strlen(tidied);
    while (len > 1 && tidied[len - 1] == '/')
        tidied[--len] = '\0';
    return tidied;
}

/* Fills looking->path, and looking->found with the other study that writes it.
 */
static enum ht_status find_other(struct looking *looking, const struct job *job,
                                 bool *taken, struct ht_error *err)
{
    *taken = false;
    looking->path = looking->find(looking->arena, job);
    return looking->path == NULL ? HT_OK
                                 : each_writer(looking, any, taken, err);
}

static enum ht_status check(struct looking *looking, const struct job *job,
                            struct ht_error *err)
{
    bool taken;
    looking->find = metrics_file_shared;
    enum ht_status status = find_other(looking, job, &taken, err);
    if (status == HT_OK && taken)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.64s writes the same metrics file, %.80s: end "
                       "it, or write %s",
                       looking->found.name, looking->path,
                       metrics_file_repair(looking->arena, job));
    looking->find = find_outputs;
    if (status == HT_OK)
        status = find_other(looking, job, &taken, err);
    if (status == HT_OK && taken)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.64s has the same outputDir, %.80s: end it, "
                       "or choose another",
                       looking->found.name, looking->path);
    return status;
}

enum ht_status common_file_check(struct core *core, int64_t id,
                                 const struct job *job, struct ht_error *err)
{
    struct looking looking = {.core = core, .arena = arena_new(), .id = id};
    const enum ht_status status = check(&looking, job, err);
    arena_free(looking.arena);
    return status;
}

static enum ht_status runs(struct looking *looking, bool *stop,
                           struct ht_error *err)
{
    struct trial_counts counts;
    const enum ht_status status = db_trial_counts(
        core_db(looking->core), looking->found.id, &counts, err);
    if (status == HT_OK)
        *stop = trial_counts_all(&counts, TRIAL_ACTIVE) +
                    trial_counts_all(&counts, TRIAL_STOPPING) >
                0;
    return status;
}

enum ht_status common_file_is_free(struct core *core, int64_t id,
                                   const struct job *job, bool *is_free,
                                   struct ht_error *err)
{
    struct looking looking = {.core = core,
                              .arena = arena_new(),
                              .id = id,
                              .find = metrics_file_shared,
                              .found = {.id = id}};
    bool busy = false;
    enum ht_status status = HT_OK;
    looking.path = metrics_file_shared(looking.arena, job);
    if (looking.path != NULL)
        status = runs(&looking, &busy, err);
    if (looking.path != NULL && status == HT_OK && !busy)
        status = each_writer(&looking, runs, &busy, err);
    if (status == HT_OK)
        *is_free = !busy;
    arena_free(looking.arena);
    return status;
}
