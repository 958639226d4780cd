/* volumes.h - what a pod mounts, and where its hypertune-shim comes from: from
 * ConfigMaps, or by a container before the others from an image of ours.
 *
 * Pure. A pod that is read by its log has no shim. */
#ifndef HT_RUNNER_PODS_VOLUMES_H
#define HT_RUNNER_PODS_VOLUMES_H

#include "proto/base/text.h"

struct order;
struct pod_shape;

/* Each adds members to an object of JSON: of the trial's container, whose
 * folder is that path below POD_ROOT, with its index as a variable; */
void pod_put_mounts(struct text *out, const struct pod_shape *shape,
                    const char *folder);
/* ... of one without a shim; */
void pod_put_shm_mount(struct text *out, const struct pod_shape *shape);
/* ... of the pod's spec: the volumes, the container that copies the shim, and
 * the nodes on which it runs. */
void pod_put_shim(struct text *out, const struct pod_shape *shape);

#endif
