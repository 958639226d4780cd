#include "runner/pods/run.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replicas.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/json.h"
#include "runner/base/safe_path.h"
#include "runner/base/site.h"
#include "runner/far/far.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/attempt_objects.h"
#include "runner/pods/by_log.h"
#include "runner/pods/finish.h"
#include "runner/pods/follow.h"
#include "runner/pods/line.h"
#include "runner/pods/logs.h"
#include "runner/pods/maker.h"
#include "runner/pods/pods.h"
#include "runner/pods/shape.h"

enum {
    SILENT_MS = 5000,     /* for its first connection, without a word */
    KILL_EXTRA_MS = 10000 /* for the shim, after the trainer's grace */
};

enum { NO_POD_MS = 3000, ASK_MS = 10000 }; /* before it is asked why */
enum { LOSS_MS = 5000 };                   /* for the answer about a loss */

static const char mark_made[] = "made";
static const char bound_file[] = "pod.json";

/* ---- begin ---- */

static void read_bound(struct arena *arena, struct pod_member *member,
                       const char *folder)
{
    const struct node *map;
    if (disk_read_json(arena, folder, bound_file, &map, NULL) != HT_OK)
        return;
    member->uid = node_get_string(map, "uid", NULL);
    member->pod = node_get_string(map, "name", NULL);
}

static void bind(struct pod_run *run, size_t i, const struct pod_seen *seen)
{
    struct ht_error err;
    struct text out = {0};
    struct pod_member *member = &run->members[i];
    json_open(&out, NULL);
    json_put_string(&out, "uid", seen->uid);
    json_put_string(&out, "name", seen->name);
    json_close(&out);
    if (disk_write(run->replicas.items[i].folder, bound_file, out.data, out.len,
                   FOLDER_FILE_MODE, &err) == HT_OK) {
        member->uid = arena_strdup(run->order->arena, seen->uid);
        member->pod = arena_strdup(run->order->arena, seen->name);
        log_event(LOG_INFO, "attempt.bound", "name=%s replica=%s pod=%s",
                  run->order->name, member->name, seen->name);
    } else {
        log_event(LOG_WARN, "attempt.not_bound", "name=%s reason=\"%s\"",
                  run->order->name, err.text);
    }
    text_free(&out);
}

/* pod_check() has found no fault in it. */
static void read_template(struct pod_run *run)
{
    struct arena *arena = run->order->arena;
    struct pod_template *template = arena_alloc(arena, 1, sizeof *template);
    if (run->order->kubernetes.template == NULL ||
        pod_template_read(arena, &run->order->kubernetes, template, NULL) !=
            HT_OK)
        return;
    run->judge.template = template;
    run->container =
        template->n > 0 ? template->primary.name : template->sought.container;
    if (template->n == 0)
        run->pods = NULL;
}

/* Pods that an operator makes have none of our labels. */
static void seek_pods(struct pod_run *run)
{
    struct ht_error err;
    struct text selector = {0};
    const struct kube_sought *sought = &run->judge.template->sought;
    text_printf(&selector, "%s=%s", sought->name_label, run->order->name);
    for (size_t i = 0; i < sought->labels.n; i++)
        text_printf(&selector, ",%s=%s", sought->labels.items[i].name,
                    sought->labels.items[i].value);
    const struct pods_settings settings = {.kube = run->cluster->kube,
                                           .namespace =
                                               run->cluster->config.namespace,
                                           .selector = selector.data,
                                           .attempt = run->label,
                                           .replica = run->members[0].name,
                                           .container = run->container};
    if (pods_open(&settings, &run->pods, &err) != HT_OK)
        log_event(LOG_WARN, "attempt.not_seen", "name=%s reason=\"%s\"",
                  run->order->name, err.text);
    text_free(&selector);
}

/* Before they are prepared there is something to say. */
static void make_folders(const struct engine_place *place)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < place->order->n_replicas; i++)
        (void)disk_make_folder(
            prepare_replica_folder(arena, place->folder,
                                   &place->order->replicas[i]),
            NULL);
    arena_free(arena);
}

