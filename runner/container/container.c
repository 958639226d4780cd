#include "runner/container/container.h"

#include <string.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/rules.h"

enum {
    USUAL_PIDS = 4096,
    STOP_EXTRA_S = 10, /* for the shim, after the trainer's grace */
    START_MS = 60000,  /* a start makes mounts and network, too */
    REMOVE_MS = 60000, /* ... and ends what does not want to */
    NANO = 1000000000, /* NanoCpus of one */
};

char *container_name(struct arena *arena, const struct order *order,
                     size_t replica)
{
    return arena_printf(arena, "%s-%s", order->name,
                        order->replicas[replica].name);
}

static enum ht_status check_gpus(const struct docker_facts *facts,
                                 const struct replica_order *replica,
                                 struct ht_error *err)
{
    if (replica->gpus == 0 || (facts->gpus && !facts->podman))
        return HT_OK;
    return facts->podman
               ? ht_fail(err, HT_PRECONDITION,
                         "resources.gpus: %s gives no GPUs to containers by "
                         "this API; use a runner with Docker and NVIDIA's "
                         "container toolkit, or one of processes",
                         facts->version)
               : ht_fail(err, HT_PRECONDITION,
                         "resources.gpus: %s has no runtime of NVIDIA; install "
                         "NVIDIA's container toolkit, or use a runner of "
                         "processes",
                         facts->version);
}

