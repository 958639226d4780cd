#include "tuner/core/runner_rules.h"

#include <string.h>

#include "proto/doc/json.h"

enum { MOST_BYTES = 64 * 1024 };

enum ht_status runner_rules_text(struct arena *arena, const struct node *map,
                                 const char **text, struct ht_error *err)
{
    if (map == NULL) {
        *text = "{}";
        return HT_OK;
    }
    if (map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "rules must be an object");
    struct text out = {0};
    json_print(json_of_node(map), &out);
    const bool fits = out.len <= MOST_BYTES;
    if (fits)
        *text = arena_strndup(arena, out.data, out.len);
    text_free(&out);
    return fits ? HT_OK : ht_fail(err, HT_INVALID, "rules are too long");
}

static struct strings read_names(struct arena *arena, const struct node *map,
                                 const char *key)
{
    const struct node *list = node_find(map, key);
    if (list == NULL || list->kind != NODE_LIST)
        return (struct strings){0};
    const char **items = arena_alloc(arena, list->count + 1, sizeof *items);
    size_t n = 0;
    for (const struct node *item = list->first; item; item = item->next) {
        const char *name = node_string(item);
        if (name != NULL)
            items[n++] = name;
    }
    return (struct strings){.n = n, .items = items};
}

static struct pairs read_labels(struct arena *arena, const struct node *map)
{
    const struct node *labels = node_find(map, "labels");
    if (labels == NULL || labels->kind != NODE_MAP)
        return (struct pairs){0};
    struct pair *items = arena_alloc(arena, labels->count + 1, sizeof *items);
    size_t n = 0;
    for (const struct node *item = labels->first; item; item = item->next)
        if (node_string(item) != NULL)
            items[n++] = (struct pair){item->key, node_string(item)};
    return (struct pairs){.n = n, .items = items};
}

/* The GPUs by name, with what gpuModels knows of each. */
static void read_gpus(struct arena *arena, const struct node *map,
                      struct runner_rules *rules)
{
    const struct strings names = read_names(arena, map, "gpus");
    const struct node *models = node_find(map, "gpuModels");
    struct runner_gpu *gpus = arena_alloc(arena, names.n + 1, sizeof *gpus);
    for (size_t i = 0; i < names.n; i++) {
        const struct node *model = node_find(models, names.items[i]);
        gpus[i] = (struct runner_gpu){
            .name = names.items[i],
            .id = node_get_string(model, "uuid", names.items[i]),
            .model = node_get_string(model, "name", ""),
            .memory = node_get_int(model, "memory", 0)};
    }
    rules->n_gpus = names.n;
    rules->gpus = gpus;
    rules->splits_gpus = models != NULL;
}

struct runner_rules runner_rules_read(struct arena *arena, const char *json)
{
    struct diag diag;
    const size_t len = strlen(json);
    diag_init(&diag, arena, "rules", json, len);
    const struct node *map = node_read_json(arena, json, len, &diag);
    if (map == NULL || map->kind != NODE_MAP)
        return (struct runner_rules){0};
    struct runner_rules rules = {
        .machine = node_get_string(map, "machine", NULL),
        .labels = read_labels(arena, map),
        .images = node_get_bool(map, "images", false),
        .allow = read_names(arena, map, "allow"),
        .volume_roots = read_names(arena, map, "volumeRoots"),
        .secrets = read_names(arena, map, "secrets"),
        .secret_variables = read_names(arena, map, "secretVariables"),
        .credentials = read_names(arena, map, "credentials"),
        .gcs = node_get_string(map, "gcsRoot", NULL) != NULL,
        .gcs_credentials = node_get_bool(map, "gcsCredentials", false),
        .share_gpus = node_get_bool(map, "shareGpus", false),
        .outputs = node_get_bool(map, "outputs", false),
        .elastic = node_get_bool(map, "elastic", false),
        .cpus = node_get_double(map, "cpus", 0),
        .memory = node_get_int(map, "memory", 0),
    };
    read_gpus(arena, map, &rules);
    return rules;
}

bool runner_rules_have(const struct strings *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}
