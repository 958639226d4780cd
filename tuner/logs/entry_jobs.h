/* entry_jobs.h - the jobs whose logs a query selects. */
#ifndef HT_TUNER_LOGS_ENTRY_JOBS_H
#define HT_TUNER_LOGS_ENTRY_JOBS_H

#include "proto/base/error.h"
#include "tuner/ask/filter.h"
#include "tuner/db/db.h"

struct entry_jobs {
    size_t n;
    struct entry_job *items;
};

/* The jobs of the projects. Where the filter names jobs only those, each with
 * the id in the filter; else a job has the id of the API that made it. */
enum ht_status entry_jobs_find(struct db *db, struct arena *arena,
                               const struct strings *projects,
                               const struct filter *filter,
                               struct entry_jobs *jobs, struct ht_error *err);

#endif
