/* engine_kubernetes.c - the engine of pods: a Job for the replicas of each type
 * of an attempt, and hypertune-shim in each pod. */

#include <stdio.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/token.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/disk.h"
#include "runner/base/rules.h"
#include "runner/base/site.h"
#include "runner/far/far.h"
#include "runner/kubernetes/access.h"
#include "runner/kubernetes/client.h"
#include "runner/pods/attempt_objects.h"
#include "runner/pods/by_log.h"
#include "runner/pods/config.h"
#include "runner/pods/follow.h"
#include "runner/pods/kinds.h"
#include "runner/pods/line.h"
#include "runner/pods/maker.h"
#include "runner/pods/pods.h"
#include "runner/pods/run.h"
#include "runner/pods/shape.h"
#include "runner/registry/reader.h"

enum { LOOK_MS = 1000 };

/* A study that wants pods, or has some. */
struct study {
    struct study *next;
    int64_t number, wanted;
    char need[TOKEN_TEXT_BYTES]; /* hash of what each needs */
    struct pod_run *first;       /* its attempts here */
};

/* One per runner. */
static struct {
    struct arena *arena;
    struct pod_cluster cluster;
    const char *version;
    struct study *studies;
} engine;

/* ---- open and close ---- */

/* The label "7-3-1". */
static bool read_key(const char *label, struct order_key *key)
{
    char *end;
    int64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        numbers[i] = strtoll(label, &end, 10);
        if (end == label || *end != (i < 2 ? '-' : '\0') || numbers[i] <= 0)
            return false;
        label = end + 1;
    }
    *key = (struct order_key){
        .study = numbers[0], .trial = numbers[1], .attempt = numbers[2]};
    return true;
}

/* Whether its lease is on disk. Called by another thread. */
static bool keeps(const char *attempt)
{
    struct order_key key;
    if (!read_key(attempt, &key))
        return false;
    struct arena *arena = arena_new();
    const bool kept = disk_has(
        prepare_attempt_folder(arena, engine.cluster.site, &key), "lease.json");
    arena_free(arena);
    return kept;
}

static void pods_engine_close(void)
{
    maker_stop(engine.cluster.maker);
    kinds_close(engine.cluster.kinds);
    if (engine.cluster.pull_login.kube != NULL)
        kube_abort(engine.cluster.pull_login.kube);
    registry_reader_stop(engine.cluster.reader);
    kube_free(engine.cluster.pull_login.kube);
    pod_line_close_all();
    pod_follow_close_all();
    pods_close_all();
    kube_free(engine.cluster.kube);
    arena_free(engine.arena);
    engine.arena = NULL;
    while (engine.studies != NULL) {
        struct study *next = engine.studies->next;
        free(engine.studies);
        engine.studies = next;
    }
    engine.cluster = (struct pod_cluster){.site = NULL};
}

/* What is asked once of the cluster. */
static enum ht_status ask(struct pod_cluster *cluster, struct ht_error *err)
{
    struct kube *kube = cluster->kube = kube_new(&cluster->config);
    enum ht_status status = kube_fields_ask(kube, &cluster->fields, err);
    if (status == HT_OK && cluster->fields.job_sets)
        status = kube_access_job_sets(kube, cluster->config.namespace,
                                      &cluster->job_sets, err);
    if (status == HT_OK)
        status = kube_access_logs_only(kube, cluster->config.namespace,
                                       &cluster->no_exec, err);
    if (status == HT_OK && cluster->site->kube_shim_image == NULL)
        status = shim_maps_ensure(kube, cluster->config.namespace,
                                  cluster->site->shim, engine.arena,
                                  &cluster->shim, err);
    return status;
}

static enum ht_status open_kinds(struct pod_cluster *cluster,
                                 struct ht_error *err)
{
    const struct kinds_settings settings = {.namespace =
                                                cluster->config.namespace,
                                            .runner = cluster->site->runner,
                                            .state = cluster->site->state};
    return kinds_open(&settings, &cluster->kinds, err);
}

static enum ht_status start_threads(struct pod_cluster *cluster,
                                    struct ht_error *err)
{
    const struct pods_settings all = {
        .kube = cluster->kube,
        .namespace = cluster->config.namespace,
        .selector = arena_printf(engine.arena, POD_LABEL_RUNNER "=%s",
                                 cluster->site->runner)};
    const struct maker_settings objects = {.kube = cluster->kube,
                                           .namespace =
                                               cluster->config.namespace,
                                           .runner = cluster->site->runner,
                                           .job_sets = cluster->job_sets,
                                           .kinds = cluster->kinds,
                                           .keeps = keeps};
    cluster->pull_login =
        (struct pull_login){.kube = kube_new_beside(cluster->kube),
                            .namespace = cluster->config.namespace};
    enum ht_status status = pods_open(&all, &cluster->pods, err);
    if (status == HT_OK)
        status = registry_reader_start(pull_login_find, &cluster->pull_login,
                                       &cluster->reader, err);
    return status == HT_OK ? maker_start(&objects, &cluster->maker, err)
                           : status;
}

