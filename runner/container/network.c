#include "runner/container/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/base/json.h"

static char *label_of(struct arena *arena, const struct order_key *key)
{
    return arena_printf(arena, "%lld/%lld/%lld", (long long)key->study,
                        (long long)key->trial, (long long)key->attempt);
}

bool network_read_attempt(const struct node *labels, struct order_key *key)
{
    enum { PARTS = 3 };
    long long parts[PARTS];
    const char *label = node_get_string(labels, LABEL_ATTEMPT, "");
    char *end = NULL;
    for (int i = 0; i < PARTS; i++) {
        parts[i] = strtoll(label, &end, 10);
        if (parts[i] < 1 || *end != (i + 1 < PARTS ? '/' : '\0'))
            return false;
        label = end + 1;
    }
    *key = (struct order_key){
        .study = parts[0], .trial = parts[1], .attempt = parts[2]};
    return true;
}

bool network_is_own(const struct node *labels, const struct site *site,
                    const struct order_key *key)
{
    struct order_key labelled;
    return strcmp(node_get_string(labels, LABEL_RUNNER, ""), site->runner) ==
               0 &&
           network_read_attempt(labels, &labelled) &&
           order_key_equal(&labelled, key);
}

char *network_filter(struct arena *arena, const struct site *site)
{
    const char *filter = arena_printf(
        arena, "{\"label\":[\"" LABEL_RUNNER "=%s\"]}", site->runner);
    return arena_printf(arena, "filters=%s", docker_escape(arena, filter));
}

/* The second part of "ht-ab12cd34-7-3-1". */
static void put_server(struct text *out, const struct order *order)
{
    const char *start = strchr(order->name, '-');
    if (start == NULL)
        return;
    char server[64];
    (void)snprintf(server, sizeof server, "%.*s", (int)strcspn(start + 1, "-"),
                   start + 1);
    json_put_string(out, LABEL_SERVER, server);
}

void network_put_labels(struct text *out, const struct site *site,
                        const struct order *order, const char *replica)
{
    struct arena *arena = arena_new();
    json_open(out, "Labels");
    put_server(out, order);
    json_put_string(out, LABEL_RUNNER, site->runner);
    json_put_string(out, LABEL_ATTEMPT, label_of(arena, &order->key));
    if (replica != NULL)
        json_put_string(out, LABEL_REPLICA, replica);
    json_close(out);
    arena_free(arena);
}

static enum ht_status create(struct docker *docker, struct arena *arena,
                             const struct network_request *request,
                             struct ht_error *err)
{
    struct text body = {0};
    json_open(&body, NULL);
    json_put_string(&body, "Name", request->order->name);
    json_put_string(&body, "Driver", "bridge");
    /* Docker would make a second one of the same name. */
    json_put_bool(&body, "CheckDuplicate", true);
    network_put_labels(&body, request->site, request->order, NULL);
    json_close(&body);
    const struct docker_call call = {
        .method = "POST", .path = "/networks/create", .body = body.data};
    const enum ht_status status = docker_call(docker, arena, &call, NULL, err);
    text_free(&body);
    return status;
}

static enum ht_status look(struct docker *docker, struct arena *arena,
                           const char *name, const struct node **answer,
                           struct ht_error *err)
{
    const char *path =
        arena_printf(arena, "/networks/%s", docker_escape(arena, name));
    const enum ht_status status = docker_get(docker, arena, path, answer, err);
    if (status == HT_OK && *answer == NULL)
        return ht_fail(err, HT_INTERNAL,
                       "the engine's answer has no network %s", name);
    return status;
}

/* Networks of a rootless engine are in another namespace. */
static const char *find_gateway(const struct node *answer,
                                const struct docker_facts *facts)
{
    if (facts->rootless)
        return NULL;
    NODE_EACH (item, node_first(node_find(answer, "IPAM"), "Config")) {
        const char *gateway = node_get_string(item, "Gateway", NULL);
        if (gateway != NULL && *gateway != '\0')
            return gateway;
    }
    return NULL;
}

static enum ht_status make_own(struct docker *docker, struct arena *arena,
                               const struct network_request *request,
                               const struct node **answer, struct ht_error *err)
{
    const char *name = request->order->name;
    enum ht_status status = create(docker, arena, request, err);
    const bool existed = status == HT_CONFLICT;
    if (status != HT_OK && !existed)
        return ht_wrap(err, status, "cannot make network %s", name);
    status = look(docker, arena, name, answer, err);
    if (status == HT_OK && existed &&
        !network_is_own(node_find(*answer, "Labels"), request->site,
                        &request->order->key))
        return ht_fail(err, HT_CONFLICT,
                       "network %s is there and not this runner's", name);
    return status;
}

enum ht_status network_make(struct docker *docker, struct arena *arena,
                            const struct network_request *request,
                            struct network *network, struct ht_error *err)
{
    const char *wanted = request->order->container.network;
    if (wanted != NULL &&
        (strcmp(wanted, "none") == 0 || strcmp(wanted, "host") == 0)) {
        *network = (struct network){.name = wanted};
        return HT_OK;
    }
    const struct node *answer = NULL;
    const enum ht_status status =
        wanted == NULL ? make_own(docker, arena, request, &answer, err)
                       : look(docker, arena, wanted, &answer, err);
    if (status == HT_NOT_FOUND && wanted != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "container.network: there is no network %.128s", wanted);
    if (status != HT_OK)
        return status;
    *network = (struct network){
        .name = wanted != NULL ? wanted : request->order->name,
        .has_names = true,
        .gateway = find_gateway(answer, request->facts),
    };
    return HT_OK;
}

static enum ht_status remove_empty(struct docker *docker, struct arena *arena,
                                   const char *name, struct ht_error *err)
{
    const struct docker_call call = {
        .method = "DELETE",
        .path = arena_printf(arena, "/networks/%s", docker_escape(arena, name)),
    };
    return docker_call(docker, arena, &call, NULL, err);
}

static void disconnect(struct docker *docker, struct arena *arena,
                       const char *network, const char *container)
{
    struct text body = {0};
    json_open(&body, NULL);
    json_put_string(&body, "Container", container);
    json_put_bool(&body, "Force", true);
    json_close(&body);
    const struct docker_call call = {
        .method = "POST",
        .path = arena_printf(arena, "/networks/%s/disconnect",
                             docker_escape(arena, network)),
        .body = body.data,
    };
    (void)docker_call(docker, arena, &call, NULL, NULL);
    text_free(&body);
}

/* A dockerd that was killed may know endpoints of containers that are gone. */
static void disconnect_all(struct docker *docker, struct arena *arena,
                           const char *name)
{
    const struct node *answer;
    if (look(docker, arena, name, &answer, NULL) != HT_OK)
        return;
    NODE_EACH (item, node_first(answer, "Containers")) {
        const char *member = node_get_string(item, "Name", NULL);
        if (member != NULL)
            disconnect(docker, arena, name, member);
    }
}

enum ht_status network_remove(struct docker *docker, const char *name,
                              struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = remove_empty(docker, arena, name, err);
    if (status == HT_CONFLICT) {
        disconnect_all(docker, arena, name);
        status = remove_empty(docker, arena, name, err);
    }
    arena_free(arena);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

enum ht_status network_remove_own(struct docker *docker,
                                  const struct network_request *request,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *answer;
    enum ht_status status =
        look(docker, arena, request->order->name, &answer, err);
    if (status == HT_OK && network_is_own(node_find(answer, "Labels"),
                                          request->site, &request->order->key))
        status = network_remove(docker, request->order->name, err);
    arena_free(arena);
    return status == HT_NOT_FOUND ? HT_OK : status;
}
