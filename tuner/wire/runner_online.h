/* runner_online.h - which runners are online, and the loss of attempts of one
 * that is not. Core thread. */
#ifndef HT_TUNER_WIRE_RUNNER_ONLINE_H
#define HT_TUNER_WIRE_RUNNER_ONLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/core/live.h"
#include "tuner/core/options.h"
#include "tuner/db/rows.h"

/* The runner sent a message. One that was offline is online again, without its
 * old attempts. */
enum ht_status runner_online_see(struct core *core, struct live_runner *runner,
                                 struct ht_error *err);
/* Sets the runner's state after the COMMIT; negative slots: as before. */
void runner_online_note(struct core *core, const struct live_runner *runner,
                        bool online, int64_t slots);
/* What it is, and what it can and may do, a JSON object; after the COMMIT. */
void runner_online_note_rules(struct core *core,
                              const struct live_runner *runner,
                              const char *engine, const char *rules);
/* The number of GPUs in a poll of the runner. */
void runner_online_note_gpus(struct core *core, struct live_runner *runner,
                             int64_t gpus);
/* The attempt is lost with its machine, see trial_lost(). */
enum ht_status runner_online_lose(struct core *core, struct arena *arena,
                                  const struct attempt_row *attempt,
                                  const char *reason, struct ht_error *err);

/* At start every runner counts as just seen. */
enum ht_status runner_online_recover(struct core *core, struct ht_error *err);
/* Sets runners offline that sent nothing for lost_after_ms, and wakes polls
 * when the pause before a retry is over. */
core_tick_part runner_online_tick;
/* Monotonic ms of the next tick that has something to do, or LIVE_NEVER. */
int64_t runner_online_deadline(struct core *core);

#endif
