/* engine.h - the functions that each engine (processes of this machine,
 * containers, batch jobs of a cluster, pods) offers to an attempt.
 *
 * An engine keeps its state outside the runner (folders, labels), so that
 * start() works after the runner was killed between any two steps. The
 * supervising thread makes all calls; they return soon. */
#ifndef HT_RUNNER_ATTEMPT_ENGINE_H
#define HT_RUNNER_ATTEMPT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
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
        *folder_ids; /* of the replicas' folders; set by replicas_init() */
    void *data;      /* the engine's own, NULL at first */
};

/* What an attempt ran on, for the record; in the order's arena once it is
 * known. */
struct engine_facts {
    bool known;
    const char *const
        *images; /* digest of each replica's; NULL: none has one */
};

/* What an open engine can do, for people and for checks at submit. */
struct engine_abilities {
    const char *version; /* "Docker 20.10.24" */
    bool gpus;           /* can give GPUs to replicas */
    int64_t cpus;        /* 0: not known */
    int64_t memory;      /* bytes, 0: not known */
};

/* The slots of a study at an engine that makes them on demand. */
struct engine_slots {
    int64_t study;
    int asking;          /* that are up and wait for a trial */
    int64_t wanted;      /* as engine_elastic.want() had it */
    const char *need;    /* hash of what each needs; NULL: not known */
    const char *refused; /* why there are no more of them; NULL: no reason */
    int run, wait;   /* elements there: that have begun, and that have not */
    const char *why; /* in the cluster's words, why these wait; or NULL */
};

/* How many a study wants. */
struct engine_wanted {
    int64_t study, slots;
    const char *need; /* hash */
    const char *is;   /* what each needs, as JSON; NULL: it is known by its
                         hash */
};

/* For slots that are made on demand. Called between open() and close(). */
struct engine_elastic {
    /* Looks after the slots; returns the monotonic time of the next look. */
    int64_t (*tick)(int64_t now_ms);
    /* The studies that want slots or have some, in the arena; how many. */
    size_t (*look)(struct arena *arena, const struct engine_slots **slots);
    /* All that is wanted; other studies want none. */
    void (*want)(const struct engine_wanted *wanted, size_t n);
};

/* Of outputs that are elsewhere while an attempt runs. */
enum engine_bringing { ENGINE_BRINGING, ENGINE_BROUGHT, ENGINE_NOT_BROUGHT };

/* What every kind of engine does for an attempt; called by one thread. */
struct engine {
    const char *name;
    bool images;                          /* runs images, and only these */
    const struct engine_elastic *elastic; /* NULL: slots are of this machine */
    /* Connects to it; before any other call, once.
     * HT_UNAVAILABLE  it cannot be reached now; the runner logs that and tries
     *                 again
     * HT_INVALID      an option for it is wrong */
    enum ht_status (*open)(const struct site *site, struct ht_error *err);
    void (*close)(void); /* replicas continue; NULL: nothing to do */
    /* After open(); borrowed until close(). NULL: those of this machine. */
    struct engine_abilities (*abilities)(void);
    /* Address of a replica for CLUSTER_SPEC, in the order's arena; *claim as
     * in placement.h. */
    enum ht_status (*address)(const struct site *site,
                              const struct order *order, size_t replica,
                              const char **address, int *claim,
                              struct ht_error *err);
    /* Prepares the folders (prepare.h) and starts every replica that was not
     * started yet; what takes long continues in the background, and poll()
     * returns its result. Of an attempt from before a restart it finds what
     * exists; a replica is started at most once, however often this is called.
     * After a failure some may run: remove() follows.
     * HT_PRECONDITION  no engine of this kind can run the order
     * other            it failed here and now */
    enum ht_status (*start)(struct engine_place *place, struct ht_error *err);
    /* Fills `ending` when every replica has ended; replicas_decisive() decides,
     * and the first decisive end makes it stop the others. */
    enum engine_state (*poll)(struct engine_place *place,
                              struct ending *ending);
    /* Brings the first replica's checkpoints, of them what is at the path
     * `below` ("": all), to the trial's folder here, in place of what that has;
     * asked again until it has ended. poll() has brought all outputs by the
     * end. NULL: they are in the trial's folder.
     * HT_UNAVAILABLE  not now
     * others          not this one */
    enum engine_bringing (*bring)(struct engine_place *place, const char *below,
                                  struct ht_error *err);
    /* Orders every replica to end; poll() returns when they have. */
    void (*stop)(struct engine_place *place, const struct stop_order *order);
    /* Kills whatever is left and forgets place->data. The folder stays; it
     * may be removed at once, whatever the engine still has to clean up. */
    void (*remove)(struct engine_place *place);
    /* True once a replica has begun to run, even if it has ended: then the
     * server gets `started`, and the attempt's time counts. */
    bool (*is_started)(const struct engine_place *place);
    struct engine_facts (*facts)(const struct engine_place *place);
};

extern const struct engine engine_process;
extern const struct engine engine_docker;
extern const struct engine engine_slurm;
extern const struct engine engine_kubernetes;

#endif
