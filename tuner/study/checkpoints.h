/* checkpoints.h - which checkpoints of trials the store keeps, and which one
 * the next attempt continues from.
 *
 * Core thread; every function belongs to the caller's savepoint. The bytes are
 * in the store (tuner/store); here are the names of their trees. */
#ifndef HT_TUNER_STUDY_CHECKPOINTS_H
#define HT_TUNER_STUDY_CHECKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/db/trial_checkpoints.h"

struct core;
struct job;

/* The attempt has a checkpoint in the store, which replaces older ones. The
 * tree of the newest again changes nothing but its step, to a later one.
 * HT_INVALID  the store has no such tree */
enum ht_status checkpoints_add(struct core *core, struct arena *arena,
                               const struct attempt_row *attempt,
                               const char *tree, int64_t step,
                               struct ht_error *err);

/* Where the next attempt of the trial finds its checkpoint: the newest, or an
 * older one after attempts that could not begin with it. */
struct checkpoint_place {
    bool travels; /* `row` is what an attempt elsewhere continues from */
    struct trial_checkpoint row;
    const char *home; /* the runner that has the newest files; "": none */
};
enum ht_status checkpoints_find(struct core *core, struct arena *arena,
                                const struct trial_row *trial,
                                const struct job *job,
                                struct checkpoint_place *place,
                                struct ht_error *err);

/* Whether the trial may continue after the attempt, so that its runner sends
 * the checkpoint before it is decided. */
bool checkpoints_are_wanted(const struct trial_row *trial,
                            const struct attempt_row *attempt,
                            const struct job *job);

/* The trial has ended: only the newest stays. */
enum ht_status checkpoints_note_end(struct core *core,
                                    const struct trial_row *trial,
                                    struct ht_error *err);
/* The study does not keep the outputs of the trial: none stays. */
enum ht_status checkpoints_forget(struct core *core, int64_t study,
                                  int64_t trial, struct ht_error *err);

#endif
