/* entry_walk.h - the entries of some jobs in the order of their keys.
 *
 * A job has two sources, what its trials printed (logs.db) and what happened to
 * it (events); the walk merges all sources of all jobs, group by group: a chunk
 * with the lines that it completes, an event with the lines that ended with an
 * attempt. Only the place of a source's next group is read ahead. */
#ifndef HT_TUNER_LOGS_ENTRY_WALK_H
#define HT_TUNER_LOGS_ENTRY_WALK_H

#include "tuner/db/db.h"
#include "tuner/logs/entry.h"

struct logs;

struct entry_range {
    const struct entry_jobs *jobs;
    struct entry_key from; /* the first group, or (`down`) the last one */
    int64_t until_us;      /* the last moment, or (`down`) the first one */
    bool down;
    const struct filter *filter; /* groups without wanted entries are empty */
};

struct entry_group {
    struct entry_key key; /* of its first possible line */
    size_t n;
    struct entry *items; /* by key; texts are read, JSON is not yet */
};

struct entry_walk;

/* The walk is in the arena and borrows everything. */
enum ht_status entry_walk_open(struct db *db, struct logs *logs,
                               struct arena *arena,
                               const struct entry_range *range,
                               struct entry_walk **walk, struct ht_error *err);
/* The next group, in the arena, which may be another one for each.
 * HT_NOT_FOUND behind the last one. */
enum ht_status entry_walk_next(struct entry_walk *walk, struct arena *arena,
                               struct entry_group *group, struct ht_error *err);

#endif