enum ht_status container_check(const struct docker_facts *facts,
                               const struct order *order, struct ht_error *err)
{
    for (size_t i = 0; i < order->n_replicas; i++) {
        const struct replica_order *replica = &order->replicas[i];
        if (replica->image == NULL)
            return ht_fail(err, HT_PRECONDITION,
                           "%s has no image, and this runner runs nothing else",
                           replica->name);
        const enum ht_status status = check_gpus(facts, replica, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* ---- the body ---- */

static void add_words(cJSON *object, const char *key, const char *const words[],
                      size_t n)
{
    cJSON *list = json_add_array(object, key);
    for (size_t i = 0; i < n; i++)
        json_push_string(list, words[i]);
}

static void add_word(cJSON *object, const char *key, const char *word)
{
    add_words(object, key, &word, 1);
}

static void add_mounts(cJSON *host, const struct mounts *mounts)
{
    cJSON *list = json_add_array(host, "Mounts");
    for (size_t i = 0; i < mounts->n; i++) {
        cJSON *item = json_push_object(list);
        json_add_string(item, "Type", "bind");
        json_add_string(item, "Source", mounts->items[i].source);
        json_add_string(item, "Target", mounts->items[i].target);
        json_add_bool(item, "ReadOnly", mounts->items[i].read_only);
    }
}

static void add_limits(cJSON *host, const struct container_plan *plan)
{
    const struct container_options *options = &plan->order->container;
    const struct replica_order *replica = &plan->order->replicas[plan->replica];
    if (replica->memory > 0) {
        json_add_int(host, "Memory", replica->memory);
        json_add_int(host, "MemorySwap", replica->memory); /* both together */
    }
    if (replica->cpus > 0)
        json_add_int(host, "NanoCpus", (int64_t)(replica->cpus * NANO));
    json_add_int(host, "PidsLimit",
                 options->pids > 0 ? options->pids : USUAL_PIDS);
    if (options->shm_bytes > 0)
        json_add_int(host, "ShmSize", options->shm_bytes);
}

/* NVIDIA's images ask for every GPU by a variable, which NVIDIA's runtime
 * obeys where it is the engine's default. */
static void add_gpus(cJSON *body, cJSON *host, const struct seat *seat)
{
    if (seat->gpus.n == 0) {
        add_word(body, "Env", "NVIDIA_VISIBLE_DEVICES=void");
        return;
    }
    cJSON *request = json_push_object(json_add_array(host, "DeviceRequests"));
    json_add_string(request, "Driver", "nvidia");
    add_words(request, "DeviceIDs", seat->gpus.items, seat->gpus.n);
    cJSON *any_of = json_add_array(request, "Capabilities");
    cJSON *all_of = cJSON_CreateArray();
    json_push_string(all_of, "gpu");
    cJSON_AddItemToArray(any_of, all_of);
}

static void add_safety(cJSON *host, const struct container_plan *plan)
{
    const struct container_options *options = &plan->order->container;
    json_add_bool(host, "Privileged", options->privileged);
    if (options->host_pid)
        json_add_string(host, "PidMode", "host");
    if (!options->privileged && !rules_allow(plan->site, "root-capabilities"))
        add_word(host, "CapDrop", "ALL");
    if (!options->privileged)
        add_word(host, "SecurityOpt", "no-new-privileges");
    json_add_bool(host, "ReadonlyRootfs", options->read_only);
    if (options->read_only)
        json_add_string(json_add_object(host, "Tmpfs"), "/tmp", "mode=1777");
}

/* Its output is in the folder; what the shim itself says is a line or two. */
static void add_logging(cJSON *host)
{
    cJSON *log = json_add_object(host, "LogConfig");
    json_add_string(log, "Type", "json-file");
    cJSON *config = json_add_object(log, "Config");
    json_add_string(config, "max-size", "1m");
}

static void add_network(cJSON *body, cJSON *host, const char *name,
                        const struct network *network)
{
    json_add_string(host, "NetworkMode", network->name);
    if (!network->has_names)
        return;
    /* Podman resolves no host names, so the name is an alias, too. */
    cJSON *networking = json_add_object(body, "NetworkingConfig");
    cJSON *ends = json_add_object(networking, "EndpointsConfig");
    add_word(json_add_object(ends, network->name), "Aliases", name);
}

/* Root in a user's engine is that user, so files there stay ours. */
static void add_user(cJSON *body, const struct container_plan *plan,
                     struct arena *arena)
{
    const char *user = plan->order->container.user;
    if (user == NULL && geteuid() != 0 && !plan->facts->rootless)
        user = arena_printf(arena, "%u:%u", (unsigned)geteuid(),
                            (unsigned)getegid());
    if (user != NULL)
        json_add_string(body, "User", user);
}

cJSON *container_body(const struct container_plan *plan)
{
    static const char *const shim[] = {CONTAINER_KIT "/bin/hypertune-shim",
                                       CONTAINER_TRIAL};
    const struct order *order = plan->order;
    struct arena *arena = arena_new();
    const char *name = container_name(arena, order, plan->replica);
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "Image", plan->image->id);
    add_words(body, "Entrypoint", shim, sizeof shim / sizeof *shim);
    json_add_array(body, "Cmd");
    json_add_string(body, "WorkingDir", "/"); /* the shim goes elsewhere */
    if (strcmp(plan->network->name, "host") != 0)
        json_add_string(body, "Hostname", name);
    add_user(body, plan, arena);
    json_add_int(body, "StopTimeout", order->grace_ms / 1000 + STOP_EXTRA_S);
    json_add_string(network_add_labels(body, plan->site, order), LABEL_REPLICA,
                    order->replicas[plan->replica].name);
    cJSON *host = json_add_object(body, "HostConfig");
    add_mounts(host, plan->mounts);
    add_limits(host, plan);
    add_gpus(body, host, plan->seat);
    add_safety(host, plan);
    add_logging(host);
    json_add_bool(host, "Init", false); /* the shim reaps */
    add_network(body, host, name, plan->network);
    arena_free(arena);
    return body;
}

/* ---- calls ---- */

/* A call without a body whose answer does not matter. */
static enum ht_status tell(struct docker *docker, const char *method,
                           const char *path, int timeout_ms,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct docker_call call = {
        .method = method, .path = path, .timeout_ms = timeout_ms};
    const struct node *answer;
    const enum ht_status status =
        docker_call(docker, arena, &call, &answer, err);
    arena_free(arena);
    return status;
}

static enum ht_status check_owner(struct docker *docker, struct arena *arena,
                                  const struct container_plan *plan,
                                  const char *name, struct ht_error *err)
{
    struct container_state state = {.runner = "", .attempt = ""};
    struct order_key key;
    const enum ht_status status =
        container_look(docker, arena, name, &state, err);
    if (status != HT_OK)
        return status;
    if (strcmp(state.runner, plan->site->runner) == 0 &&
        network_read_attempt(state.attempt, &key) &&
        order_key_equal(&key, &plan->order->key))
        return HT_OK;
    return ht_fail(err, HT_CONFLICT,
                   "there is a container %s that is not this runner's", name);
}

enum ht_status container_create(struct docker *docker,
                                const struct container_plan *plan,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *name = container_name(arena, plan->order, plan->replica);
    cJSON *body = container_body(plan);
    const struct docker_call call = {
        .method = "POST",
        .path = arena_printf(arena, "/containers/create?name=%s",
                             docker_escape(arena, name)),
        .body = body,
        .timeout_ms = START_MS,
    };
    const struct node *answer;
    enum ht_status status = docker_call(docker, arena, &call, &answer, err);
    if (status == HT_CONFLICT)
        status = check_owner(docker, arena, plan, name, err);
    cJSON_Delete(body);
    arena_free(arena);
    return status;
}

enum ht_status container_start(struct docker *docker, const char *name,
                               struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *path = arena_printf(arena, "/containers/%s/start", name);
    const enum ht_status status = tell(docker, "POST", path, START_MS, err);
    arena_free(arena);
    return status;
}

enum ht_status container_kill(struct docker *docker, const char *name,
                              struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *path =
        arena_printf(arena, "/containers/%s/kill?signal=SIGKILL", name);
    const enum ht_status status = tell(docker, "POST", path, 0, err);
    arena_free(arena);
    return status == HT_CONFLICT || status == HT_NOT_FOUND ? HT_OK : status;
}

enum ht_status container_remove(struct docker *docker, const char *name,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *path = arena_printf(arena, "/containers/%s?force=1&v=1", name);
    const enum ht_status status = tell(docker, "DELETE", path, REMOVE_MS, err);
    arena_free(arena);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static const struct node *find_map(const struct node *map, const char *key)
{
    const struct node *found = map != NULL ? node_find(map, key) : NULL;
    return found != NULL && found->kind == NODE_MAP ? found : NULL;
}

static void read_state(const struct node *map, struct container_state *state)
{
    const char *status = node_get_string(map, "Status", "");
    static const char *const fresh[] = {"created", "configured", "initialized"};
    for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
        state->is_new |= strcmp(status, fresh[i]) == 0;
    state->running = node_get_bool(map, "Running", false) ||
                     node_get_bool(map, "Paused", false);
    state->oom_killed = node_get_bool(map, "OOMKilled", false);
    state->exit = (int)node_get_int(map, "ExitCode", 0);
    state->error = node_get_string(map, "Error", "");
}

enum ht_status container_look(struct docker *docker, struct arena *arena,
                              const char *name, struct container_state *state,
                              struct ht_error *err)
{
    const struct docker_call call = {
        .method = "GET",
        .path = arena_printf(arena, "/containers/%s/json", name),
    };
    const struct node *answer;
    const enum ht_status status =
        docker_call(docker, arena, &call, &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *map = find_map(answer, "State");
    if (map == NULL)
        return ht_fail(err, HT_INTERNAL, "nothing is said of the state of %s",
                       name);
    struct container_state read = {.runner = "", .attempt = ""};
    read_state(map, &read);
    const struct node *labels = find_map(find_map(answer, "Config"), "Labels");
    if (labels != NULL) {
        read.runner = node_get_string(labels, LABEL_RUNNER, "");
        read.attempt = node_get_string(labels, LABEL_ATTEMPT, "");
    }
    *state = read;
    return HT_OK;
}
