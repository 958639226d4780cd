#include "runner/pods/maker.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/doc/node.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/follow.h"
#include "runner/pods/kinds.h"
#include "runner/pods/line.h"
#include "runner/pods/pods.h"
#include "runner/pods/reason.h"
#include "runner/pods/shape.h"

enum { SWEEP_MS = 30000 };

typedef enum ht_status action(struct maker *maker, struct maker_task *task,
                              struct ht_error *err);

struct maker_task {
    struct maker_task *next;
    action *act;
    bool kept; /* until maker_leave(); else it is freed once it is done */
    struct arena *arena; /* of itself, too */
    const char *attempt;
    struct maker_object *objects;
    size_t n, done;
    bool lost;               /* of a question */
    struct pod_line **lines; /* of a removal */
    struct pod_follow **logs;
    const char **pods;
    size_t n_pods;
    struct pods *watch;
    int failures;
    int64_t try_at; /* monotonic */
    /* Guarded by the lock. */
    bool left; /* a result is of no use any more */
    enum maker_state state;
    char words[HT_MAX_REASON];
};

struct maker {
    struct maker_settings settings;
    struct kube *kube;
    struct arena *arena;
    const char *selector;
    int64_t sweep_at;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool stopping;
    struct maker_task *first; /* in the order in which they came */
};

static void close_ways(struct maker_task *task, size_t i)
{
    pods_close(task->watch);
    task->watch = NULL;
    pod_line_close(task->lines[i]);
    pod_follow_close(task->logs[i]);
    task->lines[i] = NULL;
    task->logs[i] = NULL;
}

static void free_task(struct maker_task *task)
{
    for (size_t i = 0; i < task->n_pods; i++)
        close_ways(task, i);
    arena_free(task->arena);
}

/* ---- objects ---- */

static bool is_of(const struct maker *maker, const struct maker_task *task,
                  const struct node *object)
{
    const struct node *labels =
        node_find(node_find(object, "metadata"), "labels");
    return strcmp(node_get_string(labels, POD_LABEL_RUNNER, ""),
                  maker->settings.runner) == 0 &&
           strcmp(node_get_string(labels, POD_LABEL_ATTEMPT, ""),
                  task->attempt) == 0;
}

/* The name is taken: by an earlier try of ours? */
static enum ht_status find_own(struct maker *maker,
                               const struct maker_task *task,
                               const struct kube_object *object,
                               struct arena *arena, struct ht_error *err)
{
    const struct node *found;
    const enum ht_status status =
        kube_get(maker->kube, object, arena, &found, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND
                   ? ht_fail(err, HT_UNAVAILABLE, "%s is being removed",
                             object->name)
                   : status;
    if (node_find(node_find(found, "metadata"), "deletionTimestamp") != NULL)
        return ht_fail(err, HT_UNAVAILABLE, "%s is being removed",
                       object->name);
    return is_of(maker, task, found)
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "there is already a %s of this name, which is not "
                         "this runner's: %s",
                         object->kind->plural, object->name);
}

/* Where it is in the cluster. */
static enum ht_status place_of(const struct maker *maker,
                               const struct maker_object *object,
                               struct kube_object *place, struct ht_error *err)
{
    *place = (struct kube_object){.kind = object->kind,
                                  .namespace = maker->settings.namespace,
                                  .name = object->name};
    return object->kind != NULL
               ? HT_OK
               : kinds_find(maker->settings.kinds, maker->kube,
                            &object->foreign, &place->kind, err);
}

static enum ht_status make_one(struct maker *maker,
                               const struct maker_task *task,
                               const struct maker_object *object,
                               struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *answer;
    struct kube_object place;
    enum ht_status status = place_of(maker, object, &place, err);
    const struct kube_creation creation = {
        .kind = place.kind, .namespace = place.namespace, .json = object->json};
    if (status == HT_OK)
        status = kube_create(maker->kube, &creation, arena, &answer, err);
    if (status == HT_EXISTS)
        status = find_own(maker, task, &place, arena, err);
    arena_free(arena);
    return status;
}

static enum ht_status remove_named(struct maker *maker,
                                   const struct kube_kind *kind,
                                   const char *name, const char *uid,
                                   int grace_s, struct ht_error *err)
{
    const enum ht_status status = kube_remove(
        maker->kube,
        &(struct kube_object){
            .kind = kind, .namespace = maker->settings.namespace, .name = name},
        &(struct kube_delete){.uid = uid, .grace_s = grace_s}, err);
    return status == HT_NOT_FOUND || status == HT_CONFLICT ? HT_OK : status;
}

/* ---- tasks ---- */

