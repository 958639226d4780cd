/* shim_maps.h - the ConfigMaps with hypertune-shim that a pod mounts: its
 * loader as `shim`, and the shim in parts beside it.
 *
 * A namespace has one set of them for each version of the programs, immutable
 * and shared by all runners, so that no runner removes them. A person removes
 * all of them, when no pod of hypertune runs, by
 *     kubectl delete configmaps -l app.kubernetes.io/name=hypertune-shim */
#ifndef HT_RUNNER_PODS_SHIM_MAPS_H
#define HT_RUNNER_PODS_SHIM_MAPS_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/kubernetes/client.h"

enum { SHIM_MAPS = 4 };

struct shim_maps {
    size_t n;
    const char *names[SHIM_MAPS]; /* in the arena: "hypertune-shim-HASH-0" */
};

/* Makes the ones that the namespace lacks, from `shim`, the path of
 * hypertune-shim, and hypertune-shim-loader beside it. Several runners may do
 * this at once. Nothing is made when a program cannot be read; after another
 * failure some may be there, and stay. Errors of kube_create() and kube_get(),
 * and
 * HT_IO       a program cannot be read, or is too large
 * HT_CORRUPT  one of that name has other data, or could be changed: such a
 *             program must not run */
enum ht_status shim_maps_ensure(struct kube *kube, const char *namespace,
                                const char *shim, struct arena *arena,
                                struct shim_maps *maps, struct ht_error *err);

/* Their names alone, in the arena; nothing is made. HT_IO as above. */
enum ht_status shim_maps_name(const char *shim, struct arena *arena,
                              struct shim_maps *maps, struct ht_error *err);

/* Appends the volume with all of them as an item of the JSON list:
 * {"name":"hypertune-bin","projected":{...}}, its files mode 0555. */
void shim_maps_put_volume(struct text *out, const struct shim_maps *maps);

#endif
