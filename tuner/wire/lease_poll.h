/* lease_poll.h - one poll of a runner while it is handled: what its answer has,
 * and how attempts come into it. Core thread. */
#ifndef HT_TUNER_WIRE_LEASE_POLL_H
#define HT_TUNER_WIRE_LEASE_POLL_H

#include <cjson/cJSON.h>

#include "tuner/core/live.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"
#include "tuner/placement/placement.h"
#include "tuner/runners/fleet.h"
#include "tuner/study/trial.h"

/* The result of one lease request. */
struct lease_poll {
    struct core *core;
    struct db *db;
    struct arena *arena; /* of this time that it is handled */
    struct request *req;
    struct live_runner *runner;
    int64_t id; /* of the request */
    cJSON *attempts, *stops, *fetches;
    size_t bytes; /* of the attempts */
    bool news;    /* what slots are wanted has changed */
    bool full;    /* the next attempt needs another answer */
    struct fleet fleet;
    size_t at; /* the runner there; PLACEMENT_NONE: nothing is chosen for it */
    struct placement_choice choice; /* of the attempt that is being given */
};

enum ht_status lease_find_job(struct lease_poll *poll, int64_t id,
                              struct study_row *study, const struct job **job,
                              struct ht_error *err);

/* --- lease_choice.c: what is chosen --- */

/* How many trials of a study may start now. More may wait than may run at a
 * time: trials that a person added, retried or confirms. */
enum ht_status lease_startable(struct lease_poll *poll,
                               const struct study_row *study,
                               const struct job *job,
                               struct trial_counts *counts, int64_t *n,
                               struct ht_error *err);
/* Sets *trial and poll->choice for a runner with slots of its own. */
enum ht_status lease_next(struct lease_poll *poll, struct trial_row *trial,
                          bool *found, struct ht_error *err);
/* Reads poll->fleet for it; the next choices change it. */
enum ht_status lease_read_fleet(struct lease_poll *poll, int64_t free_slots,
                                struct ht_error *err);

/* What a trial has to meet for a slot that is made on demand. */
struct lease_fresh {
    const struct trial_counts *counts; /* of its study */
    int64_t owed;                      /* see elastic.h */
};
/* The first waiting trial of the study that may start now. Due retries are
 * ordered by id like all others; *found is false when every waiting trial backs
 * off. `fresh` NULL: any. */
enum ht_status lease_next_of_study(struct lease_poll *poll, int64_t study,
                                   const struct lease_fresh *fresh,
                                   struct trial_row *trial, bool *found,
                                   struct ht_error *err);

/* --- lease_give.c: what is given --- */

/* Begins an attempt of pair->trial, as poll->choice has it, and adds it to the
 * answer; only sets poll->full where there is no room for it. */
enum ht_status lease_give(struct lease_poll *poll, struct trial_pair *pair,
                          struct ht_error *err);
/* Adds what a request with this id was given before, or the ones that it
 * replaces; *again: something was. */
enum ht_status lease_give_again(struct lease_poll *poll, bool *again,
                                struct ht_error *err);

#endif
