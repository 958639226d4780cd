/* engine_docker.c - the engine of containers, for Docker and Podman: the part
 * that runs on the supervisor's thread. It reads folders and the findings of
 * the attempts' threads; it never waits for the engine. */

#include "runner/container/attempt.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/job/job.h"
#include "proto/net/relay.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replicas.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/order.h"
#include "runner/base/rules.h"
#include "runner/base/site.h"
#include "runner/container/container.h"
#include "runner/container/leftovers.h"
#include "runner/docker/docker.h"

/* At once, of all trials; one of them has at most 128. */
enum { RELAY_CONNECTIONS = 256 };

struct supervised { /* the supervising thread's view of an attempt */
    struct container_attempt *attempt;
    struct replicas replicas;
    bool *doubted; /* replicas with exit.json whose shim still ran */
    bool started;
    bool amended; /* the findings are in the replicas' ends */
    struct engine_facts facts;
};

/* One per runner; the thread of leftovers.c also reads the list. */
static struct {
    struct container_engine opened;
    pthread_mutex_t lock; /* of the list */
    struct container_attempt *first;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the list ---- */

/* An attempt that is not adopted yet has its lease on disk. For one that was
 * given up the answer does not matter. */
static bool keeps(const struct order_key *key)
{
    bool kept = false;
    pthread_mutex_lock(&engine.lock);
    for (struct container_attempt *attempt = engine.first;
         attempt != NULL && !kept; attempt = attempt->next)
        kept = order_key_equal(&attempt->order->key, key);
    pthread_mutex_unlock(&engine.lock);
    if (kept)
        return true;
    struct arena *arena = arena_new();
    kept = disk_has(prepare_attempt_folder(arena, engine.opened.site, key),
                    "lease.json");
    arena_free(arena);
    return kept;
}

static void add(struct container_attempt *attempt)
{
    pthread_mutex_lock(&engine.lock);
    attempt->next = engine.first;
    engine.first = attempt;
    pthread_mutex_unlock(&engine.lock);
}

/* An abandoned attempt whose thread has ended, or any; NULL: none. */
static struct container_attempt *take_out(bool all)
{
    pthread_mutex_lock(&engine.lock);
    struct container_attempt **link = &engine.first;
    struct container_attempt *found = NULL;
    while (*link != NULL && found == NULL) {
        struct container_attempt *attempt = *link;
        if (all || (attempt->abandoned && attempt->over)) {
            found = attempt;
            *link = attempt->next;
        } else {
            link = &attempt->next;
        }
    }
    pthread_mutex_unlock(&engine.lock);
    return found;
}

static void free_over(void)
{
    struct container_attempt *attempt;
    while ((attempt = take_out(false)) != NULL)
        container_attempt_free(attempt);
}

/* ---- open and close ---- */

static void docker_engine_close(void)
{
    struct container_engine *opened = &engine.opened;
    for (struct container_attempt *attempt = engine.first; attempt != NULL;
         attempt = attempt->next)
        container_attempt_abandon(attempt);
    struct container_attempt *attempt;
    while ((attempt = take_out(true)) != NULL)
        container_attempt_free(attempt);
    leftovers_stop(opened->leftovers);
    relay_stop(opened->relay);
    docker_address_free(opened->address);
    arena_free(opened->arena);
    *opened = (struct container_engine){.site = NULL};
}

static enum ht_status ask_facts(struct container_engine *opened,
                                struct ht_error *err)
{
    struct docker *docker = docker_new(opened->address);
    const enum ht_status status =
        docker_ask_facts(docker, opened->arena, &opened->facts, err);
    docker_free(docker);
    return status;
}

static enum ht_status docker_engine_open(const struct site *site,
                                         struct ht_error *err)
{
    struct container_engine *opened = &engine.opened;
    *opened = (struct container_engine){.site = site, .arena = arena_new()};
    enum ht_status status =
        docker_address_find(site->docker_host, getenv, &opened->address, err);
    if (status == HT_NOT_FOUND) /* it may be started later */
        status = HT_UNAVAILABLE;
    if (status == HT_OK)
        status = ask_facts(opened, err);
    if (status == HT_OK)
        status = relay_start(RELAY_CONNECTIONS, &opened->relay, err);
    if (status == HT_OK)
        status = leftovers_start(opened->address, site, keeps,
                                 &opened->leftovers, err);
    if (status == HT_OK)
        log_event(LOG_INFO, "engine.open", "version=\"%s\" at=%s",
                  opened->facts.version, opened->address->text);
    else
        docker_engine_close();
    return status;
}

static struct engine_abilities docker_engine_abilities(void)
{
    const struct docker_facts *facts = &engine.opened.facts;
    return (struct engine_abilities){
        .version = facts->version,
        .gpus = facts->gpus && !facts->podman,
        .cpus = facts->cpus,
        .memory = facts->memory,
    };
}

static enum ht_status docker_engine_address(const struct site *site,
                                            const struct order *order,
                                            size_t replica,
                                            const char **address, int *claim,
                                            struct ht_error *err)
{
    const char *network = order->container.network;
    if (network != NULL && strcmp(network, "host") == 0)
        return engine_process.address(site, order, replica, address, claim,
                                      err);
    const char *name = container_name(order->arena, order, replica);
    *address = arena_printf(order->arena, "%s:%d", name, CONTAINER_PORT);
    *claim = -1;
    return HT_OK;
}

/* ---- an attempt ---- */

static enum ht_status docker_engine_start(struct engine_place *place,
                                          struct ht_error *err)
{
    const struct order *order = place->order;
    free_over();
    enum ht_status status = rules_check(place->site, order, err);
    if (status == HT_OK)
        status = container_check(&engine.opened.facts, order, err);
    struct container_attempt *attempt;
    if (status == HT_OK)
        status = container_attempt_launch(&engine.opened, place, &attempt, err);
    if (status != HT_OK)
        return status;
    add(attempt);
    struct supervised *supervised =
        arena_alloc(order->arena, 1, sizeof *supervised);
    supervised->attempt = attempt;
    replicas_init(&supervised->replicas, place);
    supervised->doubted = arena_alloc(order->arena, order->n_replicas,
                                      sizeof *supervised->doubted);
    place->data = supervised;
    return HT_OK;
}

/* The trial can also write exit.json: it counts when the shim, which writes it
 * last, has ended. That takes a moment, once. */
static bool has_final_exit(struct supervised *supervised, size_t replica)
{
    enum { LOOKS = 8, PAUSE_MS = 2 };
    const struct container_attempt *attempt = supervised->attempt;
    if (!container_attempt_has_exit(attempt, replica))
        return false;
    bool alive = container_attempt_is_alive(attempt, replica);
    for (int i = 0; alive && !supervised->doubted[replica] && i < LOOKS; i++) {
        poll(NULL, 0, PAUSE_MS);
        alive = container_attempt_is_alive(attempt, replica);
    }
    supervised->doubted[replica] = alive;
    return !alive;
}

/* Ends of replicas without exit.json; once all is cleared, also corrections of
 * the others. */
static void take_findings(struct supervised *supervised, bool cleared)
{
    struct container_attempt *attempt = supervised->attempt;
    const bool amends = cleared && !supervised->amended;
    for (size_t i = 0; i < supervised->replicas.n; i++) {
        if (!supervised->replicas.items[i].ended &&
            has_final_exit(supervised, i))
            replicas_read_exit(&supervised->replicas, i);
        if (supervised->replicas.items[i].ended && !amends)
            continue;
        pthread_mutex_lock(&attempt->lock);
        const struct finding finding = attempt->findings[i];
        pthread_mutex_unlock(&attempt->lock);
        if (finding.known)
            replicas_end(&supervised->replicas, i, &finding.ending);
    }
    supervised->amended = cleared;
}

static enum engine_state docker_engine_poll(struct engine_place *place,
                                            struct ending *ending)
{
    struct supervised *supervised = place->data;
    struct container_attempt *attempt = supervised->attempt;
    const bool cleared = attempt->cleared;
    take_findings(supervised, cleared);
    const enum engine_state state =
        replicas_state(&supervised->replicas, place, ending);
    if (state != ENGINE_ENDED || cleared)
        return state;
    container_attempt_end(attempt);
    return ENGINE_RUNNING;
}

static void docker_engine_stop(struct engine_place *place,
                               const struct stop_order *order)
{
    struct supervised *supervised = place->data;
    replicas_stop(&supervised->replicas, order);
    container_attempt_stop(supervised->attempt, order);
}

static void docker_engine_remove(struct engine_place *place)
{
    struct supervised *supervised = place->data;
    const bool cleared = supervised != NULL && supervised->attempt->cleared;
    if (supervised != NULL)
        container_attempt_abandon(supervised->attempt);
    if (!cleared)
        leftovers_give_up(engine.opened.leftovers, &place->order->key);
    place->data = NULL;
    free_over();
}

static bool docker_engine_is_started(const struct engine_place *place)
{
    struct supervised *supervised = place->data;
    if (supervised == NULL)
        return false;
    for (size_t i = 0; i < supervised->replicas.n && !supervised->started; i++)
        supervised->started =
            container_attempt_has_begun(supervised->attempt, i);
    return supervised->started;
}

static struct engine_facts docker_engine_facts(const struct engine_place *place)
{
    struct supervised *supervised = place->data;
    if (supervised == NULL)
        return (struct engine_facts){.known = false};
    struct container_attempt *attempt = supervised->attempt;
    pthread_mutex_lock(&attempt->lock);
    if (attempt->has_digests && !supervised->facts.known) {
        const size_t n = supervised->replicas.n;
        const char **images =
            arena_alloc(place->order->arena, n, sizeof *images);
        for (size_t i = 0; i < n; i++)
            images[i] = arena_strdup(place->order->arena, attempt->digests[i]);
        supervised->facts =
            (struct engine_facts){.known = true, .images = images};
    }
    pthread_mutex_unlock(&attempt->lock);
    return supervised->facts;
}

const struct engine engine_docker = {
    .name = "docker",
    .images = true,
    .open = docker_engine_open,
    .close = docker_engine_close,
    .abilities = docker_engine_abilities,
    .address = docker_engine_address,
    .start = docker_engine_start,
    .poll = docker_engine_poll,
    .stop = docker_engine_stop,
    .remove = docker_engine_remove,
    .is_started = docker_engine_is_started,
    .facts = docker_engine_facts,
};
