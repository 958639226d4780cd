/* Containers of Docker or Podman: what the supervising thread does with them.
 * It reads folders and what the attempts' threads found; it never waits for
 * the engine. */
#include "runner/container/attempt.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "runner/attempt/prepare.h"
#include "runner/attempt/replicas.h"
#include "runner/base/disk.h"
#include "runner/base/log.h"
#include "runner/base/placement.h"
#include "runner/base/rules.h"
#include "runner/container/container.h"

struct berth { /* the supervising thread's view of an attempt */
    struct container_attempt *attempt;
    struct replicas crew;
    bool *doubted; /* replicas with an end that the shim did not write */
    bool started;
    bool amended; /* findings stand in the crew's endings */
    struct engine_facts facts;
};

/* One engine a runner; the list also serves the janitor. */
static struct {
    struct harbor harbor;
    pthread_mutex_t lock; /* of the list */
    struct container_attempt *first;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the list ---- */

/* An attempt that nobody has adopted yet lies on disk with its lease. One that
 * was removed is doomed, whatever is said here. */
static bool keeps(void *context, const struct order_key *key)
{
    (void)context;
    bool kept = false;
    pthread_mutex_lock(&engine.lock);
    for (struct container_attempt *attempt = engine.first;
         attempt != NULL && !kept; attempt = attempt->next)
        kept = order_key_equal(&attempt->order->key, key);
    pthread_mutex_unlock(&engine.lock);
    if (kept)
        return true;
    struct arena *arena = arena_new();
    kept = disk_has(prepare_attempt_folder(arena, engine.harbor.site, key),
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

/* Those that were abandoned and whose thread is over; or all. */
static struct container_attempt *take_out(bool all)
{
    pthread_mutex_lock(&engine.lock);
    struct container_attempt **link = &engine.first;
    struct container_attempt *found = NULL;
    while (*link != NULL && found == NULL) {
        struct container_attempt *attempt = *link;
        pthread_mutex_lock(&attempt->lock);
        const bool due = all || (attempt->abandoned && attempt->over);
        pthread_mutex_unlock(&attempt->lock);
        if (due) {
            found = attempt;
            *link = attempt->next;
        } else {
            link = &attempt->next;
        }
    }
    pthread_mutex_unlock(&engine.lock);
    return found;
}

static void bury_dead(void)
{
    struct container_attempt *attempt;
    while ((attempt = take_out(false)) != NULL)
        container_attempt_free(attempt);
}

/* ---- open and close ---- */

static void docker_engine_close(void)
{
    struct harbor *harbor = &engine.harbor;
    for (struct container_attempt *attempt = engine.first; attempt != NULL;
         attempt = attempt->next)
        container_attempt_abandon(attempt);
    struct container_attempt *attempt;
    while ((attempt = take_out(true)) != NULL)
        container_attempt_free(attempt);
    leftovers_stop(harbor->janitor);
    relay_stop(harbor->relay);
    docker_address_free(harbor->address);
    arena_free(harbor->arena);
    *harbor = (struct harbor){.site = NULL};
}

static enum ht_status ask_facts(struct harbor *harbor, struct ht_error *err)
{
    struct docker *docker = docker_new(harbor->address);
    const enum ht_status status =
        docker_ask_facts(docker, harbor->arena, &harbor->facts, err);
    docker_free(docker);
    return status;
}

static enum ht_status docker_engine_open(const struct site *site,
                                         struct ht_error *err)
{
    struct harbor *harbor = &engine.harbor;
    *harbor = (struct harbor){.site = site, .arena = arena_new()};
    enum ht_status status =
        docker_address_find(site->docker_host, getenv, &harbor->address, err);
    if (status == HT_NOT_FOUND) /* it may come yet */
        status = HT_UNAVAILABLE;
    if (status == HT_OK)
        status = ask_facts(harbor, err);
    if (status == HT_OK)
        status = relay_start(&harbor->relay, err);
    if (status == HT_OK)
        status = leftovers_start(harbor->address, site, keeps, NULL,
                                 &harbor->janitor, err);
    if (status == HT_OK)
        runner_log(RUNNER_INFO, "engine.open", "version=\"%s\" at=%s",
                   harbor->facts.version, harbor->address->text);
    else
        docker_engine_close();
    return status;
}

static struct engine_abilities docker_engine_abilities(void)
{
    const struct docker_facts *facts = &engine.harbor.facts;
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

static enum ht_status docker_engine_adopt(struct engine_place *place,
                                          struct ht_error *err)
{
    const struct order *order = place->order;
    bury_dead();
    enum ht_status status = rules_check(place->site, order, err);
    if (status == HT_OK)
        status = container_check(&engine.harbor.facts, order, err);
    struct container_attempt *attempt;
    if (status == HT_OK)
        status = container_attempt_launch(&engine.harbor, place, &attempt, err);
    if (status != HT_OK)
        return status;
    add(attempt);
    struct berth *berth = arena_alloc(order->arena, 1, sizeof *berth);
    berth->attempt = attempt;
    replicas_init(&berth->crew, place);
    berth->doubted =
        arena_alloc(order->arena, order->n_replicas, sizeof *berth->doubted);
    place->memory = berth;
    return HT_OK;
}

/* The trial may write into its folder, too: an end counts when the shim, which
 * writes it last, is gone. That takes it a moment, once. */
static bool has_told(struct berth *berth, size_t replica)
{
    enum { LOOKS = 8, PAUSE_MS = 2 };
    const struct container_attempt *attempt = berth->attempt;
    if (!container_attempt_has_exit(attempt, replica))
        return false;
    bool alive = container_attempt_is_alive(attempt, replica);
    for (int i = 0; alive && !berth->doubted[replica] && i < LOOKS; i++) {
        poll(NULL, 0, PAUSE_MS);
        alive = container_attempt_is_alive(attempt, replica);
    }
    berth->doubted[replica] = alive;
    return !alive;
}

/* What the thread found out about replicas that cannot tell; once all is
 * cleared, also what they could not know when they told. */
static void take_findings(struct berth *berth, bool cleared)
{
    struct container_attempt *attempt = berth->attempt;
    const bool amends = cleared && !berth->amended;
    for (size_t i = 0; i < berth->crew.n; i++) {
        if (!berth->crew.replicas[i].ended && has_told(berth, i))
            replicas_read_exit(&berth->crew, i);
        if (berth->crew.replicas[i].ended && !amends)
            continue;
        pthread_mutex_lock(&attempt->lock);
        const struct finding finding = attempt->findings[i];
        pthread_mutex_unlock(&attempt->lock);
        if (finding.known)
            replicas_end(&berth->crew, i, &finding.ending);
    }
    berth->amended = cleared;
}

static enum engine_state docker_engine_poll(struct engine_place *place,
                                            struct ending *ending)
{
    struct berth *berth = place->memory;
    struct container_attempt *attempt = berth->attempt;
    pthread_mutex_lock(&attempt->lock);
    const bool cleared = attempt->cleared;
    pthread_mutex_unlock(&attempt->lock);
    take_findings(berth, cleared);
    const enum engine_state state = replicas_judge(&berth->crew, place, ending);
    if (state != ENGINE_ENDED || cleared)
        return state;
    container_attempt_tell_ended(attempt);
    return ENGINE_RUNNING;
}

static void docker_engine_stop(struct engine_place *place,
                               const struct stop_order *order)
{
    struct berth *berth = place->memory;
    replicas_stop(&berth->crew, order);
    container_attempt_tell_stop(berth->attempt, order);
}

static void docker_engine_remove(struct engine_place *place)
{
    struct berth *berth = place->memory;
    bool cleared = false;
    if (berth != NULL) {
        pthread_mutex_lock(&berth->attempt->lock);
        cleared = berth->attempt->cleared;
        pthread_mutex_unlock(&berth->attempt->lock);
        container_attempt_abandon(berth->attempt);
    }
    if (!cleared)
        leftovers_doom(engine.harbor.janitor, &place->order->key);
    place->memory = NULL;
    bury_dead();
}

static bool docker_engine_is_started(const struct engine_place *place)
{
    struct berth *berth = place->memory;
    if (berth == NULL)
        return false;
    for (size_t i = 0; i < berth->crew.n && !berth->started; i++)
        berth->started = container_attempt_has_begun(berth->attempt, i);
    return berth->started;
}

static struct engine_facts docker_engine_facts(const struct engine_place *place)
{
    struct berth *berth = place->memory;
    if (berth == NULL)
        return (struct engine_facts){.known = false};
    struct container_attempt *attempt = berth->attempt;
    pthread_mutex_lock(&attempt->lock);
    if (attempt->has_digests && !berth->facts.known) {
        const size_t n = berth->crew.n;
        const char **images =
            arena_alloc(place->order->arena, n, sizeof *images);
        for (size_t i = 0; i < n; i++)
            images[i] = arena_strdup(place->order->arena, attempt->digests[i]);
        berth->facts = (struct engine_facts){.known = true, .images = images};
    }
    pthread_mutex_unlock(&attempt->lock);
    return berth->facts;
}

const struct engine engine_docker = {
    .name = "docker",
    .images = true,
    .open = docker_engine_open,
    .close = docker_engine_close,
    .abilities = docker_engine_abilities,
    .address = docker_engine_address,
    .start = docker_engine_adopt, /* nothing is there: everything is made */
    .adopt = docker_engine_adopt,
    .poll = docker_engine_poll,
    .stop = docker_engine_stop,
    .remove = docker_engine_remove,
    .is_started = docker_engine_is_started,
    .facts = docker_engine_facts,
};
