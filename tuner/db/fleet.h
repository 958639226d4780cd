/* fleet.h - what placement needs of the tables: attempts that run, projects'
 * shares and use, runners that drain. */
#ifndef HT_TUNER_DB_FLEET_H
#define HT_TUNER_DB_FLEET_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"

struct fleet_attempt { /* one whose processes may run */
    int64_t study, trial, n, created_ms;
    const char *runner, *project, *study_name;
    const char *gpus; /* JSON of tuner/runners/fleet.h, "": none */
};
struct fleet_attempt_list {
    size_t n;
    struct fleet_attempt *rows;
};

/* STARTING and RUNNING attempts, by study and trial. */
enum ht_status db_fleet_attempts(struct db *db, struct arena *arena,
                                 struct fleet_attempt_list *list,
                                 struct ht_error *err);
/* The study's attempts at the runner that have not ended. */
enum ht_status db_study_open_at(struct db *db, int64_t study,
                                const char *runner, int64_t *n,
                                struct ht_error *err);
/* Writes the GPUs that the attempt has. */
enum ht_status db_attempt_set_gpus(struct db *db, const struct attempt_row *row,
                                   const char *gpus, struct ht_error *err);

/* Sets `moving`. */
enum ht_status db_attempt_set_moving(struct db *db,
                                     const struct attempt_row *row,
                                     struct ht_error *err);

struct project_row {
    const char *name;
    double share;
    int64_t most_slots; /* 0: no limit */
    double most_gpus;   /* 0: no limit */
    double usage;       /* slot-seconds, as of usage_ms */
    int64_t usage_ms;
    double trials, trial_s; /* recent trials and the seconds they ran: means */
};
struct project_list {
    size_t n;
    struct project_row *rows;
};

/* The ones that were set or have run trials, by name. */
enum ht_status db_project_list(struct db *db, struct arena *arena,
                               struct project_list *list, struct ht_error *err);
/* One that has no row yet gets the defaults. */
enum ht_status db_project_get(struct db *db, struct arena *arena,
                              const char *name, struct project_row *row,
                              struct ht_error *err);
/* Adds the project or replaces all it had. */
enum ht_status db_project_save(struct db *db, const struct project_row *row,
                               struct ht_error *err);
/* Names of all projects that have a study or a row. */
enum ht_status db_project_names(struct db *db, struct arena *arena,
                                struct strings *names, struct ht_error *err);

enum ht_status db_runner_set_drain(struct db *db, const char *id,
                                   enum runner_drain drain,
                                   struct ht_error *err);

#endif
