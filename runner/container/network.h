/* network.h - how the containers of one attempt reach each other and us, and
 * the labels by which what belongs to an attempt is found in an engine.
 *
 * An attempt has a bridge of its own, named like the attempt, unless the job
 * says otherwise. Statuses are those of docker.h. */
#ifndef HT_RUNNER_CONTAINER_NETWORK_H
#define HT_RUNNER_CONTAINER_NETWORK_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "runner/docker/docker.h"

#define LABEL_SERVER "hypertune.server"
#define LABEL_RUNNER "hypertune.runner"
#define LABEL_ATTEMPT "hypertune.attempt"
#define LABEL_REPLICA "hypertune.replica"

struct network {
    const char *name;    /* as NetworkMode has it: "none", "host", a name */
    bool ours;           /* made for this attempt, to be removed with it */
    bool has_names;      /* its members find each other by name */
    const char *gateway; /* this machine's address in it; NULL: none that a
                            container could reach */
};

/* Appends member "Labels" with server, runner, attempt and, unless it is NULL,
 * replica. */
void network_put_labels(struct text *out, const struct site *site,
                        const struct order *order, const char *replica);
/* Reads the attempt's label, "7/3/1"; false when it is no such text. */
bool network_read_attempt(const char *label, struct order_key *key);
/* Query "filters=..." for what carries this runner's label. */
char *network_filter(struct arena *arena, const struct site *site);

struct network_request { /* all is borrowed */
    const struct site *site;
    const struct docker_facts *facts;
    const struct order *order;
};

/* Makes the attempt's network, or finds the one it has, in the arena.
 * HT_CONFLICT      the name is somebody else's
 * HT_PRECONDITION  the network that the job names does not exist */
enum ht_status network_make(struct docker *docker, struct arena *arena,
                            const struct network_request *request,
                            struct network *network, struct ht_error *err);
/* Whatever is still connected is let go: its containers are gone or going. One
 * that is not there is no failure.
 * HT_CONFLICT  it has members all the same */
enum ht_status network_remove(struct docker *docker, const char *name,
                              struct ht_error *err);
/* The same for the attempt's own; a stranger's of its name is left alone. */
enum ht_status network_remove_own(struct docker *docker,
                                  const struct network_request *request,
                                  struct ht_error *err);

#endif