static enum ht_status make_all(struct maker *maker, struct maker_task *task,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    while (status == HT_OK && task->done < task->n) {
        status = make_one(maker, task, &task->objects[task->done], err);
        task->done += status == HT_OK;
    }
    return status;
}

/* Of a kind that the cluster does not have any more there is none. */
static enum ht_status remove_object(struct maker *maker,
                                    const struct maker_object *object,
                                    struct ht_error *err)
{
    struct kube_object place;
    const enum ht_status status = place_of(maker, object, &place, err);
    if (status == HT_PRECONDITION)
        return HT_OK;
    return status == HT_OK
               ? remove_named(maker, place.kind, place.name, NULL, -1, err)
               : status;
}

static enum ht_status remove_all(struct maker *maker, struct maker_task *task,
                                 struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < task->n_pods; i++) {
        close_ways(task, i);
        if (status == HT_OK && task->pods[i] != NULL)
            status =
                remove_named(maker, &kube_pods, task->pods[i], NULL, 0, err);
    }
    for (size_t i = 0; status == HT_OK && i < task->n; i++)
        status = remove_object(maker, &task->objects[i], err);
    return status;
}

static enum ht_status read_reason(struct maker *maker, struct maker_task *task,
                                  const struct node *top, struct arena *arena,
                                  struct ht_error *err)
{
    const char **names = arena_alloc(arena, task->n, sizeof *names);
    const char *words = "";
    for (size_t i = 0; i < task->n; i++)
        names[i] = task->objects[i].name;
    const struct reason_wish wish = {.namespace = maker->settings.namespace,
                                     .top = top,
                                     .names = {task->n, names},
                                     .lost = task->lost};
    const enum ht_status status =
        reason_find(maker->kube, &wish, arena, &words, err);
    if (status != HT_OK)
        return status;
    pthread_mutex_lock(&maker->lock);
    (void)snprintf(task->words, sizeof task->words, "%s", words);
    pthread_mutex_unlock(&maker->lock);
    return HT_OK;
}

static const char *kind_word(const struct maker_object *object)
{
    if (object->kind == NULL)
        return object->foreign.kind;
    return object->kind == &kube_jobs ? "Job" : "JobSet";
}

static enum ht_status ask_why(struct maker *maker, struct maker_task *task,
                              struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *job = NULL;
    struct kube_object place;
    enum ht_status status = place_of(maker, &task->objects[0], &place, err);
    if (status == HT_OK)
        status = kube_get(maker->kube, &place, arena, &job, err);
    const bool gone =
        status == HT_NOT_FOUND ||
        (status == HT_OK && !is_of(maker, task, job)) ||
        (status == HT_OK &&
         node_find(node_find(job, "metadata"), "deletionTimestamp") != NULL);
    if (gone)
        status = ht_fail(err, HT_PRECONDITION, "its %s was deleted",
                         kind_word(&task->objects[0]));
    if (status == HT_OK)
        status = read_reason(maker, task, job, arena, err);
    arena_free(arena);
    return status;
}

/* Whether the answer can change without us. */
static bool is_final(enum ht_status status)
{
    return status == HT_OK || status == HT_INVALID || status == HT_TOO_LARGE ||
           status == HT_NO_METHOD || status == HT_PRECONDITION;
}

/* The lock is held. */
static void unlink_task(struct maker *maker, struct maker_task *task)
{
    struct maker_task **link = &maker->first;
    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
}

/* The lock is held. */
static void settle(struct maker *maker, struct maker_task *task,
                   enum ht_status status, const struct ht_error *err)
{
    if (status != HT_OK)
        (void)snprintf(task->words, sizeof task->words, "%s", err->text);
    if (!is_final(status)) {
        task->try_at = clock_monotonic_ms() + kube_backoff_ms(++task->failures);
        return;
    }
    task->state = status == HT_OK ? MAKER_DONE : MAKER_REFUSED;
    unlink_task(maker, task);
    if (!task->kept)
        free_task(task);
}

static void carry_out(struct maker *maker, struct maker_task *task)
{
    struct ht_error err = {.status = HT_OK};
    const enum ht_status status = task->act(maker, task, &err);
    if (status != HT_OK)
        log_event(LOG_WARN, "pods.refused", "attempt=%s reason=\"%s\"",
                  task->attempt, err.text);
    pthread_mutex_lock(&maker->lock);
    settle(maker, task, status, &err);
    pthread_mutex_unlock(&maker->lock);
}

/* ---- what is left over ---- */

struct sweep {
    struct maker *maker;
    const struct kube_kind *kind;
    struct arena *arena;
    size_t n;
    struct leftover {
        const char *name, *uid;
    } * items;
};

