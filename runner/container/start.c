/* start.c - from a lease to running containers: images, network, folders,
 * containers. Every step can be repeated after any interruption. */

#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/net/relay.h"
#include "runner/attempt/mounts.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/disk.h"
#include "runner/container/attempt.h"
#include "runner/container/container.h"

enum {
    FIRST_PAUSE_MS = 250, /* before a step is tried again */
    LAST_PAUSE_MS = 5000,
    IMAGE_TRIES = 3, /* while the engine answers but the registry does not */
};

struct start {
    struct container_attempt *attempt;
    struct arena *arena;
    struct image *images; /* of each replica */
    int64_t give_up_at;   /* monotonic */
};

/* ---- failures ---- */

/* Podman answers 500 to everything, Docker to what the kernel refuses. */
static bool is_orders_fault(const struct ht_error *err)
{
    static const char *const words[] = {
        "unable to find user",
        "no matching entries",
        "could not select device driver",
        "executable file not found",
        "exec format error",
        "working directory",
        "workdir",
        "invalid",
        "minimum memory limit",
    };
    if (err->status == HT_PRECONDITION)
        return true;
    if (err->status != HT_INVALID && err->status != HT_INTERNAL)
        return false;
    bool found = err->status == HT_INVALID;
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
        found = strstr(err->text, words[i]) != NULL;
    return found && strstr(err->text, "no space left") == NULL;
}

/* A fault of the order is the same on every runner; any other is of this
 * machine, and another start may succeed. */
static void fail(struct container_attempt *attempt, size_t replica,
                 const struct ht_error *err)
{
    struct ending ending = {.ended_ms = clock_wall_ms(),
                            .impossible = err->status == HT_PRECONDITION};
    folder_end(&ending, is_orders_fault(err) ? OUTCOME_FAILED : OUTCOME_LOST,
               "%s", err->text);
    container_attempt_log(attempt, replica, "%s", err->text);
    container_attempt_note(attempt, replica, &ending);
}

/* Waits before another try; false when there is no time for it. */
static bool may_try_again(struct start *start, struct docker *docker,
                          int *pause_ms)
{
    if (clock_monotonic_ms() + *pause_ms >= start->give_up_at ||
        !docker_pause(docker, *pause_ms))
        return false;
    *pause_ms = 2 * *pause_ms < LAST_PAUSE_MS ? 2 * *pause_ms : LAST_PAUSE_MS;
    return true;
}

/* ---- images ---- */

struct listener {
    struct container_attempt *attempt;
    size_t replica;
};

static void log_progress(void *context, const char *line)
{
    const struct listener *listener = context;
    container_attempt_log(listener->attempt, listener->replica, "%s", line);
}

static bool does_engine_answer(struct container_attempt *attempt)
{
    struct arena *arena = arena_new();
    const struct node *answer;
    const enum ht_status status =
        docker_get(attempt->connections[0], arena, "/version", &answer, NULL);
    arena_free(arena);
    return status == HT_OK;
}

/* A pull has its own limit, so its time does not count. */
static enum ht_status get_image(struct start *start, size_t replica,
                                struct ht_error *err)
{
    struct container_attempt *attempt = start->attempt;
    struct listener listener = {attempt, replica};
    const struct image_request request = {
        .name = attempt->order->replicas[replica].image,
        .pull = prepare_is_complete(attempt->order, attempt->folder)
                    ? PULL_IF_NOT_PRESENT
                    : attempt->order->container.pull,
        .progress = log_progress,
        .context = &listener,
    };
    int pause_ms = FIRST_PAUSE_MS;
    for (int tries = 1;;) {
        const int64_t begin = clock_monotonic_ms();
        const enum ht_status status =
            image_get(attempt->connections[0], start->arena, &request,
                      &start->images[replica], err);
        start->give_up_at += clock_monotonic_ms() - begin;
        if (status != HT_UNAVAILABLE ||
            (does_engine_answer(attempt) && ++tries > IMAGE_TRIES) ||
            !may_try_again(start, attempt->connections[0], &pause_ms))
            return status;
    }
}

static size_t find_same_image(const struct order *order, size_t replica)
{
    size_t i = 0;
    while (strcmp(order->replicas[i].image, order->replicas[replica].image) !=
           0)
        i++;
    return i;
}

