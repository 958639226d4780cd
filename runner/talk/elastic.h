/* elastic.h - the members of a poll and its answer about slots that the engine
 * makes on demand: proto/README.md section 4. */
#ifndef HT_RUNNER_TALK_ELASTIC_H
#define HT_RUNNER_TALK_ELASTIC_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/engine.h"

/* Of the poll under way. */
struct elastic {          /* zeroed at first */
    struct text named;    /* what asks and is refused, as it said */
    struct text elements; /* what runs and waits */
    int64_t put_at;       /* monotonic: when it was made */
    int64_t tick_at;      /* monotonic: when the engine looks again */
};
void elastic_fini(struct elastic *elastic);

/* Has the engine look after its slots. `elastic`'s engine has slots on demand
 * here and below. */
void elastic_tick(struct elastic *elastic, const struct engine *engine,
                  int64_t now_ms);
/* Adds the members of a poll to the open object. */
void elastic_put(struct elastic *elastic, const struct attempts *attempts,
                 int64_t now_ms, struct text *out);
/* Whether a poll would now say something else than the one under way; when only
 * other elements run and wait, which is for people to see, not within a second:
 * then the next tick is when it has passed. */
bool elastic_has_news(struct elastic *elastic, const struct attempts *attempts,
                      int64_t now_ms);
/* Takes what an answer wants; one without the member changes nothing. */
void elastic_take(const struct engine *engine, const struct node *answer);

#endif