static bool note_leftover(void *context, const struct node *item)
{
    struct sweep *sweep = context;
    const struct maker_settings *settings = &sweep->maker->settings;
    const struct node *meta = node_find(item, "metadata");
    const char *attempt =
        node_get_string(node_find(meta, "labels"), POD_LABEL_ATTEMPT, "");
    if (settings->keeps(attempt) ||
        node_find(meta, "deletionTimestamp") != NULL)
        return true;
    sweep->items =
        arena_grow(sweep->arena, sweep->items, sweep->n, sizeof *sweep->items);
    sweep->items[sweep->n++] = (struct leftover){
        .name = arena_strdup(sweep->arena, node_get_string(meta, "name", "")),
        .uid = arena_strdup(sweep->arena, node_get_string(meta, "uid", ""))};
    return true;
}

static void sweep_kind(struct maker *maker, const struct kube_kind *kind)
{
    struct ht_error err;
    const char *version = "";
    struct arena *arena = arena_new();
    struct sweep sweep = {.maker = maker, .kind = kind, .arena = arena};
    const struct kube_list all = {.kind = kind,
                                  .namespace = maker->settings.namespace,
                                  .selector = maker->selector,
                                  .each = note_leftover,
                                  .context = &sweep};
    enum ht_status status = kube_list(maker->kube, &all, arena, &version, &err);
    for (size_t i = 0; status == HT_OK && i < sweep.n; i++) {
        log_event(LOG_INFO, "pods.left_over", "kind=%s name=%s", kind->plural,
                  sweep.items[i].name);
        status = remove_named(maker, kind, sweep.items[i].name,
                              sweep.items[i].uid, -1, &err);
    }
    if (status != HT_OK && !kube_is_aborted(maker->kube))
        log_event(LOG_WARN, "pods.not_swept", "kind=%s reason=\"%s\"",
                  kind->plural, err.text);
    arena_free(arena);
}

static void sweep_foreign(struct maker *maker)
{
    struct ht_error err;
    struct kube_kind_name name;
    struct kinds *kinds = maker->settings.kinds;
    for (size_t i = 0; kinds_name(kinds, i, &name); i++) {
        const struct kube_kind *kind;
        const enum ht_status status =
            kinds_find(kinds, maker->kube, &name, &kind, &err);
        if (status == HT_OK)
            sweep_kind(maker, kind);
        else if (status != HT_PRECONDITION && !kube_is_aborted(maker->kube))
            log_event(LOG_WARN, "pods.not_swept", "kind=%s reason=\"%s\"",
                      name.kind, err.text);
    }
}

static void sweep_all(struct maker *maker)
{
    sweep_kind(maker, &kube_jobs);
    sweep_kind(maker, &kube_services);
    if (maker->settings.job_sets)
        sweep_kind(maker, &kube_job_sets);
    sweep_foreign(maker);
    maker->sweep_at = clock_monotonic_ms() + SWEEP_MS;
}

/* ---- the thread ---- */

/* The first task that is due; else *wait_ms until one is. The lock is held. */
static struct maker_task *find_due(const struct maker *maker, int64_t *wait_ms)
{
    const int64_t now = clock_monotonic_ms();
    int64_t first = maker->sweep_at;
    for (struct maker_task *task = maker->first; task != NULL;
         task = task->next) {
        if (task->try_at <= now)
            return task;
        if (task->try_at < first)
            first = task->try_at;
    }
    *wait_ms = first > now ? first - now : 0;
    return NULL;
}

static void *work(void *context)
{
    struct maker *maker = context;
    pthread_mutex_lock(&maker->lock);
    while (!maker->stopping) {
        int64_t wait_ms = 0;
        struct maker_task *task = find_due(maker, &wait_ms);
        if (task == NULL && wait_ms > 0) {
            const struct timespec until = clock_in_ms(wait_ms);
            pthread_cond_timedwait(&maker->changed, &maker->lock, &until);
            continue;
        }
        if (task != NULL && task->left) {
            unlink_task(maker, task);
            free_task(task);
            continue;
        }
        pthread_mutex_unlock(&maker->lock);
        if (task != NULL)
            carry_out(maker, task);
        else
            sweep_all(maker);
        pthread_mutex_lock(&maker->lock);
    }
    pthread_mutex_unlock(&maker->lock);
    return NULL;
}

enum ht_status maker_start(const struct maker_settings *settings,
                           struct maker **maker, struct ht_error *err)
{
    struct maker *made = ht_xcalloc(1, sizeof *made);
    *made = (struct maker){.settings = *settings,
                           .kube = kube_new_beside(settings->kube),
                           .arena = arena_new()};
    made->selector =
        arena_printf(made->arena, POD_LABEL_RUNNER "=%s", settings->runner);
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->changed);
    const int code = pthread_create(&made->thread, NULL, work, made);
    if (code == 0) {
        *maker = made;
        return HT_OK;
    }
    kube_free(made->kube);
    arena_free(made->arena);
    free(made);
    return ht_fail_errno(err, code, "cannot start a thread");
}

