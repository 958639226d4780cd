/* engine_slurm.c - the engine of a Slurm cluster: an attempt runs in an element
 * of a batch job, which asks for it. Only the view of the fleet is in memory:
 * which slot has an attempt is in the attempt's folder, how it ended in
 * exit.json, as for processes. */

#include "runner/attempt/engine.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/prepare_processes.h"
#include "runner/attempt/replicas.h"
#include "runner/base/disk.h"
#include "runner/base/seen.h"
#include "runner/cluster/batch.h"
#include "runner/cluster/cluster.h"
#include "runner/cluster/engine_far.h"
#include "runner/cluster/fleet.h"
#include "runner/cluster/images.h"
#include "runner/cluster/place.h"
#include "runner/element/element.h"
#include "runner/far/far.h"

/* A shared file system may show what a node has written only so much later. */
enum {
    SETTLE_MS = 5000,
    REFRESH_MS = 1000 /* between two questions to it for what is new */
};

/* In the attempt's folder: all files were there, a trainer may have begun. */
static const char mark_prepared[] = "prepared";

struct run { /* one attempt */
    struct replicas replicas;
    struct fleet_slot slot; /* batch NULL: none yet, or none any more */
    int turn;               /* that the attempt answers; 0: it waits */
    bool given;             /* the answer was written */
    bool waits;             /* it is counted as waiting */
    bool begun;             /* a replica has */
    int64_t refresh_at;     /* monotonic: not asked for new files before */
    int64_t over_at;        /* monotonic: when the slot was seen to have left
                               it; 0: it was not */
    uint64_t over_looks;    /* far_looks() then */
};

/* One per runner. */
static struct {
    struct arena *arena;
    struct site site; /* with the paths at the cluster */
    struct far *far;  /* NULL: it shares the state folder */
    struct fleet *fleet;
    struct job_slurm defaults;
    const char *way;
} engine;

/* ---- open and close ---- */

static void slurm_engine_close(void)
{
    far_stop(engine.far);
    fleet_close(engine.fleet);
    far_close(engine.far);
    arena_free(engine.arena);
    engine.fleet = NULL;
    engine.far = NULL;
    engine.arena = NULL;
}

static enum ht_status open_fleet(const struct site *site, struct ht_error *err)
{
    struct slurm *slurm = NULL;
    const enum ht_status status = cluster_open(site, &slurm, err);
    if (status != HT_OK)
        return status;
    engine.way = arena_printf(engine.arena, "Slurm by %s", slurm_way(slurm));
    const struct fleet_settings fleet = {
        .site = &engine.site, .defaults = &engine.defaults, .far = engine.far};
    return fleet_open(&fleet, slurm, &engine.fleet, err);
}

static enum ht_status slurm_engine_open(const struct site *site,
                                        struct ht_error *err)
{
    /* Slurm keeps to %a in the name of a file only without one. */
    if (strchr(site->state, '\\') != NULL)
        return ht_fail(err, HT_INVALID,
                       "--state: \"%s\" has a backslash, which Slurm "
                       "does not take in the names of its files",
                       site->state);
    engine.arena = arena_new();
    enum ht_status status =
        cluster_defaults(site, engine.arena, &engine.defaults, err);
    if (status == HT_OK)
        status = engine_far_open(site, &engine.far, &engine.site, err);
    if (status == HT_OK)
        status = open_fleet(site, err);
    if (status != HT_OK) {
        arena_free(engine.arena);
        engine.arena = NULL;
    }
    return status;
}

static struct engine_abilities slurm_engine_abilities(void)
{
    return (struct engine_abilities){.version = engine.way, .gpus = true};
}

/* ---- the attempt's slot ---- */

/* The one of an earlier run of the runner. A later question of the element
 * means that it is done with this attempt. */