/* A handle that was cancelled stays so: the next step needs a new one. */
static void set_pulling(struct container_attempt *attempt, bool pulling)
{
    pthread_mutex_lock(&attempt->lock);
    attempt->pulling = pulling;
    if (!pulling && !attempt->abandoned &&
        docker_is_cancelled(attempt->connections[0])) {
        docker_free(attempt->connections[0]);
        attempt->connections[0] = docker_new(attempt->engine->address);
    }
    pthread_mutex_unlock(&attempt->lock);
}

static void publish_digests(struct start *start)
{
    struct container_attempt *attempt = start->attempt;
    const size_t n = attempt->order->n_replicas;
    pthread_mutex_lock(&attempt->lock);
    for (size_t i = 0; i < n; i++)
        attempt->digests[i] =
            arena_strdup(attempt->order->arena, start->images[i].digest);
    attempt->has_digests = true;
    pthread_mutex_unlock(&attempt->lock);
}

/* False when an image is not available; its replica has a finding then. */
static bool get_images(struct start *start)
{
    struct container_attempt *attempt = start->attempt;
    struct ht_error err = {.status = HT_INTERNAL};
    bool complete = true;
    set_pulling(attempt, true);
    for (size_t i = 0; i < attempt->order->n_replicas && complete; i++) {
        const size_t same = find_same_image(attempt->order, i);
        if (same < i) {
            start->images[i] = start->images[same];
            continue;
        }
        complete = !attempt->stopped && get_image(start, i, &err) == HT_OK;
        if (!complete && !attempt->stopped)
            fail(attempt, i, &err);
    }
    set_pulling(attempt, false);
    if (complete)
        publish_digests(start);
    return complete;
}

/* ---- network ---- */

enum ht_status container_attempt_open_relay(struct container_attempt *attempt,
                                            struct ht_error *err)
{
    const char *gateway = attempt->network.gateway;
    if (attempt->relayed || gateway == NULL ||
        attempt->order->report_url == NULL)
        return HT_OK;
    int port = attempt->placement.relay_port;
    const struct relay_listener wanted = {
        .address = gateway, .port = port, .to = attempt->order->report_url};
    enum ht_status status =
        relay_open(attempt->engine->relay, &wanted, &port, err);
    if (status != HT_OK)
        return status;
    attempt->relayed = true;
    const bool is_new = port != attempt->placement.relay_port;
    attempt->placement.relay_port = port;
    if (is_new && container_attempt_begin_writing(attempt)) {
        status = placement_write(attempt->folder, attempt->order,
                                 &attempt->placement, err);
        container_attempt_end_writing(attempt);
    }
    return status;
}

static enum ht_status make_network(struct start *start, struct ht_error *err)
{
    struct container_attempt *attempt = start->attempt;
    int pause_ms = FIRST_PAUSE_MS;
    enum ht_status status;
    do {
        status = network_make(attempt->connections[0], attempt->order->arena,
                              &attempt->request, &attempt->network, err);
    } while (status == HT_UNAVAILABLE &&
             may_try_again(start, attempt->connections[0], &pause_ms));
    struct ht_error closed;
    if (status == HT_OK &&
        container_attempt_open_relay(attempt, &closed) != HT_OK)
        container_attempt_log(attempt, 0,
                              "reports go by file only, the server cannot be "
                              "reached: %s",
                              closed.text);
    return status;
}

/* ---- folders ---- */

/* NULL: it cannot be reached from the replicas' network. */
static const char *make_report_url(const struct container_attempt *attempt,
                                   struct arena *arena)
{
    if (strcmp(attempt->network.name, "host") == 0)
        return attempt->order->report_url;
    if (!attempt->relayed)
        return NULL;
    const char *gateway = attempt->network.gateway;
    return arena_printf(
        arena, strchr(gateway, ':') != NULL ? "tcp://[%s]:%d" : "tcp://%s:%d",
        gateway, attempt->placement.relay_port);
}

static enum ht_status prepare(struct start *start, struct ht_error *err)
{
    struct container_attempt *attempt = start->attempt;
    const struct order *order = attempt->order;
    if (prepare_is_complete(order, attempt->folder))
        return HT_OK;
    const char *url = make_report_url(attempt, start->arena);
    struct replica_view *views =
        arena_alloc(start->arena, order->n_replicas, sizeof *views);
    for (size_t i = 0; i < order->n_replicas; i++)
        views[i] =
            replica_view_of_container(start->arena, attempt->engine->site,
                                      order, i, &start->images[i], url);
    if (!container_attempt_begin_writing(attempt))
        return ht_fail(err, HT_UNAVAILABLE, "the attempt was given up");
    const enum ht_status status =
        prepare_replicas(attempt->engine->site, order, &attempt->placement,
                         attempt->folder, views, err);
    container_attempt_end_writing(attempt);
    return status;
}

