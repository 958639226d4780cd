#include "tuner/logs/entry_jobs.h"

#include <string.h>

#include "tuner/db/db.h"
#include "tuner/logs/entry.h"

struct finding {
    struct db *db;
    struct arena *arena;
    struct entry_jobs found;
};

/* Keeps of the study what its entries need; `id` NULL: not in the filter. */
static void add_job(struct finding *finding, const struct study_row *study,
                    const char *id)
{
    struct entry_jobs *found = &finding->found;
    const char *number =
        arena_printf(finding->arena, "%lld", (long long)study->id);
    const char *name = arena_strdup(finding->arena, study->name);
    const bool is_legacy =
        id != NULL ? strcmp(id, number) != 0 : study->submitted[0] != '\0';
    found->items =
        db_grow(finding->arena, found->items, found->n, sizeof *found->items);
    found->items[found->n++] = (struct entry_job){
        .study = study->id,
        .revision = study->revision,
        .kind = study->kind,
        .project = arena_strdup(finding->arena, study->project),
        .id = is_legacy ? name : number,
        .names = {name, number},
        .is_legacy = is_legacy};
}

/* Its name and its number mean one job. */
static bool is_found(const struct finding *finding, int64_t study)
{
    const struct entry_jobs *found = &finding->found;
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].study == study)
            return true;
    return false;
}

static enum ht_status add_named(struct finding *finding,
                                const struct study_scope *scope,
                                const struct strings *ids, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < ids->n; i++) {
        struct study_row study;
        status = db_study_find(finding->db, finding->arena, scope,
                               ids->items[i], &study, err);
        if (status == HT_OK && !is_found(finding, study.id))
            add_job(finding, &study, ids->items[i]);
        status = status == HT_NOT_FOUND ? HT_OK : status;
    }
    return status;
}

/* The rows are large, so they are kept no longer than a batch. */
static enum ht_status add_all(struct finding *finding,
                              const struct study_scope *scope,
                              struct ht_error *err)
{
    enum { BATCH = 100 };
    struct arena *scratch = arena_new();
    struct study_list list = {.n = BATCH};
    enum ht_status status = HT_OK;
    for (int64_t before = 0; status == HT_OK && list.n == BATCH;) {
        arena_reset(scratch);
        status = db_study_list(finding->db, scratch, scope, before, BATCH,
                               &list, err);
        for (size_t i = 0; status == HT_OK && i < list.n; i++) {
            add_job(finding, &list.rows[i], NULL);
            before = list.rows[i].id;
        }
    }
    arena_free(scratch);
    return status;
}

static bool is_repeated(const struct strings *projects, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(projects->items[i], projects->items[at]) == 0)
            return true;
    return false;
}

enum ht_status entry_jobs_find(struct db *db, struct arena *arena,
                               const struct strings *projects,
                               const struct filter *filter,
                               struct entry_jobs *jobs, struct ht_error *err)
{
    struct finding finding = {.db = db, .arena = arena};
    struct strings ids;
    const bool is_named =
        filter_equals(arena, filter, "resource.labels", "job_id", &ids);
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < projects->n; i++) {
        if (is_repeated(projects, i))
            continue;
        const struct study_scope scope = {.project = projects->items[i],
                                          .kinds = STUDY_KIND(JOB_TUNING) |
                                                   STUDY_KIND(JOB_CUSTOM)};
        status = is_named ? add_named(&finding, &scope, &ids, err)
                          : add_all(&finding, &scope, err);
    }
    if (status == HT_OK)
        *jobs = finding.found;
    return status;
}