static void find_slot(struct run *run, const struct engine_place *place)
{
    struct place was;
    struct arena *arena = arena_new();
    if (place_read(arena, place->folder, &was, NULL) == HT_OK) {
        run->turn = was.turn;
        run->given = true;
        run->slot = fleet_retake(engine.fleet, was.batch, was.element);
    }
    if (run->slot.batch != NULL) {
        const struct slot *slot = &run->slot.batch->slots[was.element];
        run->given = slot->turn != was.turn || !slot->asks;
    }
    arena_free(arena);
}

static struct run *run_of(struct engine_place *place)
{
    if (place->data == NULL) {
        struct run *run = arena_alloc(place->order->arena, 1, sizeof *run);
        replicas_init(&run->replicas, place);
        find_slot(run, place);
        place->data = run;
    }
    return place->data;
}

static void set_waits(struct run *run, const struct engine_place *place,
                      bool waits)
{
    if (run->waits != waits)
        fleet_wait(engine.fleet, place->order->key.study, waits ? 1 : -1);
    run->waits = waits;
}

static enum ht_status write_answer(const struct run *run,
                                   const struct engine_place *place,
                                   struct ht_error *err)
{
    const struct batch *batch = run->slot.batch;
    struct arena *arena = arena_new();
    const struct element_answer answer = {
        .folder = seen_path(arena, &engine.site, place->folder),
        .limit_ms = batch->slots[run->slot.element].end_ms,
        .grace_ms = place->order->grace_ms,
        .report = place->order->far,
    };
    const char *folder = batch_element(batch, arena, run->slot.element);
    const enum ht_status status =
        element_answer_write(folder, run->turn, &answer, err);
    if (status == HT_OK)
        far_put(engine.far, folder);
    arena_free(arena);
    return status;
}

/* Gives the attempt to an element that asks. The file of its place comes first:
 * a restarted runner writes the same answer to the same element. */
static enum ht_status give(struct run *run, struct engine_place *place,
                           struct ht_error *err)
{
    if (run->slot.batch == NULL &&
        engine_far_has_trees(engine.far, &engine.site, place))
        run->slot = fleet_take(engine.fleet, place->order->key.study);
    set_waits(run, place, run->slot.batch == NULL);
    if (run->slot.batch == NULL)
        return HT_OK;
    struct slot *slot = &run->slot.batch->slots[run->slot.element];
    const struct place is = {.batch = run->slot.batch->name,
                             .element = run->slot.element,
                             .turn = slot->turn};
    enum ht_status status = place_write(place->folder, &is, err);
    if (status != HT_OK)
        return status;
    run->turn = slot->turn;
    status = write_answer(run, place, err);
    if (status != HT_OK)
        return status;
    run->given = true;
    slot->asks = false;
    struct arena *arena = arena_new();
    log_event(LOG_INFO, "attempt.placed", "name=%s job=%s turn=%d",
              place->order->name,
              batch_element_id(run->slot.batch, arena, run->slot.element),
              run->turn);
    arena_free(arena);
    return HT_OK;
}

static void leave(struct run *run, int64_t ran_ms, bool evict)
{
    if (run->slot.batch != NULL)
        fleet_leave(engine.fleet, run->slot, ran_ms, evict);
    run->slot.batch = NULL;
}

/* ---- start ---- */

/* The nodes' own GPUs, as Slurm names them there; the address for reports is
 * that of the relay there, if there is one. */
static void adapt(const struct engine_place *place, struct arena *arena,
                  size_t replica, struct replica_view *view)
{
    static const char *const found_there[] = {
        "CUDA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "ZE_AFFINITY_MASK",
        "SLURM_JOB_ID",
        "SLURM_ARRAY_JOB_ID",
        "SLURM_ARRAY_TASK_ID",
        "SLURM_JOB_NODELIST",
        "SLURM_PROCID",
        "SLURM_CPUS_PER_TASK",
        "HOME",
        "USER",
        "LANG",
        "TZ",
    };
    enum { OF_USER = 4 };
    (void)place;
    (void)arena;
    (void)replica;
    /* Of another machine than this one, the last ones, too. */
    const size_t n = sizeof found_there / sizeof *found_there;
    view->inherited =
        (struct strings){engine.far != NULL ? n : n - OF_USER, found_there};
    view->report_url = NULL;
}

