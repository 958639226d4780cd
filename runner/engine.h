/* engine.h - what the runner asks of whatever runs replicas: local processes
 * today, containers and clusters behind the same six calls.
 *
 * An engine keeps its truth outside the runner (folders, labels), so that
 * adopt() works after the runner was killed between any two steps. All calls
 * come from the supervising thread and return soon. */
#ifndef HT_RUNNER_ENGINE_H
#define HT_RUNNER_ENGINE_H

#include "proto/error.h"
#include "runner/folder.h"
#include "runner/order.h"
#include "runner/site.h"

enum engine_state { ENGINE_RUNNING, ENGINE_ENDED };

struct engine_place { /* one attempt in an engine's hands */
    const struct site *site;
    const struct order *order; /* the engine may allocate in its arena */
    const char *folder;        /* of the attempt, prepared */
    void *memory;              /* the engine's own, NULL at first */
};

struct engine {
    const char *name;
    /* Starts every replica. After a failure some may run: remove() follows.
     * HT_PRECONDITION  no engine of this kind can run what is ordered
     * other            it could not be done here and now */
    enum ht_status (*start)(struct engine_place *place, struct ht_error *err);
    /* Finds an attempt of an earlier life of the runner and starts what never
     * was; a replica is started at most once, whoever asks. Fails as start()
     * does. */
    enum ht_status (*adopt)(struct engine_place *place, struct ht_error *err);
    /* Fills `ending` when every replica has ended; verdict_find() decides, and
     * the first decisive end makes it stop the others. */
    enum engine_state (*poll)(struct engine_place *place,
                              struct ending *ending);
    /* Asks every replica to end; poll() tells when they did. */
    void (*stop)(struct engine_place *place, const struct stop_order *order);
    /* Kills whatever is left, now. The folder stays. */
    void (*remove)(struct engine_place *place);
};

extern const struct engine engine_process;

/* NULL when this version has no engine of that name. */
const struct engine *engine_find(const char *name);
/* "process": all names, for messages. */
const char *engine_names(void);

#endif
