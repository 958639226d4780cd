/* replicas.h - the replicas of one attempt and what is known of their ends; the
 * part of an engine that is the same for all of them.
 *
 * An engine fills in the ends as it learns of them; exit.json in a replica's
 * folder is one whatever engine it is. */
#ifndef HT_RUNNER_ATTEMPT_REPLICAS_H
#define HT_RUNNER_ATTEMPT_REPLICAS_H

#include <stdbool.h>
#include <stddef.h>

#include "runner/attempt/engine.h"

struct crew_replica {
    const char *folder;
    const struct home *home;
    bool ended;
    struct ending ending; /* once ended */
};

struct crew { /* in the order's order, in the order's arena */
    size_t n;
    struct crew_replica *replicas;
    const struct ending **endings; /* scratch of crew_judge() */
    const struct order *order;
    const char *credentials; /* the attempt's copy */
};

void crew_init(struct crew *crew, const struct engine_place *place);

/* Of a replica that has not ended: has its trial done something to its folder,
 * so that nothing in there can be trusted? Then it has failed by that, and what
 * runs is the engine's to kill. */
bool crew_is_homeless(struct crew *crew, size_t replica);
void crew_end_homeless(struct crew *crew, size_t replica, const char *reason);
/* Takes exit.json of a replica that has not ended yet; true when it has. Where
 * its trainer failed, the last line of stderr follows in the reason. */
bool crew_read_exit(struct crew *crew, size_t replica);
/* The replica ended without our supervisor's word; leaves an exit.json so that
 * a later runner comes to the same verdict. */
void crew_end(struct crew *crew, size_t replica, const struct ending *ending);

/* Leaves the order to stop with every replica that has not ended. */
void crew_stop(struct crew *crew, const struct stop_order *order);

/* The attempt's state by its replicas; the first decisive end makes it stop
 * the others. */
enum engine_state crew_judge(struct crew *crew,
                             const struct engine_place *place,
                             struct ending *ending);

#endif