/* Files of a prepared attempt are missing: its trial removed them. */
static void end_emptied(struct run *run)
{
    for (size_t i = 0; i < run->replicas.n; i++)
        if (!disk_has(run->replicas.items[i].folder, "launch.json"))
            replicas_end_without_folder(&run->replicas, i, folder_removed);
}

static enum ht_status prepare_at_cluster(const struct engine_place *place,
                                         struct ht_error *err)
{
    struct engine_place there = *place;
    there.site = &engine.site;
    if (!images_are_wanted(place->order))
        return prepare_processes(&there, adapt, err);
    if (engine.far != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "images run on Slurm only where the runner's folder is "
                       "shared with the nodes");
    return images_prepare(&there, err);
}

static enum ht_status slurm_start(struct engine_place *place,
                                  struct ht_error *err)
{
    const bool prepared = disk_has(place->folder, mark_prepared);
    if (prepared && !prepare_is_complete(place->order, place->folder)) {
        end_emptied(run_of(place));
        return HT_OK;
    }
    enum ht_status status = prepare_at_cluster(place, err);
    if (status == HT_OK)
        status = disk_mark(place->folder, mark_prepared, err);
    if (status != HT_OK)
        return status;
    engine_far_watch(engine.far, place);
    struct run *run = run_of(place);
    return run->given ? HT_OK : give(run, place, err);
}

/* ---- poll ---- */

static void end_all(struct run *run, enum outcome outcome, const char *reason)
{
    for (size_t i = 0; i < run->replicas.n; i++) {
        struct ending ending = {.ended_ms = clock_wall_ms()};
        if (run->replicas.items[i].ended)
            continue;
        folder_end(&ending, outcome, "%s", reason);
        replicas_end(&run->replicas, i, &ending);
    }
}

/* Whether the element has left the attempt for good: by ending, or by asking
 * for the next one. */
static bool is_left(const struct run *run)
{
    if (run->slot.batch == NULL)
        return true;
    const struct slot *slot = &run->slot.batch->slots[run->slot.element];
    return slot->gone || slot->turn > run->turn;
}

/* What was not written by then never will be. */
static void end_left(struct run *run, int64_t now_ms)
{
    if (run->over_at == 0) {
        run->over_at = now_ms;
        run->over_looks = far_looks(engine.far);
    }
    if (now_ms - run->over_at < SETTLE_MS ||
        (engine.far != NULL && far_looks(engine.far) < run->over_looks + 2))
        return;
    struct arena *arena = arena_new();
    if (run->slot.batch == NULL) {
        end_all(run, OUTCOME_LOST, "its batch job has ended");
    } else {
        const struct slot *slot = &run->slot.batch->slots[run->slot.element];
        const struct slurm_end end =
            batch_end(run->slot.batch, arena, run->slot.element);
        if (slot->turn > run->turn)
            end_all(run, OUTCOME_LOST,
                    "it was not run to its end in its batch job");
        else
            end_all(run, end.outcome, end.words);
    }
    arena_free(arena);
}

static int64_t ran_ms(const struct run *run)
{
    const struct ending *ending = &run->replicas.items[0].ending;
    return ending->started_ms > 0 ? ending->ended_ms - ending->started_ms : 0;
}

/* Asks the shared file system for what the nodes have written. */
static void refresh(struct run *run)
{
    const int64_t now = clock_monotonic_ms();
    if (!run->given || now < run->refresh_at)
        return;
    run->refresh_at = now + REFRESH_MS;
    for (size_t i = 0; i < run->replicas.n; i++)
        if (!run->replicas.items[i].ended)
            (void)disk_refresh(run->replicas.items[i].folder);
}

