/* container.h - the container of one replica: its name, the request that makes
 * it, and what can be done with it then.
 *
 * The name identifies the replica for people, the labels for programs; both are
 * in proto/README.md section 7. Statuses are those of docker.h. */
#ifndef HT_RUNNER_CONTAINER_CONTAINER_H
#define HT_RUNNER_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/docker/docker.h"

enum { CONTAINER_PORT = 2222 }; /* of each replica for the others */

struct container_plan { /* of one replica; all is borrowed */
    const struct site *site;
    const struct docker_facts *facts;
    const struct order *order;
    size_t replica;
    const struct replica_place *place;
    const struct image *image;
    const struct mounts *mounts;
    const struct network *network;
};

/* "ht-ab12cd34-7-3-1-master-0", in the arena; also its name in the network. */
char *container_name(struct arena *arena, const struct order *order,
                     size_t replica);

/* Whether an engine of these abilities can give the replicas what they ask.
 * HT_PRECONDITION  it cannot; the text names the field and a remedy */
enum ht_status container_check(const struct docker_facts *facts,
                               const struct order *order, struct ht_error *err);

/* Appends the body of /containers/create. */
void container_body(const struct container_plan *plan, struct text *out);

/* Makes the container, or finds the one that this runner made before a restart.
 * HT_CONFLICT  the name is another program's */
enum ht_status container_create(struct docker *docker,
                                const struct container_plan *plan,
                                struct ht_error *err);
/* HT_OK also when it runs already. */
enum ht_status container_start(struct docker *docker, const char *name,
                               struct ht_error *err);

/* What the engine says of a container at one moment; texts are in the arena. */
struct container_state {
    bool is_new;        /* never started */
    bool running;       /* or paused */
    bool being_removed; /* has ended */
    bool oom_killed;    /* only Docker reports it */
    int exit;           /* once neither new nor running */
    const char *error;  /* the engine's message about a failed start, or "" */
    const struct node *labels; /* see network.h */
};

/* HT_NOT_FOUND  there is no such container */
enum ht_status container_look(struct docker *docker, struct arena *arena,
                              const char *name, struct container_state *state,
                              struct ht_error *err);
/* SIGKILL to all its processes; HT_OK when it does not run. */
enum ht_status container_kill(struct docker *docker, const char *name,
                              struct ht_error *err);
/* Kills and removes it; HT_OK when it does not exist. */
enum ht_status container_remove(struct docker *docker, const char *name,
                                struct ht_error *err);

#endif
