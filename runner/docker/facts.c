/* facts.c - what kind of engine answers: docker_ask_facts(). */
#include <string.h>

#include "runner/docker/docker.h"

static const struct node *find_component(const struct node *version,
                                         const char *name)
{
    const struct node *components = node_find(version, "Components");
    if (components == NULL || components->kind != NODE_LIST)
        return NULL;
    for (const struct node *c = components->first; c != NULL; c = c->next) {
        if (strcmp(node_get_string(c, "Name", ""), name) == 0)
            return c;
    }
    return NULL;
}

static bool is_rootless(const struct node *info)
{
    if (node_get_bool(info, "Rootless", false))
        return true;
    const struct node *options = node_find(info, "SecurityOptions");
    if (options == NULL || options->kind != NODE_LIST)
        return false;
    for (const struct node *o = options->first; o != NULL; o = o->next) {
        if (o->kind == NODE_STRING && strcmp(o->text, "name=rootless") == 0)
            return true;
    }
    return false;
}

/* "Docker 20.10.24" of "20.10.24+dfsg1": what distributions add is noise. */
static const char *name_version(struct arena *arena, const char *engine,
                                const char *version)
{
    const size_t len = strspn(version, "0123456789.");
    return arena_printf(arena, "%s %.*s", engine, (int)len, version);
}

/* Whoever asks waits for it, and a healthy engine knows it by heart. */
static enum ht_status ask(struct docker *docker, struct arena *arena,
                          const char *path, const struct node **answer,
                          struct ht_error *err)
{
    enum { PATIENCE_MS = 10000 };
    const struct docker_call call = {
        .method = "GET", .path = path, .timeout_ms = PATIENCE_MS};
    return docker_call(docker, arena, &call, answer, err);
}

enum ht_status docker_ask_facts(struct docker *docker, struct arena *arena,
                                struct docker_facts *facts,
                                struct ht_error *err)
{
    const struct node *version, *info;
    enum ht_status status = ask(docker, arena, "/version", &version, err);
    if (status == HT_OK)
        status = ask(docker, arena, "/info", &info, err);
    if (status != HT_OK)
        return status;
    const bool podman = find_component(version, "Podman Engine") != NULL;
    *facts = (struct docker_facts){
        .podman = podman,
        .rootless = is_rootless(info),
        .gpus = node_find(node_find(info, "Runtimes"), "nvidia") != NULL,
        .version = name_version(arena, podman ? "Podman" : "Docker",
                                node_get_string(version, "Version", "")),
        .cpus = node_get_int(info, "NCPU", 0),
        .memory = node_get_int(info, "MemTotal", 0),
    };
    return HT_OK;
}
