/* replicas.h - the replicas of one attempt and how each ended, also by a
 * trial's own change of its folder; the part of an engine that is the same for
 * all.
 *
 * An engine adds the ends as it learns of them; exit.json in a replica's folder
 * means the same with every engine. */
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

/* None has ended; all memory is in the arena of the order, so nothing is
 * freed. */
void replicas_init(struct replicas *replicas, const struct engine_place *place);

/* Whether its trial removed or locked the replica's folder, so that nothing in
 * there can be trusted. Then a running replica has failed by that, and the
 * engine kills its processes. */
bool replicas_has_lost_folder(struct replicas *replicas, size_t replica);
/* Ends a replica whose folder is lost as failed; nothing is written to disk. */
void replicas_end_without_folder(struct replicas *replicas, size_t replica,
                                 const char *reason);
/* Reads exit.json of a replica that has not ended yet; true when it has ended.
 * When its trainer failed, the reason also has the last line of stderr. */
bool replicas_read_exit(struct replicas *replicas, size_t replica);
/* Ends a replica whose shim wrote no exit.json, and writes one, so that a later
 * runner has the same outcome. */
void replicas_end(struct replicas *replicas, size_t replica,
                  const struct ending *ending);

/* Writes the order to stop for every replica that has not ended. */
void replicas_stop(struct replicas *replicas, const struct stop_order *order);

/* The attempt's state by its replicas; the first decisive end stops the
 * others. */
enum engine_state replicas_state(struct replicas *replicas,
                                 const struct engine_place *place,
                                 struct ending *ending);

/* The index of the replica whose end decides so far, order->n_replicas when
 * none does yet. endings[i] of a replica that still runs is NULL.
 *
 * The earliest end of the master or of a failed replica is decisive. If that is
 * a failure and a replica is lost, the loss is its cause: the others fail
 * without it, maybe before the loss is noticed. A replica that was stopped
 * while no such one has ended means that the whole attempt is being stopped. */
size_t replicas_decisive(const struct order *order,
                         const struct ending *const endings[]);

/* The attempt's end as that replica's; the reason of a failure names the
 * replica when there are several. */
struct ending replicas_outcome(const struct order *order, size_t decisive,
                               const struct ending *ending);

#endif
