/* shim_maps.c - the ConfigMaps with hypertune-shim that a pod mounts. */
#include "runner/pods/shim_maps.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <nettle/base64.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/token.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/kubernetes/objects.h"

enum {
    PART = 1000000,                   /* bytes of the shim in one of them */
    MOST_LOADER = 1024 * 1024 - PART, /* 1 MiB is the most of a ConfigMap */
    HASH_DIGITS = 16,
    MODE = 0555 /* of the files */
};

static const char loader_name[] = "hypertune-shim-loader";

struct programs {
    struct disk_bytes loader, shim;
    char hash[HASH_DIGITS + 1]; /* of both */
};

static enum ht_status read_program(struct arena *arena, const char *folder,
                                   const char *name, size_t most,
                                   struct disk_bytes *bytes,
                                   struct ht_error *err)
{
    struct ht_error cause;
    if (disk_read(arena, folder, name, most, bytes, &cause) == HT_OK)
        return HT_OK;
    return ht_fail(err, HT_IO, "cannot read %s/%s for pods: %s", folder, name,
                   cause.text);
}

static void find_hash(struct arena *arena, struct programs *programs)
{
    const size_t len = programs->loader.len + programs->shim.len;
    char *both = arena_alloc(arena, len + 1, 1);
    unsigned char hash[TOKEN_HASH_BYTES];
    char text[TOKEN_TEXT_BYTES];
    memcpy(both, programs->loader.data, programs->loader.len);
    memcpy(both + programs->loader.len, programs->shim.data,
           programs->shim.len);
    token_sha256(hash, both, len);
    token_hex(text, hash);
    memcpy(programs->hash, text, HASH_DIGITS);
    programs->hash[HASH_DIGITS] = '\0';
}

static enum ht_status read_programs(struct arena *arena, const char *shim,
                                    struct programs *programs,
                                    struct ht_error *err)
{
    char path[PATH_MAX];
    if (realpath(shim, path) == NULL)
        return ht_fail(err, HT_IO, "cannot read %s for pods: %s", shim,
                       strerror(errno));
    const char *name = basename(arena_strdup(arena, path));
    const char *folder = dirname(arena_strdup(arena, path));
    enum ht_status status = read_program(
        arena, folder, name, (size_t)SHIM_MAPS * PART, &programs->shim, err);
    if (status == HT_OK)
        status = read_program(arena, folder, loader_name, MOST_LOADER,
                              &programs->loader, err);
    if (status == HT_OK)
        find_hash(arena, programs);
    return status;
}

/* ---- one of them ---- */

enum { ENTRIES = 2 };

struct map {
    const char *name;
    struct pair entries[ENTRIES]; /* of binaryData, in Base64 */
    size_t n;
};

static const char *encode(struct arena *arena, const char *bytes, size_t len)
{
    char *text = arena_alloc(arena, BASE64_ENCODE_RAW_LENGTH(len) + 1, 1);
    base64_encode_raw(text, len, (const uint8_t *)bytes);
    text[BASE64_ENCODE_RAW_LENGTH(len)] = '\0';
    return text;
}

static const char *name_map(struct arena *arena,
                            const struct programs *programs, size_t number)
{
    return arena_printf(arena, "hypertune-shim-%s-%zu", programs->hash, number);
}

static struct map make_map(struct arena *arena, const struct programs *programs,
                           size_t number)
{
    const size_t at = number * PART;
    const size_t left = programs->shim.len - at;
    struct map map = {.name = name_map(arena, programs, number)};
    if (number == 0)
        map.entries[map.n++] = (struct pair){
            "shim", encode(arena, programs->loader.data, programs->loader.len)};
    map.entries[map.n++] = (struct pair){
        arena_printf(arena, "shim.%zu", number),
        encode(arena, programs->shim.data + at, left < PART ? left : PART)};
    return map;
}