/* ---- containers ---- */

/* Also of a replica that has ended. */
static bool has_begun(const struct container_attempt *attempt, size_t replica)
{
    return container_attempt_has_exit(attempt, replica) ||
           container_attempt_has_begun(attempt, replica);
}

static enum ht_status make_container(struct start *start, struct docker *docker,
                                     size_t replica, struct ht_error *err)
{
    struct container_attempt *attempt = start->attempt;
    const struct site *site = attempt->engine->site;
    struct arena *arena = arena_new();
    struct mounts mounts;
    enum ht_status status = mounts_find(
        arena, site, attempt->order, attempt->folders[replica], &mounts, err);
    const struct container_plan plan = {
        .site = site,
        .facts = &attempt->engine->facts,
        .order = attempt->order,
        .replica = replica,
        .place = &attempt->placement.replicas[replica],
        .image = &start->images[replica],
        .mounts = &mounts,
        .network = &attempt->network,
    };
    if (status == HT_OK)
        status = container_create(docker, &plan, err);
    if (status != HT_OK)
        status = ht_wrap(err, status, "cannot make its container");
    else if (container_start(docker, attempt->names[replica], err) != HT_OK)
        status = ht_wrap(err, err->status, "cannot start its container");
    arena_free(arena);
    return status;
}

/* A replica that got an order to stop before it began. Its end is later than
 * that of a replica that could not begin, which is the cause of the others'. */
static void end_unbegun(struct container_attempt *attempt, size_t replica)
{
    struct ending ending = {.ended_ms = clock_wall_ms() + 1};
    struct stop_order stop;
    const bool ordered =
        folder_read_stop(attempt->folders[replica], &stop, NULL) == HT_OK;
    folder_end(&ending, OUTCOME_STOPPED, "stopped: %.480s",
               ordered ? stop.reason : "another replica cannot start");
    container_attempt_note(attempt, replica, &ending);
}

/* The shim may be slow to begin: a second start of a running container changes
 * nothing, and a second shim exits. */
static void start_replica(struct container_attempt *attempt,
                          struct docker *docker, size_t replica, void *context)
{
    struct start *start = context;
    struct ht_error err = {.status = HT_INTERNAL};
    int pause_ms = FIRST_PAUSE_MS;
    enum ht_status status;
    if (has_begun(attempt, replica))
        return;
    do {
        if (disk_has(attempt->folders[replica], "stop")) {
            end_unbegun(attempt, replica);
            return;
        }
        status = make_container(start, docker, replica, &err);
    } while (status == HT_UNAVAILABLE &&
             may_try_again(start, docker, &pause_ms));
    if (status != HT_OK && !attempt->abandoned)
        fail(attempt, replica, &err);
}

/* ---- all steps ---- */

static bool has_all_begun(const struct container_attempt *attempt)
{
    size_t i = 0;
    while (i < attempt->order->n_replicas && has_begun(attempt, i))
        i++;
    return i == attempt->order->n_replicas;
}

static void give_up_unbegun(struct container_attempt *attempt)
{
    for (size_t i = 0; i < attempt->order->n_replicas; i++) {
        if (!has_begun(attempt, i))
            end_unbegun(attempt, i);
    }
}

static bool start_all(struct start *start)
{
    struct container_attempt *attempt = start->attempt;
    struct ht_error err = {.status = HT_INTERNAL};
    if (!get_images(start))
        return false;
    enum ht_status status = make_network(start, &err);
    if (status == HT_OK)
        status = prepare(start, &err);
    attempt->begin_by = start->give_up_at;
    if (status == HT_OK)
        container_attempt_each(attempt, start_replica, start);
    else if (!attempt->abandoned)
        fail(attempt, 0, &err);
    return status == HT_OK;
}

void container_attempt_start(struct container_attempt *attempt)
{
    if (has_all_begun(attempt))
        return;
    struct start start = {
        .attempt = attempt,
        .arena = arena_new(),
        .give_up_at =
            clock_monotonic_ms() + attempt->engine->site->start_limit_ms,
    };
    start.images = arena_alloc(start.arena, attempt->order->n_replicas,
                               sizeof *start.images);
    if (!start_all(&start) && !attempt->abandoned)
        give_up_unbegun(attempt);
    arena_free(start.arena);
}