static enum ht_status pods_engine_open(const struct site *site,
                                       struct ht_error *err)
{
    struct pod_cluster *cluster = &engine.cluster;
    engine.arena = arena_new();
    *cluster = (struct pod_cluster){.site = site};
    enum ht_status status =
        pods_config(site, engine.arena, &cluster->config, err);
    if (status == HT_OK)
        status = ask(cluster, err);
    if (status == HT_OK)
        status = far_name_kit(site, pod_kit_without, engine.arena,
                              &cluster->kit, err);
    if (status == HT_OK)
        status = open_kinds(cluster, err);
    if (status == HT_OK)
        status = start_threads(cluster, err);
    if (status != HT_OK) {
        pods_engine_close();
        return status == HT_INVALID ? status : HT_UNAVAILABLE;
    }
    engine.version = arena_printf(engine.arena, "Kubernetes %d.%d",
                                  cluster->fields.major, cluster->fields.minor);
    log_event(LOG_INFO, "engine.open", "version=\"%s\" at=%s namespace=%s",
              engine.version, cluster->config.server,
              cluster->config.namespace);
    return HT_OK;
}

static struct engine_abilities pods_engine_abilities(void)
{
    return (struct engine_abilities){.version = engine.version, .gpus = true};
}

static enum ht_status pods_engine_address(const struct site *site,
                                          const struct order *order,
                                          size_t replica, const char **address,
                                          int *claim, struct ht_error *err)
{
    (void)site;
    (void)err;
    *address = arena_printf(order->arena, "%s:%d",
                            pod_host(order->arena, order, replica), POD_PORT);
    *claim = -1;
    return HT_OK;
}

/* ---- studies: a pod is made for each slot that one wants ---- */

static struct study *study_of(int64_t number)
{
    struct study *study = engine.studies;
    while (study != NULL && study->number != number)
        study = study->next;
    if (study == NULL) {
        study = ht_xcalloc(1, sizeof *study);
        study->number = number;
        study->next = engine.studies;
        engine.studies = study;
    }
    return study;
}

static void add_run(int64_t study, struct pod_run *run)
{
    struct study *of = study_of(study);
    run->next = of->first;
    of->first = run;
}

static void drop_run(int64_t study, struct pod_run *run)
{
    struct pod_run **link = &study_of(study)->first;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
}

static void drop_idle_studies(void)
{
    for (struct study **link = &engine.studies; *link != NULL;) {
        struct study *study = *link;
        if (study->wanted > 0 || study->first != NULL) {
            link = &study->next;
        } else {
            *link = study->next;
            free(study);
        }
    }
}

static void pods_engine_want(const struct engine_wanted *wanted, size_t n)
{
    for (struct study *study = engine.studies; study != NULL;
         study = study->next)
        study->wanted = 0;
    for (size_t i = 0; i < n; i++) {
        struct study *study = study_of(wanted[i].study);
        study->wanted = wanted[i].slots;
        (void)snprintf(study->need, sizeof study->need, "%s", wanted[i].need);
    }
    drop_idle_studies();
}

static int64_t pods_engine_tick(int64_t now_ms)
{
    return now_ms + LOOK_MS;
}

static struct engine_slots slots_of(const struct study *study,
                                    struct arena *arena, int64_t *room)
{
    struct engine_slots slots = {.study = study->number,
                                 .wanted = study->wanted};
    if (study->need[0] != '\0')
        slots.need = arena_strdup(arena, study->need);
    for (struct pod_run *run = study->first; run != NULL; run = run->next) {
        const bool begun = pod_run_is_started(run);
        slots.run += begun;
        slots.wait += !begun;
        if (!begun && slots.why == NULL)
            slots.why = pod_run_why(run, arena);
    }
    const int64_t lacks = study->wanted - slots.run - slots.wait;
    const int64_t asking = lacks < *room ? lacks : *room;
    slots.asking = asking > 0 ? (int)asking : 0;
    *room -= slots.asking;
    return slots;
}

static size_t count_objects(const struct pod_run *run)
{
    return run->n_objects > 0
               ? run->n_objects
               : pod_objects_count(run->order, engine.cluster.job_sets);
}

