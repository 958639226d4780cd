/* judge.h - the worker that applies early stopping rules to running trials.
 *
 * Like the search it reads through a connection of its own, so a report costs
 * no more with a rule than without. A trial waits at most once in its list,
 * and after each verdict the worker rests a few times as long as that took:
 * where reports come faster than it can judge, it judges the newest. */
#ifndef HT_TUNER_JUDGE_H
#define HT_TUNER_JUDGE_H

#include <stdint.h>

#include "proto/error.h"

struct core;
struct judge;

/* Starts the worker for the database at `path`. */
enum ht_status judge_start(struct core *core, const char *path,
                           struct judge **judge, struct ht_error *err);
void judge_stop(struct judge *judge); /* accepts NULL */

/* The answer comes through the core's queue to early_stop_accept(), whatever
 * the verdict is. */
void judge_ask(struct judge *judge, int64_t study, int64_t trial);

#endif
