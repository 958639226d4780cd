/* kinds.h - the kinds of which trials are objects from templates, such as
 * PyTorchJob: where the cluster has them, and what one watch of each says of
 * this runner's objects.
 *
 * The file kinds.json in the state folder keeps their names, so that a later
 * runner finds what is left over. The maker's thread calls the functions with a
 * client, the supervising thread kinds_look(). */
#ifndef HT_RUNNER_PODS_KINDS_H
#define HT_RUNNER_PODS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "runner/kubernetes/discovery.h"

struct kinds;
struct kube;
struct kube_kind;
struct node;

struct kinds_settings {
    const char *namespace; /* both must outlive the kinds */
    const char *runner;    /* value of POD_LABEL_RUNNER */
    const char *state;     /* folder of kinds.json */
};

/* Reads the file. Errors of disk_read_json(), but a file that is not there. */
enum ht_status kinds_open(const struct kinds_settings *settings,
                          struct kinds **kinds, struct ht_error *err);
void kinds_close(struct kinds *kinds); /* accepts NULL; waits about a second */

/* Finds the kind, and begins to watch its objects. *found is valid until
 * kinds_close(). Errors of kube_discover(), and
 * HT_IO  its name cannot be kept, or no thread */
enum ht_status kinds_find(struct kinds *kinds, struct kube *kube,
                          const struct kube_kind_name *name,
                          const struct kube_kind **found, struct ht_error *err);
/* The kind number i of all that this runner has ever made; false: there are no
 * more. */
bool kinds_name(struct kinds *kinds, size_t i, struct kube_kind_name *name);

struct kinds_wish {
    struct kube_kind_name kind;
    const char *attempt; /* value of POD_LABEL_ATTEMPT */
    int64_t revision;    /* of the object that is known already, 0: none */
};
/* The object of the attempt, in the arena, and its revision: of this process
 * alone. False: there is none, or none that is newer. `fault`: why there is no
 * watch of the kind, "" when all is well. */
bool kinds_look(struct kinds *kinds, const struct kinds_wish *wish,
                struct arena *arena, const struct node **object,
                int64_t *revision, char fault[HT_MAX_REASON]);

#endif
