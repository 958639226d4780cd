/* study.h - all that searching one study needs, in a worker's memory:
 * its space, the algorithm's state, and the points already taken.
 *
 * Built from the study's events in their order, so two builds from the same
 * events are equal however often one paused in between. One thread. */
#ifndef HT_TUNER_SEARCH_STUDY_H
#define HT_TUNER_SEARCH_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/worker.h"
#include "tuner/db/db.h"

struct algorithm;
struct search_study;

/* The answer to one question. */
struct suggestions {
    int64_t study;
    int64_t revision;    /* newest event that it follows from */
    const char *context; /* as asked */
    size_t n;
    struct suggestion *items; /* distinct, untried when asked (except
                                 repeats) */
    bool exhausted;           /* no such point is left besides these */
    bool barren; /* and none ever was: no point satisfies the constraints */
    bool failed; /* there is no answer; ask again */
};

/* Searches with `algorithm`, or the study's own where that is NULL; of a study
 * with an open space, what `asked` says (asked_space.h), else NULL. */
struct search_study *search_study_new(int64_t id, const char *asked,
                                      const struct algorithm *algorithm);
void search_study_free(struct search_study *study); /* accepts NULL */

/* Reads the events since the last time, inside the reader's transaction. A
 * trial that was deleted or runs again takes its result back: then the state is
 * built again, and equals one that never saw it.
 * So it is when the study changes what it searches, see tuner/db/specs.h.
 * After a failure the state is half-built and must be freed. */
enum ht_status search_study_catch_up(struct search_study *study, struct db *db,
                                     struct ht_error *err);

/* Sets the study to an earlier moment: after the event `revision`, with that
 * limit of trials (0: none) and the space of then. Fastest when moments come in
 * order. *faithful is false when data of that moment is missing: a result that
 * was deleted since, or that a retry has taken back. */
enum ht_status search_study_go_to(struct search_study *study, struct db *db,
                                  int64_t revision, int64_t max_trials,
                                  bool *faithful, struct ht_error *err);

/* From that moment on (monotonic; INT64_MAX, as at first: never) a question for
 * several points is answered with those found so far, one at least. */
void search_study_hurry(struct search_study *study, int64_t deadline_ms);

/* Suggestions number `first` to first+n-1, none taken (except
 * repeats, unless the job says that noise is low) and all distinct; fewer in a
 * hurry or, with `exhausted`, when the space, or the part with the context's
 * values, has no further ones. Texts are in `arena`, the context is borrowed.
 * They count as taken only once their trials show up in the events. */
enum ht_status search_study_suggest(struct search_study *study,
                                    const struct worker_question *question,
                                    struct arena *arena,
                                    struct suggestions *found,
                                    struct ht_error *err);

#endif
