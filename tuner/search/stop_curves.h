/* stop_curves.h - the learning curves of one study, as early stopping sees
 * them, in a worker's memory.
 *
 * The newest trials that have run, each curve kept until its trial changes, so
 * that a further look reads only what moved. One thread. */
#ifndef HT_TUNER_SEARCH_STOP_CURVES_H
#define HT_TUNER_SEARCH_STOP_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/db/db.h"

struct stop_curves;

/* Empty before the first stop_curves_read(). */
struct stop_curves *stop_curves_new(int64_t study);
void stop_curves_free(struct stop_curves *curves); /* accepts NULL */

/* Reads what has changed, inside the reader's transaction. After a failure the
 * curves are half-read and must be freed. */
enum ht_status stop_curves_read(struct stop_curves *curves, struct db *db,
                                struct ht_error *err);

/* What was read, for a rule; until the next read. */
const struct stop_study *stop_curves_study(const struct stop_curves *curves);
/* Borrowed as well, until the next read. */
const struct job *stop_curves_job(const struct stop_curves *curves);
/* The attempt that a curve ended with. */
int64_t stop_curves_attempt(const struct stop_curves *curves, size_t at);
/* The curve of a trial; false when there is none. */
bool stop_curves_find(const struct stop_curves *curves, int64_t trial,
                      size_t *at);

#endif
