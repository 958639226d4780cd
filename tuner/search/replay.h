/* replay.h - what a study would be suggested, then or now.
 *
 * Suggestions depend on the space, the seed, the results in their order and the
 * pending trials. A replay rebuilds these from the database and asks again: the
 * same point proves the suggestion, another algorithm shows what it would have
 * suggested. It is kept between questions, since continuing is faster than
 * starting over. One thread. */
#ifndef HT_TUNER_SEARCH_REPLAY_H
#define HT_TUNER_SEARCH_REPLAY_H

#include <stdbool.h>

#include "algorithms/base/algorithm.h"
#include "tuner/db/db.h"
#include "tuner/search/study.h"

struct replay;

/* One question, as the search worker was or would be asked. */
struct replay_question {
    int64_t revision;   /* after this event */
    int64_t max_trials; /* 0: no limit */
    struct worker_question asked;
    int64_t deadline_ms; /* monotonic: fewer from then on, one at least */
};

struct replay_answer {
    bool faithful;            /* no data of that moment is missing */
    struct suggestions found; /* when it is */
};

/* The replay of that study by that algorithm (NULL: its own), taken anew into
 * *kept when that holds another one. It belongs to *kept. */
struct replay *replay_of(struct replay **kept, int64_t study,
                         const struct algorithm *algorithm);
void replay_free(struct replay *replay); /* accepts NULL */

/* Answers in the reader's snapshot; texts are in the arena. */
enum ht_status replay_ask(struct replay *replay, struct db *db,
                          struct arena *arena,
                          const struct replay_question *question,
                          struct replay_answer *answer, struct ht_error *err);

#endif