struct pod_run *pod_run_new(const struct pod_cluster *cluster,
                            struct engine_place *place)
{
    const struct order *order = place->order;
    struct arena *arena = order->arena;
    struct pod_run *run = arena_alloc(arena, 1, sizeof *run);
    *run = (struct pod_run){.cluster = cluster,
                            .order = order,
                            .folder = place->folder,
                            .label = pod_attempt_label(arena, &order->key)};
    run->container = POD_CONTAINER;
    run->pods = cluster->pods;
    read_template(run);
    run->by_log = by_log_is_marked(place->folder);
    make_folders(place);
    replicas_init(&run->replicas, place);
    run->outputs = pod_outputs_of(place, run->replicas.items[0].folder);
    run->members = arena_alloc(arena, order->n_replicas, sizeof *run->members);
    for (size_t i = 0; i < order->n_replicas; i++) {
        run->members[i] = (struct pod_member){.name = order->replicas[i].name};
        read_bound(arena, &run->members[i], run->replicas.items[i].folder);
    }
    return run;
}

bool pod_run_is_made(const struct pod_run *run)
{
    return disk_has(run->folder, mark_made);
}

bool pod_run_is_idle(const struct pod_run *run)
{
    return run->n_objects == 0 && !run->removed &&
           !run->replicas.items[0].ended;
}

void pod_run_make(struct pod_run *run, const struct image *images,
                  const struct pairs *variables)
{
    const struct pod_shape shape = {.site = run->cluster->site,
                                    .order = run->order,
                                    .fields = &run->cluster->fields,
                                    .shim = &run->cluster->shim,
                                    .images = images,
                                    .variables = variables,
                                    .template = run->judge.template,
                                    .job_sets = run->cluster->job_sets};
    run->objects = pod_objects(run->order->arena, &shape, &run->n_objects);
    if (!pod_run_is_made(run))
        run->making = maker_make(run->cluster->maker, run->label, run->objects,
                                 run->n_objects);
}

/* ---- ends ---- */

void pod_run_fail(struct pod_run *run, const struct ht_error *err)
{
    pod_finish_all(
        run, err->status == HT_PRECONDITION ? OUTCOME_FAILED : OUTCOME_LOST,
        err->text);
}

/* ---- a pod that waits ---- */

/* Once for each reason: a scheduler repeats itself. */
void pod_run_say(struct pod_run *run, size_t i, const char *words)
{
    struct pod_member *member = &run->members[i];
    if (words[0] == '\0' || strcmp(words, member->said) == 0)
        return;
    (void)snprintf(member->said, sizeof member->said, "%s", words);
    folder_log_line(run->replicas.items[i].folder, "waits: %s", words);
}

/* Why there is no connection to its pod. */
static void say_fault(struct pod_run *run, size_t i, struct far *far)
{
    char words[FAR_FAULT_BYTES];
    if (clock_monotonic_ms() - run->members[i].line_at < SILENT_MS)
        return;
    far_fault(far, words);
    pod_run_say(run, i, words);
}

/* ---- a pod that runs ---- */

/* What the trial continues from is there before its trainer begins. */
static enum far_state put_checkpoints(const struct pod_run *run,
                                      struct far *far)
{
    const struct site *site = run->cluster->site;
    struct arena *arena = arena_new();
    const char *folder = outputs_checkpoints(arena, site, &run->order->key);
    const enum far_state state =
        run->order->output_dir != NULL || folder == NULL
            ? FAR_READY
            : far_tree(far, folder, safe_path_rest(site->state, folder));
    arena_free(arena);
    return state;
}

static void serve(struct pod_run *run, size_t i)
{
    struct ht_error err;
    struct pod_member *member = &run->members[i];
    const struct pod_cluster *cluster = run->cluster;
    if (member->line == NULL) {
        const struct pod_line_settings settings = {
            .site = cluster->site,
            .kube = cluster->kube,
            .namespace = cluster->config.namespace,
            .pod = member->pod,
            .container = run->container,
            .kit = cluster->kit};
        if (pod_line_open(&settings, &member->line, &err) != HT_OK) {
            log_event(LOG_WARN, "attempt.not_served", "name=%s reason=\"%s\"",
                      run->order->name, err.text);
            return;
        }
        member->line_at = clock_monotonic_ms();
    }
    struct far *far = pod_line_far(member->line);
    far_tick(far);
    if (member->served)
        return;
    if (far_tree(far, cluster->site->kit, cluster->kit) != FAR_READY ||
        put_checkpoints(run, far) != FAR_READY) {
        say_fault(run, i, far);
        return;
    }
    far_watch(far, NAMES_ATTEMPT, run->folder, far_extra(run->order), false);
    member->served = true;
}