/* How many objects may still be made; *runs is reduced by each attempt. Those
 * of attempts that have none yet count for the question alone. */
static int64_t find_room(bool asked, int64_t *runs)
{
    int64_t room = engine.cluster.site->kube_max_jobs;
    for (struct study *study = engine.studies; study != NULL;
         study = study->next)
        for (struct pod_run *run = study->first; run != NULL; run = run->next) {
            --*runs;
            if (asked || run->n_objects > 0 || pod_run_is_made(run))
                room -= (int64_t)count_objects(run);
        }
    return room;
}

static size_t pods_engine_look(struct arena *arena,
                               const struct engine_slots **slots)
{
    size_t n = 0;
    int64_t room = engine.cluster.site->slots;
    struct engine_slots *items = NULL;
    const int64_t objects = find_room(true, &room);
    room = objects < room ? objects : room;
    for (struct study *study = engine.studies; study != NULL;
         study = study->next) {
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = slots_of(study, arena, &room);
    }
    *slots = items;
    return n;
}

static const struct engine_elastic elastic = {.tick = pods_engine_tick,
                                              .look = pods_engine_look,
                                              .want = pods_engine_want};

/* ---- an attempt ---- */

/* The shim adds the image's own environment and finds its PATH. */
static struct replica_view view_of(struct arena *arena,
                                   const struct order *order, size_t replica,
                                   const struct image *image)
{
    const struct image words = {.entrypoint = image->entrypoint,
                                .command = image->command};
    struct replica_view view = replica_view_of_container(
        arena, engine.cluster.site, order, replica, &words, NULL);
    const char *kit = engine.cluster.kit;
    view.workdir = order->replicas[replica].workdir;
    view.own_accounts = true;
    view.kit = kit != NULL ? arena_printf(arena, POD_ROOT "/%s", kit) : NULL;
    view.programs =
        kit != NULL ? arena_printf(arena, POD_ROOT "/%s/bin", kit) : NULL;
    return view;
}

/* Its image where the entry point begins the trial; else only a name. */
static enum registry_state find_image(const struct order *order,
                                      const struct replica_order *replica,
                                      struct image *image,
                                      char words[HT_MAX_REASON])
{
    *image = (struct image){.id = NULL};
    if (replica->entry_words > 0)
        return REGISTRY_READ;
    struct arena *arena = arena_new();
    const enum registry_state state =
        registry_reader_look(engine.cluster.reader, replica->image,
                             pull_scope(arena, order), image, words);
    arena_free(arena);
    if (state != REGISTRY_READ ||
        image->entrypoint.n + image->command.n + replica->argv.n > 0)
        return state;
    (void)snprintf(words, HT_MAX_REASON,
                   "image %s has no entry point: say `command` in the spec",
                   replica->image);
    return REGISTRY_REFUSED;
}

static enum ht_status prepare(const struct engine_place *place,
                              const struct image *images, struct ht_error *err)
{
    const struct order *order = place->order;
    const struct pod_run *run = place->data;
    if (prepare_is_complete(order, place->folder))
        return HT_OK;
    struct arena *arena = arena_new();
    struct replica_view *views =
        arena_alloc(arena, order->n_replicas, sizeof *views);
    for (size_t i = 0; i < order->n_replicas; i++)
        views[i] = run->by_log ? by_log_view(order, i)
                               : view_of(arena, order, i, &images[i]);
    const enum ht_status status = prepare_replicas(
        place->site, order, place->placement, place->folder, views, err);
    arena_free(arena);
    return status;
}

/* False: one is not there yet, or never will be, as *status says. Where the
 * registry does not let this runner in, `why` has the words. */
static bool find_images(struct pod_run *run, struct image *images,
                        char why[HT_MAX_REASON], enum ht_status *status,
                        struct ht_error *err)
{
    char words[HT_MAX_REASON];
    const struct order *order = run->order;
    *status = HT_OK;
    for (size_t i = 0; i < order->n_replicas; i++) {
        const enum registry_state state =
            find_image(order, &order->replicas[i], &images[i], words);
        if (state == REGISTRY_REFUSED)
            *status = ht_fail(err, HT_PRECONDITION, "%s", words);
        else if (state == REGISTRY_WAITS)
            pod_run_say(run, i, words);
        else if (state == REGISTRY_CLOSED)
            (void)snprintf(why, HT_MAX_REASON, "%s", words);
        if (state == REGISTRY_REFUSED || state == REGISTRY_WAITS)
            return false;
    }
    return true;
}

/* Chooses the way, once all is known for it; false: it is not, or there is
 * none, as *status says. `why` it is read by its log, "": it is not. */
