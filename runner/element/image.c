#include "runner/element/image.h"

#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

enum { MOST_WORDS = 1000 };

static const char order_file[] = "image.json";
static const char way_file[] = "container.json";

bool image_is_wanted(const char *folder)
{
    return disk_has(folder, order_file);
}

static void put_mounts(struct text *out, const struct image_order *order)
{
    json_open_list(out, "mounts");
    for (size_t i = 0; i < order->n_mounts; i++) {
        json_open(out, NULL);
        json_put_string(out, "source", order->mounts[i].source);
        json_put_string(out, "target", order->mounts[i].target);
        json_put_bool(out, "readOnly", order->mounts[i].read_only);
        json_close(out);
    }
    json_close_list(out);
}

enum ht_status image_write(const char *folder, const struct image_order *order,
                           struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_string(&out, "image", order->image);
    json_put_string(&out, "name", order->name);
    json_put_string(&out, "pull", order->pull);
    if (order->user != NULL)
        json_put_string(&out, "user", order->user);
    json_put_bool(&out, "readOnly", order->read_only);
    json_put_int(&out, "shmBytes", order->shm_bytes);
    put_mounts(&out, order);
    json_close(&out);
    const enum ht_status status =
        disk_write(folder, order_file, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

static void read_mounts(struct arena *arena, const struct node *list,
                        struct image_order *order)
{
    if (list == NULL || list->kind != NODE_LIST)
        return;
    struct image_mount *mounts =
        arena_alloc(arena, list->count + 1, sizeof *mounts);
    NODE_EACH (item, list->first) {
        const struct image_mount mount = {
            .source = node_get_string(item, "source", ""),
            .target = node_get_string(item, "target", ""),
            .read_only = node_get_bool(item, "readOnly", false),
        };
        if (mount.source[0] == '/' && mount.target[0] == '/')
            mounts[order->n_mounts++] = mount;
    }
    order->mounts = mounts;
}

enum ht_status image_read(struct arena *arena, const char *folder,
                          struct image_order *order, struct ht_error *err)
{
    const struct node *map;
    const enum ht_status status =
        disk_read_json(arena, folder, order_file, &map, err);
    if (status != HT_OK)
        return status;
    struct image_order read = {
        .image = node_get_string(map, "image", ""),
        .name = node_get_string(map, "name", ""),
        .pull = node_get_string(map, "pull", "missing"),
        .user = node_get_string(map, "user", NULL),
        .read_only = node_get_bool(map, "readOnly", false),
        .shm_bytes = node_get_int(map, "shmBytes", 0),
    };
    read_mounts(arena, node_find(map, "mounts"), &read);
    if (read.image[0] == '\0' || read.name[0] == '\0')
        return ht_fail(err, HT_CORRUPT, "%s/%s names no image", folder,
                       order_file);
    *order = read;
    return HT_OK;
}

enum ht_status image_way_write(const char *batch, const struct strings *words,
                               struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_strings(&out, "words", words);
    json_close(&out);
    const enum ht_status status =
        disk_write(batch, way_file, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

struct strings image_way_read(struct arena *arena, const char *batch)
{
    const struct node *map;
    struct strings words, none = {0};
    if (disk_read_json(arena, batch, way_file, &map, NULL) != HT_OK)
        return none;
    return json_read_strings(arena, node_find(map, "words"), MOST_WORDS, &words)
               ? words
               : none;
}

const char *image_inside(struct arena *arena, const char *folder)
{
    return arena_printf(arena, "%s/inside", folder);
}