/* ---- one replica ---- */

static void look_at_pod(struct pod_run *run, size_t i,
                        const struct pod_seen *seen)
{
    if (seen->end.over && run->by_log)
        pod_logs_settle(run, i, &seen->end);
    else if (seen->end.over)
        pod_finish_settle(run, i, seen);
    else if (seen->waits != NULL)
        pod_run_say(run, i, seen->waits);
    else if (seen->running && !run->removed && run->by_log)
        pod_logs_read(run, i);
    else if (seen->running && !run->removed)
        serve(run, i);
}

/* False: it has none that is known. */
static bool find_pod(const struct pod_run *run, size_t i, struct arena *arena,
                     struct pod_seen *seen)
{
    const struct pod_member *member = &run->members[i];
    const struct pod_wish wish = {
        .attempt = run->label, .replica = member->name, .uid = member->uid};
    return run->pods != NULL && pods_find(run->pods, &wish, arena, seen);
}

/* The cluster takes it away: its object fails with it, and may be seen to have
 * failed before. */
static bool is_preempted(const struct pod_run *run, size_t i,
                         struct arena *arena)
{
    struct pod_seen seen;
    return find_pod(run, i, arena, &seen) && seen.end.preempted;
}

static void look_at_member(struct pod_run *run, size_t i, struct arena *arena)
{
    struct pods *pods = run->pods;
    struct pod_member *member = &run->members[i];
    struct pod_seen seen;
    const bool ended = run->replicas.items[i].ended;
    if (pods == NULL && run->n_objects > 0 && !ended) {
        seek_pods(run);
        pods = run->pods;
    }
    if (replicas_read_exit(&run->replicas, i)) {
        if (!ended && !is_preempted(run, i, arena))
            pod_finish_blame(run, i, &run->replicas.items[i].ending);
        return;
    }
    if (pod_logs_stopped(run, i))
        return;
    if (pods == NULL)
        return;
    if (!find_pod(run, i, arena, &seen)) {
        const struct kube_end gone = kube_end_of(arena, NULL, run->container);
        if (member->uid != NULL && pods_are_known(pods))
            pod_finish_one(run, i, &gone);
        return;
    }
    if (member->uid == NULL)
        bind(run, i, &seen);
    if (member->uid != NULL)
        look_at_pod(run, i, &seen);
}

/* ---- its outputs ---- */

static struct far *outputs_far(const struct pod_run *run)
{
    const struct pod_member *first = &run->members[0];
    return first->served ? pod_line_far(first->line) : NULL;
}

/* Those here change only once all replicas have the ones that they begin with,
 * and at the end all outputs come, in place of one checkpoint. */
enum engine_bringing pod_run_bring(struct pod_run *run, const char *below,
                                   struct ht_error *err)
{
    if (run->outputs.until != 0)
        return ENGINE_BRINGING;
    for (size_t i = 0; i < run->replicas.n; i++)
        if (!run->members[i].served && !run->replicas.items[i].ended)
            return ENGINE_BRINGING;
    return pod_outputs_bring(&run->outputs, outputs_far(run), below, err);
}

/* All replicas have ended. What was never begun has none. */
static bool has_outputs(struct pod_run *run)
{
    struct pod_seen seen;
    const char *why = NULL;
    if (run->outputs.settled || run->removed ||
        !disk_has(run->replicas.items[0].folder, "shim.json"))
        return true;
    struct arena *arena = arena_new();
    if (find_pod(run, 0, arena, &seen)) {
        if (seen.end.over)
            why = "its pod has ended";
        else
            serve(run, 0);
    } else if (pods_are_known(run->pods)) {
        why = "its pod is gone";
    }
    const bool settled =
        pod_outputs_settle(&run->outputs, outputs_far(run), why);
    arena_free(arena);
    return settled;
}

/* ---- the attempt ---- */

