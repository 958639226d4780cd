#include "runner/pods/volumes.h"

#include "proto/base/processor.h"
#include "runner/attempt/outputs.h"
#include "runner/base/json.h"
#include "runner/base/safe_path.h"
#include "runner/base/site.h"
#include "runner/pods/shape.h"
#include "runner/pods/shim_maps.h"

/* ---- of the trial's container ---- */

static void put_mount(struct text *out, const char *name, const char *path,
                      const char *sub_path, bool varies)
{
    json_open(out, NULL);
    json_put_string(out, "name", name);
    json_put_string(out, "mountPath", path);
    if (sub_path != NULL)
        json_put_string(out, varies ? "subPathExpr" : "subPath", sub_path);
    json_close(out);
}

static void put_shm(struct text *out, const struct pod_shape *shape)
{
    if (shape->order->container.shm_bytes > 0)
        put_mount(out, "hypertune-shm", "/dev/shm", NULL, false);
}

/* The folders of replica_view.h: the replica's own, and the trial's with its
 * outputs, are part of what the mirror serves. */
void pod_put_mounts(struct text *out, const struct pod_shape *shape,
                    const char *folder)
{
    struct arena *arena = arena_new();
    const char *trial =
        outputs_trial_folder(arena, shape->site, &shape->order->key);
    json_open_list(out, "volumeMounts");
    put_mount(out, "hypertune-bin", POD_BIN, NULL, false);
    put_mount(out, "hypertune-state", POD_ROOT, NULL, false);
    put_mount(out, "hypertune-state", CONTAINER_TRIAL, folder, true);
    put_mount(out, "hypertune-state", CONTAINER_OUTPUT,
              safe_path_rest(shape->site->state, trial), false);
    put_shm(out, shape);
    json_close_list(out);
    arena_free(arena);
}

void pod_put_shm_mount(struct text *out, const struct pod_shape *shape)
{
    json_open_list(out, "volumeMounts");
    put_shm(out, shape);
    json_close_list(out);
}

/* ---- of the pod ---- */

static void put_volumes(struct text *out, const struct pod_shape *shape)
{
    const int64_t shm = shape->order->container.shm_bytes;
    json_open_list(out, "volumes");
    if (shape->variables == NULL) {
        if (shape->site->kube_shim_image != NULL)
            json_put_raw(out, NULL,
                         "{\"name\":\"hypertune-bin\",\"emptyDir\":{}}");
        else
            shim_maps_put_volume(out, shape->shim);
        json_put_raw(out, NULL,
                     "{\"name\":\"hypertune-state\",\"emptyDir\":{}}");
    }
    if (shm > 0) {
        struct arena *arena = arena_new();
        json_put_raw(out, NULL,
                     arena_printf(arena,
                                  "{\"name\":\"hypertune-shm\",\"emptyDir\":{"
                                  "\"medium\":\"Memory\",\"sizeLimit\":"
                                  "\"%lld\"}}",
                                  (long long)shm));
        arena_free(arena);
    }
    json_close_list(out);
}

/* Its image has the shim in PATH. A quota may want amounts; those of the pod
 * are the trial's, which are more, or these. */
static void put_copier(struct text *out, const struct pod_shape *shape)
{
    static const char *const command[] = {"hypertune-shim", "--copy",
                                          POD_BIN "/shim"};
    static const char amounts[] =
        "{\"requests\":{\"cpu\":\"50m\",\"memory\":\"32Mi\"},"
        "\"limits\":{\"cpu\":\"1\",\"memory\":\"64Mi\"}}";
    json_open_list(out, "initContainers");
    json_open(out, NULL);
    json_put_string(out, "name", "hypertune-shim");
    json_put_string(out, "image", shape->site->kube_shim_image);
    json_put_strings(out, "command", &(struct strings){3, command});
    json_put_raw(out, "resources", amounts);
    pod_put_safety(out, shape->order);
    json_open_list(out, "volumeMounts");
    put_mount(out, "hypertune-bin", POD_BIN, NULL, false);
    json_close_list(out);
    json_close(out);
    json_close_list(out);
}

void pod_put_shim(struct text *out, const struct pod_shape *shape)
{
    put_volumes(out, shape);
    if (shape->variables != NULL)
        return;
    if (shape->site->kube_shim_image != NULL)
        put_copier(out, shape);
    else /* the shim of the ConfigMaps is of this machine's kind */
        json_put_raw(out, "nodeSelector",
                     "{\"kubernetes.io/arch\":\"" PROCESSOR "\"}");
}
