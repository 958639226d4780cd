/* engine.h - what the runner asks of whatever runs replicas: processes of this
 * machine, containers.
 *
 * An engine keeps its truth outside the runner (folders, labels), so that
 * start() works after the runner was killed between any two steps. All calls
 * come from the supervising thread and return soon. */
#ifndef HT_RUNNER_ATTEMPT_ENGINE_H
#define HT_RUNNER_ATTEMPT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/base/folder.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

enum engine_state { ENGINE_RUNNING, ENGINE_ENDED };

struct engine_place { /* one attempt, as an engine has it */
    const struct site *site;
    const struct order *order; /* the engine may allocate in its arena */
    const struct placement *placement; /* chosen and written */
    const char *folder;                /* of the attempt; the lease is in it */
    struct folder_id
        *folder_ids; /* of the replicas; replicas_init() notes them */
    void *data;      /* the engine's own, NULL at first */
};

/* What an attempt ran on, for the record; in the order's arena once the engine
 * knows it. */
struct engine_facts {
    bool known;
    const char *const *images; /* digest of each replica's, NULL: no image */
};

/* What an open engine is, for people and for checks at submit. */
struct engine_abilities {
    const char *version; /* "Docker 20.10.24" */
    bool gpus;           /* can give GPUs to replicas */
    int64_t cpus;        /* 0: not known */
    int64_t memory;      /* bytes, 0: not known */
};

struct engine {
    const char *name;
    bool images; /* runs images, and only these */
    /* Before any other call, once: is it there, what can it do?
     * HT_UNAVAILABLE  it cannot be reached now; the runner says so and tries
     *                 again
     * HT_INVALID      an option for it is wrong */
    enum ht_status (*open)(const struct site *site, struct ht_error *err);
    void (*close)(void); /* leaves replicas alone */
    /* After open(); borrowed until close(). NULL: this machine's are its. */
    struct engine_abilities (*abilities)(void);
    /* Address of a replica for CLUSTER_SPEC, in the order's arena; *claim as
     * in placement.h. */
    enum ht_status (*address)(const struct site *site,
                              const struct order *order, size_t replica,
                              const char **address, int *claim,
                              struct ht_error *err);
    /* Prepares the folders (prepare.h) and starts every replica that never was,
     * or begins to: what takes long continues behind, and poll() tells how it
     * came out. Of an attempt of an earlier life of the runner it finds the
     * rest; a replica is started at most once, however often this is called.
     * After a failure some may run: remove() follows.
     * HT_PRECONDITION  no engine of this kind can run what is ordered
     * other            it could not be done here and now */
    enum ht_status (*start)(struct engine_place *place, struct ht_error *err);
    /* Fills `ending` when every replica has ended; replicas_decisive() decides,
     * and the first decisive end makes it stop the others. */
    enum engine_state (*poll)(struct engine_place *place,
                              struct ending *ending);
    /* Asks every replica to end; poll() tells when they did. */
    void (*stop)(struct engine_place *place, const struct stop_order *order);
    /* Kills whatever is left and forgets place->data. The folder stays; it
     * may be removed at once, whatever the engine still has to clean up. */
    void (*remove)(struct engine_place *place);
    /* True once a replica has begun to run, whatever became of it: then the
     * server gets `started`, and the attempt's time counts. */
    bool (*is_started)(const struct engine_place *place);
    struct engine_facts (*facts)(const struct engine_place *place);
};

extern const struct engine engine_process;
extern const struct engine engine_docker;

#endif