static void look_at_making(struct pod_run *run)
{
    char words[HT_MAX_REASON];
    const enum maker_state state =
        maker_look(run->cluster->maker, run->making, words);
    if (state == MAKER_WAITS) {
        pod_run_say(run, 0, words);
        return;
    }
    maker_leave(run->cluster->maker, run->making);
    run->making = NULL;
    if (state == MAKER_DONE)
        (void)disk_mark(run->folder, mark_made, NULL);
    else
        pod_finish_all(run, OUTCOME_FAILED, words);
}

/* The first replica that has had no pod; n: all have. */
static size_t find_unbound(const struct pod_run *run)
{
    size_t i = 0;
    while (i < run->replicas.n &&
           (run->members[i].uid != NULL || run->replicas.items[i].ended))
        i++;
    return i;
}

static void take_why(struct pod_run *run, size_t i)
{
    char words[HT_MAX_REASON];
    struct maker *maker = run->cluster->maker;
    const enum maker_state state = maker_look(maker, run->asking, words);
    if (state == MAKER_WAITS)
        return;
    maker_leave(maker, run->asking);
    run->asking = NULL;
    run->ask_at = clock_monotonic_ms() + ASK_MS;
    if (state == MAKER_REFUSED)
        pod_finish_all(run, OUTCOME_LOST, words);
    else if (i < run->replicas.n)
        pod_run_say(run, i, words);
}

static struct maker_task *ask_of(struct pod_run *run, size_t i, bool lost)
{
    struct maker *maker = run->cluster->maker;
    struct arena *arena = run->order->arena;
    const struct pod_group group = {.type = run->order->replicas[i].type};
    const bool whole = run->cluster->job_sets && run->order->n_replicas > 1;
    const struct maker_object made[] = {
        {.kind = &kube_job_sets, .name = run->order->name},
        {.kind = &kube_jobs, .name = pod_job_name(arena, run->order, &group)}};
    struct maker_question question = {.attempt = run->label,
                                      .objects = whole ? made : made + 1,
                                      .n = 1 + whole,
                                      .lost = lost};
    if (run->judge.template != NULL) {
        question.objects = run->objects;
        question.n = run->n_objects;
    }
    return maker_ask(maker, &question);
}

/* A quota or an admission keeps a Job from having pods, and its deletion keeps
 * it from having any ever. */
static void ask_why(struct pod_run *run)
{
    const size_t i = find_unbound(run);
    const int64_t now = clock_monotonic_ms();
    if (run->asking != NULL) {
        take_why(run, i);
        return;
    }
    if (i == run->replicas.n || run->removed)
        return;
    if (run->ask_at == 0)
        run->ask_at = now + NO_POD_MS;
    if (now < run->ask_at)
        return;
    run->asking = ask_of(run, i, false);
}

/* Kueue takes pods away by suspending what made them, which a pod does not see.
 * False: that is being asked. */
static bool has_loss(struct pod_run *run, struct ending *ending)
{
    char words[HT_MAX_REASON];
    const int64_t now = clock_monotonic_ms();
    if (run->order->kubernetes.queue == NULL || run->removed ||
        run->n_objects == 0 || ending->outcome != OUTCOME_LOST)
        return true;
    if (run->loss == NULL) {
        run->loss = ask_of(run, 0, true);
        run->loss_at = now;
    }
    const enum maker_state state =
        maker_look(run->cluster->maker, run->loss, words);
    if (state == MAKER_WAITS)
        return now - run->loss_at > LOSS_MS;
    if (state == MAKER_DONE && words[0] != '\0')
        (void)snprintf(ending->reason, sizeof ending->reason, "%s", words);
    return true;
}

/* ---- an object from a template ---- */

/* The pod's own end, which may be on its way, says more. */
static bool is_pod_over(const struct pod_run *run, struct arena *arena)
{
    struct pod_seen seen;
    return find_pod(run, 0, arena, &seen) &&
           (seen.end.over || seen.end.preempted);
}

static void look_at_object(struct pod_run *run, struct arena *arena)
{
    char fault[HT_MAX_REASON];
    pod_judge_look(&run->judge, run->cluster->kinds, run->label, fault);
    pod_run_say(run, 0, fault);
    if (pod_judge_is_due(&run->judge) && !is_pod_over(run, arena) &&
        pod_logs_are_done(run))
        pod_finish_all(run, pod_judge_outcome(&run->judge),
                       run->judge.verdict.words);
}