static const char *object_of(struct arena *arena, const struct map *map)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_string(&out, "apiVersion", "v1");
    json_put_string(&out, "kind", "ConfigMap");
    json_open(&out, "metadata");
    json_put_string(&out, "name", map->name);
    json_open(&out, "labels");
    json_put_string(&out, "app.kubernetes.io/name", "hypertune-shim");
    json_put_string(&out, "app.kubernetes.io/managed-by", "hypertune");
    json_close(&out);
    json_close(&out);
    json_put_bool(&out, "immutable", true);
    json_open(&out, "binaryData");
    for (size_t i = 0; i < map->n; i++)
        json_put_string(&out, map->entries[i].name, map->entries[i].value);
    json_close(&out);
    json_close(&out);
    return text_take(&out, arena);
}

/* Another person of the namespace may have made it: pods run what is in it. */
static bool is_as_made(const struct node *object, const struct map *map)
{
    const struct node *data = node_find(object, "binaryData");
    bool same = data != NULL && node_get_bool(object, "immutable", false);
    for (size_t i = 0; i < map->n && same; i++)
        same = strcmp(node_get_string(data, map->entries[i].name, ""),
                      map->entries[i].value) == 0;
    return same;
}

static enum ht_status find_map(struct kube *kube, const char *namespace,
                               const struct map *map, struct arena *arena,
                               struct ht_error *err)
{
    const struct kube_object object = {
        .kind = &kube_config_maps, .namespace = namespace, .name = map->name};
    const struct node *found;
    const enum ht_status status = kube_get(kube, &object, arena, &found, err);
    if (status != HT_OK || is_as_made(found, map))
        return status;
    return ht_fail(err, HT_CORRUPT,
                   "the ConfigMap %s of namespace %s is not as hypertune has "
                   "made it: delete it, a runner makes it again",
                   map->name, namespace);
}

static enum ht_status ensure_map(struct kube *kube, const char *namespace,
                                 const struct map *map, struct arena *arena,
                                 struct ht_error *err)
{
    enum ht_status status = find_map(kube, namespace, map, arena, err);
    if (status != HT_NOT_FOUND)
        return status;
    const struct kube_creation creation = {.kind = &kube_config_maps,
                                           .namespace = namespace,
                                           .json = object_of(arena, map)};
    const struct node *made;
    status = kube_create(kube, &creation, arena, &made, err);
    if (status == HT_EXISTS) /* another runner was faster */
        status = find_map(kube, namespace, map, arena, err);
    return status;
}

/* ---- all ---- */

/* One for each part of the shim. */
static size_t count_maps(const struct programs *programs)
{
    return (programs->shim.len + PART - 1) / PART;
}

enum ht_status shim_maps_name(const char *shim, struct arena *arena,
                              struct shim_maps *maps, struct ht_error *err)
{
    struct arena *own = arena_new();
    struct programs programs;
    const enum ht_status status = read_programs(own, shim, &programs, err);
    if (status == HT_OK) {
        maps->n = count_maps(&programs);
        for (size_t i = 0; i < maps->n; i++)
            maps->names[i] = name_map(arena, &programs, i);
    }
    arena_free(own);
    return status;
}

enum ht_status shim_maps_ensure(struct kube *kube, const char *namespace,
                                const char *shim, struct arena *arena,
                                struct shim_maps *maps, struct ht_error *err)
{
    struct arena *own = arena_new(); /* for megabytes that no caller needs */
    struct programs programs;
    struct shim_maps made = {0};
    enum ht_status status = read_programs(own, shim, &programs, err);
    while (status == HT_OK && made.n < count_maps(&programs)) {
        const struct map map = make_map(own, &programs, made.n);
        status = ensure_map(kube, namespace, &map, own, err);
        made.names[made.n++] = arena_strdup(arena, map.name);
    }
    arena_free(own);
    if (status == HT_OK)
        *maps = made;
    return status;
}

void shim_maps_put_volume(struct text *out, const struct shim_maps *maps)
{
    json_open(out, NULL);
    json_put_string(out, "name", "hypertune-bin");
    json_open(out, "projected");
    json_put_int(out, "defaultMode", MODE);
    json_open_list(out, "sources");
    for (size_t i = 0; i < maps->n; i++) {
        json_open(out, NULL);
        json_open(out, "configMap");
        json_put_string(out, "name", maps->names[i]);
        json_close(out);
        json_close(out);
    }
    json_close_list(out);
    json_close(out);
    json_close(out);
}
