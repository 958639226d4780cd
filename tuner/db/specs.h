/* specs.h - what a study searched before each change of that: the space, the
 * constraints, the metrics' bounds and the noise. */
#ifndef HT_TUNER_DB_SPECS_H
#define HT_TUNER_DB_SPECS_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct db;

/* Core thread. Keeps the study's spec as it was before the event `revision`. */
enum ht_status db_spec_keep(struct db *db, int64_t study, int64_t revision,
                            const char *spec, struct ht_error *err);

/* The newest such event up to `until`; 0: none. */
enum ht_status db_spec_changed(struct db *db, int64_t study, int64_t until,
                               int64_t *revision, struct ht_error *err);

/* The study as it was after the event `until`, as far as a search sees it:
 * `spec` is the one of then, all else as now. HT_NOT_FOUND without the study.
 */
enum ht_status db_spec_then(struct db *db, struct arena *arena, int64_t study,
                            int64_t until, struct study_row *row,
                            struct ht_error *err);

#endif
