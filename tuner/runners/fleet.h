/* fleet.h - the state that tuner/placement decides on, read from the core: what
 * runners have, what attempts take of it, what projects may have.
 *
 * Read anew for each decision. Texts and arrays are in the arena that was
 * given, or belong to the core until its next change. Core thread. */
#ifndef HT_TUNER_RUNNERS_FLEET_H
#define HT_TUNER_RUNNERS_FLEET_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"
#include "tuner/core/live.h"
#include "tuner/db/fleet.h"
#include "tuner/db/rows.h"
#include "tuner/placement/placement.h"

struct core;

struct fleet {
    struct core *core;
    struct arena *arena;
    const struct live_runner **runners; /* by index of a placement_runner */
    const struct job **jobs;            /* by index of a placement_study */
    struct placement state;
    struct fleet_attempt_list attempts; /* that run, by study */
    double half_life;                   /* of projects' use, in s */
};

/* Reads runners, attempts and projects; no study is in it. The caller keeps
 * *fleet where it is. */
enum ht_status fleet_read(struct core *core, struct arena *arena,
                          struct fleet *fleet, struct ht_error *err);

/* Adds a study, with so many trials that may start now. */
void fleet_add_study(struct fleet *fleet, const struct study_row *row,
                     const struct job *job, int64_t waiting, int64_t running);

/* The index of an online runner; PLACEMENT_NONE: it is not online. */
size_t fleet_find(const struct fleet *fleet, const struct live_runner *runner);
/* A poll of it says how many trials it could start now. */
void fleet_offer(struct fleet *fleet, size_t runner, int64_t free_slots);

/* Whether a runner other than that one, which does not drain, may run trials of
 * the study with that index. */
bool fleet_has_other(const struct fleet *fleet, size_t study,
                     const char *runner);

/* Whether an elastic runner is online. */
bool fleet_is_elastic(struct core *core);

/* Runners that may run trials of a job and get some, whatever else they run. */
struct fleet_serving {
    size_t n_elastic;
    const struct live_runner **elastic; /* in the arena */
    int64_t slots;                      /* of the other ones */
};
struct fleet_serving fleet_find_serving(struct core *core, struct arena *arena,
                                        const struct job *job);

/* Warns where no runner that is online could run a trial of a new job, whatever
 * else it runs: runOn, GPUs, or all that could are draining. */
void fleet_check(struct core *core, const struct job *job,
                 struct diag *warnings);

/* What a trial of the job needs. */
struct placement_needs fleet_needs(struct core *core, struct arena *arena,
                                   const struct job *job);

/* The chosen GPUs as attempts store them: a JSON list with an item for each
 * that needs some, {"gpus": [ID...], "part": 0.5, "memory": BYTES}, "" without
 * GPUs. */
const char *fleet_gpus_text(const struct fleet *fleet, size_t runner,
                            const struct placement_choice *choice);

/* The names, at the runner, of the GPUs of the replica with that number among
 * all of the job; n is 0 without any. */
struct strings fleet_gpu_names(const struct fleet *fleet, size_t runner,
                               const struct placement_choice *choice,
                               size_t replica);

/* The attempt, STARTING or RUNNING until now, has ended: its project has used
 * what it took. */
enum ht_status fleet_note_end(struct core *core,
                              const struct attempt_row *attempt,
                              struct ht_error *err);

#endif
