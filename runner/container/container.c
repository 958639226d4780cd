#include "runner/container/container.h"

#include <string.h>
#include <unistd.h>

#include "runner/attempt/mounts.h"
#include "runner/base/json.h"
#include "runner/base/placement.h"
#include "runner/base/rules.h"
#include "runner/container/network.h"
#include "runner/docker/image.h"

enum {
    USUAL_PIDS = 4096,
    STOP_EXTRA_S = 10, /* for the shim, after the trainer's grace */
    START_MS = 60000,  /* a start also makes mounts and network */
    REMOVE_MS = 60000, /* a removal waits for the container's end */
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
    if (placement_part(replica) == 0 || (facts->gpus && !facts->podman))
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

static void put_word(struct text *out, const char *key, const char *word)
{
    json_put_strings(out, key, &(struct strings){1, &word});
}

static void put_mounts(struct text *out, const struct mounts *mounts)
{
    json_open_list(out, "Mounts");
    for (size_t i = 0; i < mounts->n; i++) {
        json_open(out, NULL);
        json_put_string(out, "Type", "bind");
        json_put_string(out, "Source", mounts->items[i].source);
        json_put_string(out, "Target", mounts->items[i].target);
        json_put_bool(out, "ReadOnly", mounts->items[i].read_only);
        json_close(out);
    }
    json_close_list(out);
}

static void put_limits(struct text *out, const struct container_plan *plan)
{
    const struct container_options *options = &plan->order->container;
    const struct replica_order *replica = &plan->order->replicas[plan->replica];
    if (replica->memory > 0) {
        json_put_int(out, "Memory", replica->memory);
        json_put_int(out, "MemorySwap", replica->memory); /* both together */
    }
    if (replica->cpus > 0)
        json_put_int(out, "NanoCpus", (int64_t)(replica->cpus * NANO));
    json_put_int(out, "PidsLimit",
                 options->pids > 0 ? options->pids : USUAL_PIDS);
    if (options->shm_bytes > 0)
        json_put_int(out, "ShmSize", options->shm_bytes);
}

static void put_gpus(struct text *out, const struct strings *gpus)
{
    if (gpus->n == 0)
        return;
    json_open_list(out, "DeviceRequests");
    json_open(out, NULL);
    json_put_string(out, "Driver", "nvidia");
    json_put_strings(out, "DeviceIDs", gpus);
    json_put_raw(out, "Capabilities", "[[\"gpu\"]]"); /* any of lists of all */
    json_close(out);
    json_close_list(out);
}

static void put_safety(struct text *out, const struct container_plan *plan)
{
    const struct container_options *options = &plan->order->container;
    json_put_bool(out, "Privileged", options->privileged);
    if (options->host_pid)
        json_put_string(out, "PidMode", "host");
    if (!options->privileged && !rules_allow(plan->site, "root-capabilities"))
        put_word(out, "CapDrop", "ALL");
    if (!options->privileged)
        put_word(out, "SecurityOpt", "no-new-privileges");
    json_put_bool(out, "ReadonlyRootfs", options->read_only);
    if (options->read_only)
        json_put_raw(out, "Tmpfs", "{\"/tmp\":\"mode=1777\"}");
}

static void put_host(struct text *out, const struct container_plan *plan)
{
    json_open(out, "HostConfig");
    put_mounts(out, plan->mounts);
    put_limits(out, plan);
    put_gpus(out, &plan->place->gpus);
    put_safety(out, plan);
    /* The trainer's output is in the folder; the shim prints a line or two. */
    json_put_raw(out, "LogConfig",
                 "{\"Type\":\"json-file\",\"Config\":{\"max-size\":\"1m\"}}");
    json_put_bool(out, "Init", false); /* the shim reaps */
    json_put_string(out, "NetworkMode", plan->network->name);
    json_close(out);
}

/* Podman resolves no host names, so the name is also an alias. */
static void put_network(struct text *out, const char *name,
                        const struct network *network)
{
    if (!network->has_names)
        return;
    json_open(out, "NetworkingConfig");
    json_open(out, "EndpointsConfig");
    json_open(out, network->name);
    put_word(out, "Aliases", name);
    json_close(out);
    json_close(out);
    json_close(out);
}

/* Root in a rootless engine is the runner's user, who then owns its files. */
static void put_user(struct text *out, const struct container_plan *plan,
                     struct arena *arena)
{
    const char *user = plan->order->container.user;
    if (user == NULL && geteuid() != 0 && !plan->facts->rootless)
        user = arena_printf(arena, "%u:%u", (unsigned)geteuid(),
                            (unsigned)getegid());
    if (user != NULL)
        json_put_string(out, "User", user);
}

void container_body(const struct container_plan *plan, struct text *out)
{
    static const char *const shim[] = {CONTAINER_KIT "/bin/hypertune-shim",
                                       CONTAINER_TRIAL};
    const struct order *order = plan->order;
    struct arena *arena = arena_new();
    const char *name = container_name(arena, order, plan->replica);
    json_open(out, NULL);
    json_put_string(out, "Image", plan->image->id);
    json_put_strings(out, "Entrypoint", &(struct strings){2, shim});
    json_put_raw(out, "Cmd", "[]");
    json_put_string(out, "WorkingDir", "/"); /* the shim changes it */
    if (strcmp(plan->network->name, "host") != 0)
        json_put_string(out, "Hostname", name);
    put_user(out, plan, arena);
    json_put_int(out, "StopTimeout", order->grace_ms / 1000 + STOP_EXTRA_S);
    network_put_labels(out, plan->site, order,
                       order->replicas[plan->replica].name);
    put_host(out, plan);
    /* NVIDIA's images ask for every GPU by a variable, which NVIDIA's runtime
     * obeys where it is the engine's default. */
    if (plan->place->gpus.n == 0)
        put_word(out, "Env", "NVIDIA_VISIBLE_DEVICES=void");
    put_network(out, name, plan->network);
    json_close(out);
    arena_free(arena);
}

/* ---- calls ---- */

/* A call whose answer has nothing of interest. */
static enum ht_status act(struct docker *docker, const char *method,
                          const char *name, const char *action, int timeout_ms,
                          struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct docker_call call = {
        .method = method,
        .path = arena_printf(arena, "/containers/%s%s", name, action),
        .timeout_ms = timeout_ms};
    const enum ht_status status = docker_call(docker, arena, &call, NULL, err);
    arena_free(arena);
    return status;
}

static enum ht_status check_owner(struct docker *docker, struct arena *arena,
                                  const struct container_plan *plan,
                                  const char *name, struct ht_error *err)
{
    struct container_state state = {.labels = NULL};
    const enum ht_status status =
        container_look(docker, arena, name, &state, err);
    if (status != HT_OK ||
        network_is_own(state.labels, plan->site, &plan->order->key))
        return status;
    return ht_fail(err, HT_CONFLICT,
                   "there is a container %s that is not this runner's", name);
}

enum ht_status container_create(struct docker *docker,
                                const struct container_plan *plan,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *name = container_name(arena, plan->order, plan->replica);
    struct text body = {0};
    container_body(plan, &body);
    const struct docker_call call = {
        .method = "POST",
        .path = arena_printf(arena, "/containers/create?name=%s",
                             docker_escape(arena, name)),
        .body = body.data,
        .timeout_ms = START_MS,
    };
    enum ht_status status = docker_call(docker, arena, &call, NULL, err);
    if (status == HT_CONFLICT)
        status = check_owner(docker, arena, plan, name, err);
    text_free(&body);
    arena_free(arena);
    return status;
}

enum ht_status container_start(struct docker *docker, const char *name,
                               struct ht_error *err)
{
    return act(docker, "POST", name, "/start", START_MS, err);
}

enum ht_status container_kill(struct docker *docker, const char *name,
                              struct ht_error *err)
{
    const enum ht_status status =
        act(docker, "POST", name, "/kill?signal=SIGKILL", 0, err);
    return status == HT_CONFLICT || status == HT_NOT_FOUND ? HT_OK : status;
}

enum ht_status container_remove(struct docker *docker, const char *name,
                                struct ht_error *err)
{
    const enum ht_status status =
        act(docker, "DELETE", name, "?force=1&v=1", REMOVE_MS, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static struct container_state read_state(const struct node *map)
{
    const char *status = node_get_string(map, "Status", "");
    return (struct container_state){
        .is_new = strcmp(status, "created") == 0 ||
                  strcmp(status, "configured") == 0 ||
                  strcmp(status, "initialized") == 0,
        .running = node_get_bool(map, "Running", false) ||
                   node_get_bool(map, "Paused", false),
        .being_removed =
            strcmp(status, "removing") == 0 || strcmp(status, "dead") == 0,
        .oom_killed = node_get_bool(map, "OOMKilled", false),
        .exit = (int)node_get_int(map, "ExitCode", 0),
        .error = node_get_string(map, "Error", ""),
    };
}

enum ht_status container_look(struct docker *docker, struct arena *arena,
                              const char *name, struct container_state *state,
                              struct ht_error *err)
{
    const struct node *answer;
    const char *path = arena_printf(arena, "/containers/%s/json", name);
    const enum ht_status status = docker_get(docker, arena, path, &answer, err);
    if (status != HT_OK)
        return status;
    const struct node *map = node_find(answer, "State");
    if (map == NULL || map->kind != NODE_MAP)
        return ht_fail(err, HT_INTERNAL,
                       "the engine's answer has no state of %s", name);
    *state = read_state(map);
    state->labels = node_find(node_find(answer, "Config"), "Labels");
    return HT_OK;
}
