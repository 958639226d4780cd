#include "runner/docker/image.h"

#include <string.h>

#include "runner/docker/image_pull.h"

/* ---- what the engine says of it ---- */

static struct strings read_strings(struct arena *arena, const struct node *list)
{
    struct strings strings = {0};
    if (list == NULL || list->kind != NODE_LIST || list->count == 0)
        return strings;
    const char **items = arena_alloc(arena, list->count, sizeof *items);
    for (const struct node *item = list->first; item; item = item->next) {
        if (item->kind == NODE_STRING)
            items[strings.n++] = item->text;
    }
    strings.items = items;
    return strings;
}

static struct pairs read_env(struct arena *arena, const struct node *list)
{
    const struct strings lines = read_strings(arena, list);
    struct pairs env = {0};
    struct pair *items = arena_alloc(arena, lines.n, sizeof *items);
    for (size_t i = 0; i < lines.n; i++) {
        const char *equals = strchr(lines.items[i], '=');
        if (equals == NULL || equals == lines.items[i])
            continue;
        const size_t len = (size_t)(equals - lines.items[i]);
        items[env.n++] =
            (struct pair){.name = arena_strndup(arena, lines.items[i], len),
                          .value = equals + 1};
    }
    env.items = items;
    return env;
}

/* Of "REPOSITORY@DIGEST": that of the repository it was ordered from where it
 * is known by several. */
static const char *find_digest(const struct node *inspected, const char *name,
                               const char *id)
{
    const char *digest = id;
    const struct node *list = node_find(inspected, "RepoDigests");
    if (list == NULL || list->kind != NODE_LIST)
        return digest;
    for (const struct node *item = list->first; item; item = item->next) {
        const char *at =
            item->kind == NODE_STRING ? strchr(item->text, '@') : NULL;
        if (at == NULL)
            continue;
        const size_t len = (size_t)(at - item->text);
        if (digest == id)
            digest = at + 1;
        if (strncmp(name, item->text, len) == 0 &&
            strchr(":@", name[len]) != NULL)
            return at + 1; /* the name may end there, too */
    }
    return digest;
}

static const char *null_if_empty(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static enum ht_status describe(struct arena *arena, const char *name,
                               const struct node *inspected,
                               struct image *image, struct ht_error *err)
{
    const char *id = node_get_string(inspected, "Id", NULL);
    const struct node *config = node_find(inspected, "Config");
    if (id == NULL)
        return ht_fail(err, HT_INTERNAL,
                       "image %s: the engine describes it without an id", name);
    *image = (struct image){
        .name = name,
        .id = id,
        .digest = find_digest(inspected, name, id),
        .entrypoint = read_strings(arena, node_find(config, "Entrypoint")),
        .command = read_strings(arena, node_find(config, "Cmd")),
        .env = read_env(arena, node_find(config, "Env")),
        .workdir = null_if_empty(node_get_string(config, "WorkingDir", NULL)),
        .user = null_if_empty(node_get_string(config, "User", NULL)),
    };
    return HT_OK;
}

static enum ht_status inspect(struct docker *docker, struct arena *arena,
                              const char *name, struct image *image,
                              struct ht_error *err)
{
    const struct node *inspected;
    const struct docker_call call = {
        .method = "GET",
        .path =
            arena_printf(arena, "/images/%s/json", docker_escape(arena, name))};
    const enum ht_status status =
        docker_call(docker, arena, &call, &inspected, err);
    if (status != HT_OK)
        return status;
    return describe(arena, arena_strdup(arena, name), inspected, image, err);
}

/* ---- getting it ---- */

/* Letters of names, tags and digests; the engine knows their grammar. */
static enum ht_status check_name(const char *name, struct ht_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-/:@[]";
    if (name[0] != '\0' && name[strspn(name, letters)] == '\0' &&
        strstr(name, "..") == NULL && strstr(name, "//") == NULL &&
        name[0] != '/')
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION, "\"%s\" is no name of an image", name);
}

static enum ht_status pull_and_inspect(struct docker *docker,
                                       struct arena *arena,
                                       const struct image_wish *wish,
                                       struct image *image,
                                       struct ht_error *err)
{
    enum ht_status status = image_pull(docker, wish, err);
    if (status != HT_OK)
        return status;
    status = inspect(docker, arena, wish->name, image, err);
    if (status == HT_NOT_FOUND)
        return ht_fail(err, HT_UNAVAILABLE,
                       "image %s: was pulled, but the engine does not have it",
                       wish->name);
    return status;
}

enum ht_status image_get(struct docker *docker, struct arena *arena,
                         const struct image_wish *wish, struct image *image,
                         struct ht_error *err)
{
    enum ht_status status = check_name(wish->name, err);
    if (status != HT_OK)
        return status;
    if (wish->pull == PULL_ALWAYS)
        return pull_and_inspect(docker, arena, wish, image, err);
    struct ht_error failure;
    status = inspect(docker, arena, wish->name, image, &failure);
    if (status == HT_NOT_FOUND && wish->pull == PULL_NEVER)
        return ht_fail(err, HT_PRECONDITION,
                       "image %s: is not on this machine, and the job says "
                       "\"pull: never\"",
                       wish->name);
    if (status == HT_NOT_FOUND)
        return pull_and_inspect(docker, arena, wish, image, err);
    return status == HT_OK
               ? HT_OK
               : ht_fail(err, status, "image %s: %s", wish->name, failure.text);
}