static bool read_exits(struct run *run)
{
    refresh(run);
    bool all = true;
    for (size_t i = 0; i < run->replicas.n; i++)
        if (!replicas_has_lost_folder(&run->replicas, i))
            all &= replicas_read_exit(&run->replicas, i);
    return all;
}

static enum engine_state slurm_poll(struct engine_place *place,
                                    struct ending *ending)
{
    struct ht_error err;
    struct run *run = run_of(place);
    const bool all = read_exits(run);
    if (!all && !run->given && give(run, place, &err) != HT_OK)
        log_event(LOG_WARN, "attempt.not_placed", "name=%s reason=\"%s\"",
                  place->order->name, err.text);
    if (!all && run->given && is_left(run))
        end_left(run, clock_monotonic_ms());
    const enum engine_state state =
        replicas_state(&run->replicas, place, ending);
    if (state == ENGINE_RUNNING && run->replicas.n > 1)
        far_put(engine.far, place->folder); /* an end may stop the others */
    if (state == ENGINE_ENDED) {
        set_waits(run, place, false);
        leave(run, ran_ms(run), false);
    }
    return state;
}

/* Nothing runs of an attempt without a slot. */
static void slurm_stop(struct engine_place *place,
                       const struct stop_order *order)
{
    struct run *run = run_of(place);
    if (run->given) {
        replicas_stop(&run->replicas, order);
        far_put(engine.far, place->folder);
    } else {
        end_all(run, OUTCOME_STOPPED, order->reason);
    }
}

/* ---- the rest ---- */

static void slurm_remove(struct engine_place *place)
{
    static const struct stop_order kill = {.kill = true, .reason = "removed"};
    struct run *run = run_of(place);
    const bool evict = run->given && !read_exits(run) && !is_left(run);
    if (evict)
        replicas_stop(&run->replicas, &kill);
    if (evict)
        far_put(engine.far, place->folder);
    far_remove(engine.far, place->folder);
    set_waits(run, place, false);
    leave(run, 0, evict);
    place->data = NULL;
}

/* Only the nodes know addresses, and put them in these places; none of these
 * texts begins another one. */
static enum ht_status slurm_address(const struct site *site,
                                    const struct order *order, size_t replica,
                                    const char **address, int *claim,
                                    struct ht_error *err)
{
    (void)site;
    (void)claim;
    (void)err;
    *address = arena_printf(order->arena, "%s.replica.hypertune:1",
                            order->replicas[replica].name);
    return HT_OK;
}

static bool slurm_is_started(const struct engine_place *place)
{
    struct run *run = place->data;
    for (size_t i = 0; run != NULL && !run->begun && i < run->replicas.n; i++)
        run->begun = disk_has(run->replicas.items[i].folder, "shim.json");
    return run != NULL && run->begun;
}

static struct engine_facts slurm_facts(const struct engine_place *place)
{
    (void)place;
    return (struct engine_facts){.known = true};
}

static int64_t slurm_tick(int64_t now_ms)
{
    return fleet_tick(engine.fleet, now_ms);
}

static size_t slurm_look(struct arena *arena, const struct engine_slots **slots)
{
    return fleet_look(engine.fleet, arena, slots);
}

static void slurm_want(const struct engine_wanted *wanted, size_t n)
{
    fleet_want(engine.fleet, wanted, n);
}

static const struct engine_elastic elastic = {
    .tick = slurm_tick,
    .look = slurm_look,
    .want = slurm_want,
};

const struct engine engine_slurm = {
    .name = "slurm",
    .elastic = &elastic,
    .open = slurm_engine_open,
    .close = slurm_engine_close,
    .abilities = slurm_engine_abilities,
    .address = slurm_address,
    .start = slurm_start,
    .poll = slurm_poll,
    .stop = slurm_stop,
    .remove = slurm_remove,
    .is_started = slurm_is_started,
    .facts = slurm_facts,
};
