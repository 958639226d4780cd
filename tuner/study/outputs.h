/* outputs.h - decides whose output folders are removed where a study keeps only
 * those of its best trials; runners remove them. Core thread. */
#ifndef HT_TUNER_STUDY_OUTPUTS_H
#define HT_TUNER_STUDY_OUTPUTS_H

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/core/live.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"
#include "tuner/db/write.h"

/* The trial's own folder below one that the whole job shares, in the arena; a
 * job of one trial uses the folder itself. NULL stays NULL. */
const char *outputs_folder(struct arena *arena, const struct job *job,
                           const char *folder, int64_t trial);

/* The trial has ended: its outputs, or those of the trial that it replaces
 * among the best, may not be wanted any more. */
enum ht_status outputs_note_end(struct core *core,
                                const struct trial_row *trial,
                                struct ht_error *err);
/* With several metrics: these trials were optimal until another beat them
 * (tuner/search/pareto_trials.h). */
enum ht_status outputs_note_beaten(struct core *core, int64_t study,
                                   const struct job *job,
                                   const struct id_list *beaten,
                                   struct ht_error *err);
/* The trial runs again and needs what is left of its outputs. */
enum ht_status outputs_spare(struct core *core, const struct trial_row *trial,
                             struct ht_error *err);

/* Adds the outputs that the runner should remove to the answer to its
 * heartbeat. */
enum ht_status outputs_add_unwanted(struct core *core, struct arena *arena,
                                    const struct live_runner *runner,
                                    cJSON *list, struct ht_error *err);
/* Stores what the heartbeat reports about their removal. */
enum ht_status outputs_settle(struct core *core, const struct request *req,
                              const struct live_runner *runner,
                              struct ht_error *err);

#endif
