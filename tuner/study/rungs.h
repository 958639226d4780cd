/* rungs.h - trials of a study that climb the rungs of its early stopping rule
 * (algorithms/stop/asha.h): what is noted of them, and who goes on. Core
 * thread; every function belongs to the caller's savepoint. */
#ifndef HT_TUNER_STUDY_RUNGS_H
#define HT_TUNER_STUDY_RUNGS_H

#include "algorithms/stop/early_stop.h"
#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/end_rules.h"

/* Keeps what the trial was worth at the rung it was judged at; the rung is
 * behind it when it goes on. Without a rung nothing happens. */
enum ht_status rungs_note(struct core *core, struct arena *arena,
                          struct trial_row *trial,
                          const struct stop_verdict *verdict,
                          struct ht_error *err);

/* The trial begins anew: it has been nowhere. */
enum ht_status rungs_forget(struct core *core, struct trial_row *trial,
                            struct ht_error *err);

/* Lets paused trials go on that belong to the best of their rung by now, as
 * many as the study has room for. The counts follow. */
enum ht_status rungs_promote(struct settling *settling, struct ht_error *err);

#endif