static bool choose_way(struct pod_run *run, struct image *images,
                       char why[HT_MAX_REASON], enum ht_status *status,
                       struct ht_error *err)
{
    *status = HT_OK;
    if (pod_run_is_made(run) || run->by_log)
        return true;
    const struct pod_template *template = run->judge.template;
    if (template != NULL && template->n == 0)
        (void)snprintf(why, HT_MAX_REASON,
                       "the pods of a %s are its operator's",
                       template->kind.kind);
    else if (engine.cluster.no_exec)
        (void)snprintf(why, HT_MAX_REASON,
                       "the runner has no right to pods/exec (`hypertune "
                       "doctor` prints the Role)");
    else if (!find_images(run, images, why, status, err))
        return false;
    if (why[0] == '\0')
        return true;
    *status = by_log_check(run->order, why, err);
    if (*status == HT_OK)
        *status = by_log_mark(run->folder, err);
    run->by_log = *status == HT_OK;
    return run->by_log;
}

/* Another attempt's end makes some. */
static bool has_room(struct pod_run *run)
{
    int64_t runs = 0;
    char words[HT_MAX_REASON];
    const size_t n = count_objects(run);
    if (pod_run_is_made(run) || (int64_t)n <= find_room(false, &runs))
        return true;
    (void)snprintf(words, sizeof words,
                   "it needs %zu of the %lld objects that its runner may have "
                   "in the cluster (--kubernetes-max-jobs)",
                   n, (long long)engine.cluster.site->kube_max_jobs);
    pod_run_say(run, 0, words);
    return false;
}

/* Makes the pods once all that they run is known. */
static enum ht_status begin(struct engine_place *place, struct ht_error *err)
{
    struct pod_run *run = place->data;
    if (!has_room(run))
        return HT_OK;
    char why[HT_MAX_REASON] = "";
    enum ht_status status;
    struct arena *arena = arena_new();
    struct image *images =
        arena_alloc(arena, place->order->n_replicas, sizeof *images);
    const bool chosen = choose_way(run, images, why, &status, err);
    if (chosen)
        status = prepare(place, images, err);
    if (chosen && status == HT_OK) {
        if (why[0] != '\0')
            folder_log_line(run->replicas.items[0].folder,
                            "%s: the trial is read by its log", why);
        pod_run_make(run, images,
                     run->by_log ? by_log_variables(arena, place) : NULL);
    }
    arena_free(arena);
    return status;
}

static enum engine_bringing pods_engine_bring(struct engine_place *place,
                                              const char *below,
                                              struct ht_error *err)
{
    return pod_run_bring(place->data, below, err);
}

static void pods_engine_remove(struct engine_place *place)
{
    if (place->data == NULL)
        return;
    drop_run(place->order->key.study, place->data);
    pod_run_remove(place->data);
    place->data = NULL;
}

static enum ht_status pods_engine_start(struct engine_place *place,
                                        struct ht_error *err)
{
    enum ht_status status = rules_check(place->site, place->order, err);
    if (status == HT_OK)
        status = pod_check(place->order, err);
    if (status != HT_OK || place->data != NULL)
        return status;
    place->data = pod_run_new(&engine.cluster, place);
    add_run(place->order->key.study, place->data);
    status = begin(place, err);
    if (status != HT_OK)
        pods_engine_remove(place);
    return status;
}

static enum engine_state pods_engine_poll(struct engine_place *place,
                                          struct ending *ending)
{
    struct ht_error err;
    struct pod_run *run = place->data;
    if (pod_run_is_idle(run) && begin(place, &err) != HT_OK)
        pod_run_fail(run, &err);
    return pod_run_poll(run, place, ending);
}

static void pods_engine_stop(struct engine_place *place,
                             const struct stop_order *order)
{
    pod_run_stop(place->data, order);
}

static bool pods_engine_is_started(const struct engine_place *place)
{
    return place->data != NULL && pod_run_is_started(place->data);
}

static struct engine_facts pods_engine_facts(const struct engine_place *place)
{
    (void)place;
    return (struct engine_facts){.known = true};
}

const struct engine engine_kubernetes = {
    .name = "kubernetes",
    .images = true,
    .elastic = &elastic,
    .open = pods_engine_open,
    .close = pods_engine_close,
    .abilities = pods_engine_abilities,
    .address = pods_engine_address,
    .start = pods_engine_start,
    .poll = pods_engine_poll,
    .bring = pods_engine_bring,
    .stop = pods_engine_stop,
    .remove = pods_engine_remove,
    .is_started = pods_engine_is_started,
    .facts = pods_engine_facts,
};