static void put_ours(struct pod_run *run)
{
    for (size_t i = 0; i < run->replicas.n; i++)
        if (run->members[i].served)
            far_put(pod_line_far(run->members[i].line), run->folder);
}

/* The shim had the time to do it. */
static void kill_overdue(struct pod_run *run)
{
    if (run->kill_at != 0 && clock_monotonic_ms() >= run->kill_at)
        pod_run_remove(run);
}

enum engine_state pod_run_poll(struct pod_run *run, struct engine_place *place,
                               struct ending *ending)
{
    struct arena *arena = arena_new();
    if (run->making != NULL)
        look_at_making(run);
    if (run->judge.template != NULL && !run->removed)
        look_at_object(run, arena);
    for (size_t i = 0; i < run->replicas.n; i++)
        look_at_member(run, i, arena);
    pod_logs_time(run);
    if (run->making == NULL && run->n_objects > 0)
        ask_why(run);
    arena_free(arena);
    const enum engine_state state =
        replicas_state(&run->replicas, place, ending);
    if (state == ENGINE_ENDED) {
        if (!has_outputs(run) || !has_loss(run, ending))
            return ENGINE_RUNNING;
        pod_run_remove(run);
        return state;
    }
    if (run->replicas.n > 1)
        put_ours(run); /* an end may stop the others */
    kill_overdue(run);
    return state;
}

void pod_run_stop(struct pod_run *run, const struct stop_order *order)
{
    bool served = false;
    for (size_t i = 0; i < run->replicas.n; i++)
        served |= run->members[i].served;
    if (!served) { /* nothing has begun, or will */
        pod_finish_all(run, OUTCOME_STOPPED, order->reason);
        return;
    }
    replicas_stop(&run->replicas, order);
    put_ours(run);
    const int64_t grace_ms = order->kill ? 0 : run->order->grace_ms;
    const int64_t kill_at = clock_monotonic_ms() + grace_ms + KILL_EXTRA_MS;
    if (run->kill_at == 0 || kill_at < run->kill_at)
        run->kill_at = kill_at;
}

bool pod_run_is_started(struct pod_run *run)
{
    for (size_t i = 0; i < run->replicas.n && !run->begun; i++)
        run->begun = disk_has(run->replicas.items[i].folder, "shim.json") ||
                     pod_follow_has_begun(run->replicas.items[i].folder);
    return run->begun;
}

const char *pod_run_why(const struct pod_run *run, struct arena *arena)
{
    for (size_t i = 0; i < run->replicas.n; i++)
        if (run->members[i].said[0] != '\0')
            return arena_strdup(arena, run->members[i].said);
    return NULL;
}

void pod_run_remove(struct pod_run *run)
{
    struct maker *maker = run->cluster->maker;
    struct arena *arena = run->order->arena;
    const size_t n = run->replicas.n;
    if (run->removed)
        return;
    run->removed = true;
    struct pod_line **lines = arena_alloc(arena, n, sizeof(struct pod_line *));
    struct pod_follow **logs =
        arena_alloc(arena, n, sizeof(struct pod_follow *));
    const char **pods = arena_alloc(arena, n, sizeof *pods);
    for (size_t i = 0; i < n; i++) {
        struct pod_member *member = &run->members[i];
        lines[i] = member->line;
        logs[i] = member->log;
        pods[i] = run->replicas.items[i].ended ? NULL : member->pod;
        if (member->line != NULL)
            far_remove(pod_line_far(member->line), run->folder);
        member->line = NULL;
        member->log = NULL;
        member->served = false;
    }
    struct pods *own_watch = run->pods != run->cluster->pods ? run->pods : NULL;
    maker_leave(maker, run->making);
    maker_leave(maker, run->asking);
    maker_leave(maker, run->loss);
    run->making = run->asking = run->loss = NULL;
    maker_remove(maker, &(struct maker_removal){.attempt = run->label,
                                                .objects = run->objects,
                                                .n = run->n_objects,
                                                .lines = lines,
                                                .logs = logs,
                                                .watch = own_watch,
                                                .pods = pods,
                                                .n_pods = n});
}
