/* attempt.h - an attempt whose replicas are containers.
 *
 * The runner's supervising thread never waits: whatever blocks is done by the
 * attempt's own thread. It makes the containers, watches them, and removes them
 * when the supervising thread has seen all replicas end. A replica's end is in
 * its exit.json; what the thread finds out about a replica without one is a
 * finding. */
#ifndef HT_RUNNER_CONTAINER_ATTEMPT_H
#define HT_RUNNER_CONTAINER_ATTEMPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/base/folder.h"
#include "runner/base/placement.h"
#include "runner/container/network.h"
#include "runner/docker/docker.h"

struct container_engine { /* the open engine; set once, shared by all attempts
                           */
    const struct site *site;
    struct arena *arena;
    struct docker_address *address;
    struct docker_facts facts;
    struct relay *relay;
    struct leftovers *leftovers;
};

/* Calls of one attempt to the engine at once. */
enum { ATTEMPT_CONNECTIONS = 3 };

struct finding { /* an end that exit.json lacks, or has wrong */
    bool known;
    struct ending ending;
};

struct container_attempt {
    struct container_attempt *next;
    struct container_engine *engine;
    /* Its own copies: the thread may outlive those of the runner. */
    struct order *order;
    const char *folder;
    const char **folders; /* of each replica */
    const char **names;   /* of each container */
    struct placement placement;
    struct network_request request; /* for its network */

    /* The thread's own. */
    struct network network; /* name is NULL before it is known */
    int64_t begin_by;       /* monotonic; by then every replica has begun */
    bool *overfull;         /* replicas that wrote too much */
    bool relayed;           /* the relay to the report address is open */

    pthread_t thread;
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t changed; /* of anything there */
    struct docker *connections[ATTEMPT_CONNECTIONS];
    struct finding *findings; /* of each replica */
    const char **digests;     /* of each replica's image */
    int64_t
        kill_at; /* monotonic: when the engine kills it; valid once stopped */
    int writers; /* steps that write into its folder, which stays meanwhile */
    bool has_digests;
    bool pulling; /* a stop cancels the call */
    /* Also read without the lock. */
    atomic_bool stopped;   /* the replicas got an order to stop */
    atomic_bool ended;     /* all replicas: containers can be removed */
    atomic_bool abandoned; /* no further step */
    atomic_bool cleared;   /* nothing is left, or leftovers.c removes it */
    atomic_bool over;      /* the thread has ended */
};

/* ---- called by the supervising thread ---- */

/* Copies the order, reads the placement, starts the thread.
 * HT_IO  a file cannot be read, or there is no thread */
enum ht_status container_attempt_launch(struct container_engine *engine,
                                        const struct engine_place *place,
                                        struct container_attempt **attempt,
                                        struct ht_error *err);
/* Ends the steps; containers stay. Its folder may be removed afterwards. */
void container_attempt_abandon(struct container_attempt *attempt);
/* The replicas have their orders to stop on disk; 10 s after the grace period
 * (of 0 for a kill) the engine kills what still runs. A later call may only
 * bring that moment forward. Returns at once. */
void container_attempt_stop(struct container_attempt *attempt,
                            const struct stop_order *order);
/* The caller has seen every replica end; the thread removes the containers. */
void container_attempt_end(struct container_attempt *attempt);
/* Waits for the thread, which ends soon when it is abandoned or cleared. */
void container_attempt_free(struct container_attempt *attempt);

/* ---- called by its own thread ---- */

/* Makes and starts the containers that never were; failures are findings. */
void container_attempt_start(struct container_attempt *attempt);
/* Until all has ended or it is abandoned. */
void container_attempt_watch(struct container_attempt *attempt);
/* Removes the containers and the network. */
void container_attempt_clear(struct container_attempt *attempt);

/* Opens the relay to the report address, where the network has a gateway.
 * HT_IO  it cannot be opened; reports then go by file */
enum ht_status container_attempt_open_relay(struct container_attempt *attempt,
                                            struct ht_error *err);

/* By the files in the replica's folder: exit.json and shim.json. Any thread. */
bool container_attempt_has_exit(const struct container_attempt *attempt,
                                size_t replica);
bool container_attempt_has_begun(const struct container_attempt *attempt,
                                 size_t replica);
/* The shim locks its folder as long as it runs. */
bool container_attempt_is_alive(const struct container_attempt *attempt,
                                size_t replica);
/* Adds a finding unless the replica has one. */
void container_attempt_note(struct container_attempt *attempt, size_t replica,
                            const struct ending *ending);
/* Adds or replaces it. */
void container_attempt_overwrite(struct container_attempt *attempt,
                                 size_t replica, const struct ending *ending);
/* Takes the lock. */
bool container_attempt_has_finding(struct container_attempt *attempt,
                                   size_t replica);
/* A line of the replica's stream "runner". */
__attribute__((format(printf, 3, 4))) void
container_attempt_log(struct container_attempt *attempt, size_t replica,
                      const char *format, ...);

/* The folder stays until container_attempt_end_writing(); false: it may be
 * gone. */
bool container_attempt_begin_writing(struct container_attempt *attempt);
void container_attempt_end_writing(struct container_attempt *attempt);

/* Calls the step for each replica, some at once, each on its own connection.
 */
typedef void container_attempt_step(struct container_attempt *attempt,
                                    struct docker *docker, size_t replica,
                                    void *context);
/* Returns when all steps have; once the attempt is abandoned no further one
 * begins, so some replicas may have had none. */
void container_attempt_each(struct container_attempt *attempt,
                            container_attempt_step *step, void *context);

#endif
