/* stop_worker.h - the worker that applies early stopping rules to running
 * trials.
 *
 * A report costs no more with a rule than without. A trial waits at most once
 * in the worker's list, and after each verdict it rests a few times as long as
 * that took: where reports come faster than it can judge, it judges the newest.
 */
#ifndef HT_TUNER_SEARCH_STOP_WORKER_H
#define HT_TUNER_SEARCH_STOP_WORKER_H

#include <stdint.h>

#include "proto/base/error.h"

struct core;
struct worker;

/* Starts the worker for the database at `path`; worker_stop() ends it. */
enum ht_status stop_worker_start(struct core *core, const char *path,
                                 struct worker **judge, struct ht_error *err);

/* The answer comes through the core's queue to early_stop_accept(), whatever
 * the verdict is. */
void stop_worker_ask(struct worker *judge, int64_t study, int64_t trial);

#endif
