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
#include "runner/base/folder.h"
#include "runner/base/order.h"

struct replicas_one {
    const char *folder;
    const struct folder_id *id;
    bool ended;
    struct ending ending; /* once ended */
};

struct replicas { /* in the order's order, in the order's arena */
    size_t n;
    struct replicas_one *items;
    const struct ending **endings; /* scratch of replicas_state() */
    const struct order *order;
    const char *credentials; /* the attempt's copy */
};

void replicas_init(struct replicas *replicas, const struct engine_place *place);

/* Of a replica that has not ended: has its trial done something to its folder,
 * so that nothing in there can be trusted? Then it has failed by that, and what
 * runs is the engine's to kill. */
bool replicas_has_lost_folder(struct replicas *replicas, size_t replica);
void replicas_end_without_folder(struct replicas *replicas, size_t replica,
                                 const char *reason);
/* Takes exit.json of a replica that has not ended yet; true when it has. Where
 * its trainer failed, the last line of stderr follows in the reason. */
bool replicas_read_exit(struct replicas *replicas, size_t replica);
/* The replica ended without our supervisor's word; leaves an exit.json so that
 * a later runner comes to the same outcome. */
void replicas_end(struct replicas *replicas, size_t replica,
                  const struct ending *ending);

/* Leaves the order to stop with every replica that has not ended. */
void replicas_stop(struct replicas *replicas, const struct stop_order *order);

/* The attempt's state by its replicas; the first decisive end makes it stop
 * the others. */
enum engine_state replicas_state(struct replicas *replicas,
                                 const struct engine_place *place,
                                 struct ending *ending);

/* The replica whose end decides so far, as an index, or order->n_replicas when
 * none does yet. endings[i] of a replica that still runs is NULL.
 *
 * The earliest end of the master or of a failed replica is decisive. Where a
 * failure is, a lost replica is its cause: the others fail for the lack of it,
 * maybe before anybody notices the loss. A replica that was stopped while
 * nothing else has ended tells that the whole attempt is being stopped. */
size_t replicas_decisive(const struct order *order,
                         const struct ending *const endings[]);

/* The attempt's end as that replica's; the reason of a failure names the
 * replica when there are several. */
struct ending replicas_outcome(const struct order *order, size_t decisive,
                               const struct ending *ending);

#endif
