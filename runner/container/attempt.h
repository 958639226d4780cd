/* attempt.h - an attempt in the care of the container engine.
 *
 * The runner's supervising thread never waits: whatever blocks is done by a
 * thread that the attempt has to itself. It makes the containers, watches that
 * they go on, and clears them away when the supervising thread has seen all
 * replicas end. What a replica wrote tells its end; what the thread finds out
 * about one that cannot tell is a finding. */
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

struct finding { /* what exit.json does not say, or not well enough */
    bool known;
    struct ending ending;
};

struct container_attempt {
    struct container_attempt *next;
    struct container_engine *engine;
    /* Of its own, for the thread may outlive the runner's. */
    struct order *order;
    const char *folder;
    const char **folders; /* of each replica */
    struct placement placement;

    /* The thread's own. */
    struct network network; /* name is NULL before it is known */
    int64_t begin_by;       /* monotonic: when every replica has begun */
    bool *overfull;         /* replicas that wrote too much */
    bool relayed;           /* the way to the report address is open */

    pthread_t thread;
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t changed; /* of anything there */
    struct docker *connections[ATTEMPT_CONNECTIONS];
    struct finding *findings; /* of each replica */
    const char **digests;     /* of each replica's image */
    int64_t kill_at; /* monotonic: when the engine kills; once stopped */
    int writers;     /* into its folder, which must stay meanwhile */
    bool has_digests;
    bool pulling; /* a stop breaks the call off */
    /* Also read without the lock. */
    atomic_bool stopped;   /* the replicas were told to end */
    atomic_bool ended;     /* all replicas: the containers can go */
    atomic_bool abandoned; /* no further step */
    atomic_bool cleared;   /* nothing of it is left, or leftovers.c has it */
    atomic_bool over;      /* the thread is */
};

/* ---- by the supervising thread ---- */

/* Makes an order of its own and reads the placement again.
 * HT_IO  a file cannot be read, or there is no thread */
enum ht_status container_attempt_launch(struct container_engine *engine,
                                        const struct engine_place *place,
                                        struct container_attempt **attempt,
                                        struct ht_error *err);
/* No step follows; what is there stays. Its folder may go afterwards. */
void container_attempt_abandon(struct container_attempt *attempt);
void container_attempt_stop(struct container_attempt *attempt,
                            const struct stop_order *order);
void container_attempt_end(struct container_attempt *attempt);
/* Waits for the thread, which ends soon when it is abandoned or cleared. */
void container_attempt_free(struct container_attempt *attempt);

/* ---- by its own thread ---- */

/* Makes and starts what never was; findings tell what could not be. */
void container_attempt_start(struct container_attempt *attempt);
/* Until all has ended or it is abandoned. */
void container_attempt_watch(struct container_attempt *attempt);
/* Has the containers and the network removed. */
void container_attempt_clear(struct container_attempt *attempt);

/* Opens the way to the report address as far as it can be opened.
 * HT_IO  it cannot; the file of records is enough */
enum ht_status container_attempt_open_relay(struct container_attempt *attempt,
                                            struct ht_error *err);

bool container_attempt_has_exit(const struct container_attempt *attempt,
                                size_t replica);
bool container_attempt_has_begun(const struct container_attempt *attempt,
                                 size_t replica);
/* The shim holds the lock of its folder as long as it lives. */
bool container_attempt_is_alive(const struct container_attempt *attempt,
                                size_t replica);
/* The first word about a replica counts. */
void container_attempt_note(struct container_attempt *attempt, size_t replica,
                            const struct ending *ending);
void container_attempt_note_lost(struct container_attempt *attempt,
                                 size_t replica, const char *reason);
/* The last one does. */
void container_attempt_overwrite(struct container_attempt *attempt,
                                 size_t replica, const struct ending *ending);
bool container_attempt_has_finding(struct container_attempt *attempt,
                                   size_t replica);
/* A line in the replica's log. */
__attribute__((format(printf, 3, 4))) void
container_attempt_log(struct container_attempt *attempt, size_t replica,
                      const char *format, ...);

/* The folder stays until container_attempt_end_writing(); false: it is gone. */
bool container_attempt_begin_writing(struct container_attempt *attempt);
void container_attempt_end_writing(struct container_attempt *attempt);

/* Each replica in its turn, several at once, each by a connection of its own.
 */
typedef void container_attempt_step(struct container_attempt *attempt,
                                    struct docker *docker, size_t replica,
                                    void *context);
void container_attempt_each(struct container_attempt *attempt,
                            container_attempt_step *step, void *context);

/* Waits for a change or so long; the lock is not held. */
void container_attempt_wait(struct container_attempt *attempt, int ms);

#endif
