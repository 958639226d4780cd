/* outcome.h - how an attempt ended, from the ends of its replicas.
 *
 * The attempt is as good as its master. Any other replica may end well at any
 * time; one that fails before the master has ended decides instead. */
#ifndef HT_RUNNER_ATTEMPT_OUTCOME_H
#define HT_RUNNER_ATTEMPT_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "runner/base/folder.h"
#include "runner/base/order.h"

/* The replica whose end decides so far, as an index, or order->n_replicas when
 * none does yet. endings[i] of a replica that still runs is NULL.
 *
 * The earliest end of the master or of a failed replica is decisive. Where a
 * failure is, a lost replica is its cause: the others fail for the lack of it,
 * maybe before anybody notices the loss. A replica that was stopped while
 * nothing else has ended tells that the whole attempt is being stopped. */
size_t outcome_find(const struct order *order,
                    const struct ending *const endings[]);

/* The attempt's end as that replica's; the reason of a failure names the
 * replica when there are several. */
struct ending outcome_make(const struct order *order, size_t decisive,
                           const struct ending *ending);

#endif
