/* network.h - the network of an attempt's containers, and the labels that mark
 * what belongs to an attempt.
 *
 * Each attempt has its own bridge, named like the attempt, unless the job names
 * a network. Statuses are those of docker.h. */
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

/* The network that an attempt's containers are in; texts in the caller's
 * arena. */
struct network {
    const char *name;    /* for NetworkMode: "none", "host", a name */
    bool has_names;      /* containers in it resolve each other's names */
    const char *gateway; /* this machine's address in it; NULL: none that a
                            container could reach */
};

/* Appends member "Labels" with server, runner, attempt and, unless it is NULL,
 * replica. */
void network_put_labels(struct text *out, const struct site *site,
                        const struct order *order, const char *replica);
/* Reads the attempt's label, "7/3/1"; false when there is none. */
bool network_read_attempt(const struct node *labels, struct order_key *key);
/* Whether the labels are this runner's for that attempt. */
bool network_is_own(const struct node *labels, const struct site *site,
                    const struct order_key *key);
/* Query "filters=..." for what carries this runner's label. */
char *network_filter(struct arena *arena, const struct site *site);

struct network_request { /* all is borrowed */
    const struct site *site;
    const struct docker_facts *facts;
    const struct order *order;
};

/* Makes the attempt's network, or finds the one it has, in the arena.
 * HT_CONFLICT      the name is another program's
 * HT_PRECONDITION  the network that the job names does not exist */
enum ht_status network_make(struct docker *docker, struct arena *arena,
                            const struct network_request *request,
                            struct network *network, struct ht_error *err);
/* Disconnects what is still connected, whose containers are being removed, and
 * removes it; HT_OK when it does not exist.
 * HT_CONFLICT  it still has members */
enum ht_status network_remove(struct docker *docker, const char *name,
                              struct ht_error *err);
/* The same for the attempt's own; another program's of that name stays. */
enum ht_status network_remove_own(struct docker *docker,
                                  const struct network_request *request,
                                  struct ht_error *err);

#endif
