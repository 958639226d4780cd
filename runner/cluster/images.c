#include "runner/cluster/images.h"

#include <string.h>

#include "proto/job/command.h"
#include "runner/attempt/mounts.h"
#include "runner/attempt/prepare.h"
#include "runner/base/disk.h"
#include "runner/element/image.h"

bool images_are_wanted(const struct order *order)
{
    return order->replicas[0].image != NULL;
}

/* ---- an attempt ---- */

static const char *pull_of(const struct order *order)
{
    switch (order->container.pull) {
    case PULL_ALWAYS:
        return "always";
    case PULL_NEVER:
        return "never";
    case PULL_IF_NOT_PRESENT:
        break;
    }
    return "missing";
}

static enum ht_status write_image(const struct engine_place *place,
                                  struct arena *arena, size_t replica,
                                  const char *folder, struct ht_error *err)
{
    const struct order *order = place->order;
    struct mounts found = {0};
    enum ht_status status =
        mounts_find(arena, place->site, order, folder, &found, err);
    if (status == HT_OK)
        status = disk_make_folder(folder, err);
    if (status != HT_OK)
        return status;
    struct image_mount *mounts =
        arena_alloc(arena, found.n + 1, sizeof *mounts);
    for (size_t i = 0; i < found.n; i++)
        mounts[i] = (struct image_mount){
            .source = found.items[i].source,
            .target = found.items[i].target,
            .read_only = found.items[i].read_only,
        };
    const struct image_order image = {
        .image = order->replicas[replica].image,
        .name = arena_printf(arena, "%s-%s", order->name,
                             order->replicas[replica].name),
        .pull = pull_of(order),
        .user = order->container.user,
        .read_only = order->container.read_only,
        .shm_bytes = order->container.shm_bytes,
        .n_mounts = found.n,
        .mounts = mounts,
    };
    return image_write(folder, &image, err);
}

/* The node puts the image's own environment, folder and entry point. */
static struct replica_view view_of(const struct engine_place *place,
                                   struct arena *arena, size_t replica)
{
    static const char *const entry[] = {IMAGE_ENTRY};
    static const struct image unknown = {.entrypoint = {1, entry}};
    static const char *const found_there[] = {
        "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
        "ZE_AFFINITY_MASK"};
    struct replica_view view = replica_view_of_container(
        arena, place->site, place->order, replica, &unknown, NULL);
    view.inherited =
        (struct strings){sizeof found_there / sizeof *found_there, found_there};
    view.workdir = place->order->replicas[replica].workdir;
    return view;
}

enum ht_status images_prepare(const struct engine_place *place,
                              struct ht_error *err)
{
    const struct order *order = place->order;
    if (prepare_is_complete(order, place->folder))
        return HT_OK;
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    struct replica_view *views =
        arena_alloc(arena, order->n_replicas, sizeof *views);
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++) {
        views[i] = view_of(place, arena, i);
        status = write_image(
            place, arena, i,
            prepare_replica_folder(arena, place->folder, &order->replicas[i]),
            err);
    }
    if (status == HT_OK)
        status = prepare_replicas(place->site, order, place->placement,
                                  place->folder, views, err);
    arena_free(arena);
    return status;
}

/* ---- a batch ---- */

static const char *image_of(const struct slurm_need *need)
{
    size_t i = 0;
    while (i < need->n_pools && need->pools[i].image == NULL)
        i++;
    return i < need->n_pools ? need->pools[i].image : NULL;
}

enum ht_status images_choose(const char *batch, const struct slurm_need *need,
                             struct ht_error *err)
{
    const char *image = image_of(need), *way = need->section.container;
    if (image == NULL || way == NULL)
        return HT_OK;
    if (strcmp(way, "pyxis") == 0)
        return ht_fail(err, HT_PRECONDITION,
                       "image %.128s: this version does not run images by "
                       "pyxis; leave slurm.container out, or write apptainer, "
                       "podman, charliecloud or a command",
                       image);
    struct arena *arena = arena_new();
    struct strings words;
    enum ht_status status = command_split(arena, way, &words, err);
    if (status == HT_OK)
        status = image_way_write(batch, &words, err);
    arena_free(arena);
    return status;
}