void maker_stop(struct maker *maker)
{
    if (maker == NULL)
        return;
    pthread_mutex_lock(&maker->lock);
    maker->stopping = true;
    pthread_cond_signal(&maker->changed);
    pthread_mutex_unlock(&maker->lock);
    kube_abort(maker->kube);
    pthread_join(maker->thread, NULL);
    while (maker->first != NULL) {
        struct maker_task *task = maker->first;
        maker->first = task->next;
        free_task(task);
    }
    pthread_cond_destroy(&maker->changed);
    pthread_mutex_destroy(&maker->lock);
    kube_free(maker->kube);
    arena_free(maker->arena);
    free(maker);
}

/* ---- the supervising thread ---- */

static struct kube_kind_name copy_name(struct arena *arena,
                                       const struct kube_kind_name *name)
{
    if (name->kind == NULL)
        return *name;
    return (struct kube_kind_name){arena_strdup(arena, name->api_version),
                                   arena_strdup(arena, name->kind)};
}

static struct maker_task *new_task(const char *attempt,
                                   const struct maker_object *objects, size_t n)
{
    struct arena *arena = arena_new();
    struct maker_task *task = arena_alloc(arena, 1, sizeof *task);
    task->arena = arena;
    task->attempt = arena_strdup(arena, attempt);
    task->n = n;
    task->objects = arena_alloc(arena, n + 1, sizeof *task->objects);
    for (size_t i = 0; i < n; i++) {
        const char *json = objects[i].json;
        task->objects[i] = (struct maker_object){
            .kind = objects[i].kind,
            .foreign = copy_name(arena, &objects[i].foreign),
            .name = arena_strdup(arena, objects[i].name),
            .json = json != NULL ? arena_strdup(arena, json) : NULL};
    }
    return task;
}

static void add(struct maker *maker, struct maker_task *task)
{
    pthread_mutex_lock(&maker->lock);
    struct maker_task **link = &maker->first;
    while (*link != NULL)
        link = &(*link)->next;
    *link = task;
    pthread_cond_signal(&maker->changed);
    pthread_mutex_unlock(&maker->lock);
}

struct maker_task *maker_make(struct maker *maker, const char *attempt,
                              const struct maker_object *objects, size_t n)
{
    struct maker_task *task = new_task(attempt, objects, n);
    task->act = make_all;
    task->kept = true;
    add(maker, task);
    return task;
}

struct maker_task *maker_ask(struct maker *maker,
                             const struct maker_question *question)
{
    struct maker_task *task =
        new_task(question->attempt, question->objects, question->n);
    task->act = ask_why;
    task->lost = question->lost;
    task->kept = true;
    add(maker, task);
    return task;
}

enum maker_state maker_look(struct maker *maker, const struct maker_task *task,
                            char words[HT_MAX_REASON])
{
    pthread_mutex_lock(&maker->lock);
    const enum maker_state state = task->state;
    memcpy(words, task->words, HT_MAX_REASON);
    pthread_mutex_unlock(&maker->lock);
    return state;
}

void maker_leave(struct maker *maker, struct maker_task *task)
{
    if (task == NULL)
        return;
    pthread_mutex_lock(&maker->lock);
    const bool over = task->state != MAKER_WAITS;
    task->kept = false;
    task->left = true;
    task->try_at = 0;
    pthread_cond_signal(&maker->changed);
    pthread_mutex_unlock(&maker->lock);
    if (over)
        free_task(task);
}

void maker_remove(struct maker *maker, const struct maker_removal *removal)
{
    struct maker_task *task =
        new_task(removal->attempt, removal->objects, removal->n);
    task->act = remove_all;
    task->n_pods = removal->n_pods;
    task->watch = removal->watch;
    task->lines = arena_alloc(task->arena, removal->n_pods + 1,
                              sizeof(struct pod_line *));
    task->logs = arena_alloc(task->arena, removal->n_pods + 1,
                             sizeof(struct pod_follow *));
    task->pods =
        arena_alloc(task->arena, removal->n_pods + 1, sizeof *task->pods);
    for (size_t i = 0; i < removal->n_pods; i++) {
        const char *pod = removal->pods[i];
        task->lines[i] = removal->lines[i];
        task->logs[i] = removal->logs[i];
        task->pods[i] = pod != NULL ? arena_strdup(task->arena, pod) : NULL;
        if (task->lines[i] != NULL)
            pod_line_stop(task->lines[i]);
        if (task->logs[i] != NULL)
            pod_follow_stop(task->logs[i]);
    }
    add(maker, task);
}
