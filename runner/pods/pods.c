#include "runner/pods/pods.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/doc/node.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/objects.h"
#include "runner/kubernetes/watch.h"
#include "runner/pods/shape.h"

#define INDEX "batch.kubernetes.io/job-completion-index"

/* The last state of a pod that is gone stays for so long. */
enum { GONE_MS = 600000 };

struct pod {
    struct pod *next;
    struct arena *arena; /* of its texts, and of itself */
    const char *attempt, *replica;
    struct pod_seen seen;
    bool listed;     /* by the listing under way */
    int64_t gone_at; /* monotonic */
};

struct pods {
    struct pods *next;
    struct arena *arena;
    struct kube *kube;
    struct pods_settings settings; /* in the arena */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    struct pod *first;
    bool known;
    char fault[PODS_FAULT_BYTES];
};

/* As of line.c. */
static struct {
    pthread_mutex_t lock;
    struct pods *first;
} all_pods = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- one pod ---- */

static const struct node *container_status(const struct node *pod,
                                           const char *container)
{
    NODE_EACH (item,
               node_first(node_find(pod, "status"), "containerStatuses")) {
        if (strcmp(node_get_string(item, "name", ""), container) == 0)
            return item;
    }
    return NULL;
}

static const char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

struct who {
    const char *attempt, *replica, *container;
};

/* By its labels; false: it is none of ours. */
static bool read_who(struct arena *arena, const struct node *meta,
                     struct who *who)
{
    const struct node *labels = node_find(meta, "labels");
    const char *type = node_get_string(labels, POD_LABEL_REPLICAS, NULL);
    const char *wrapped = node_get_string(labels, POD_LABEL_CONTAINER, NULL);
    const char *index = node_get_string(node_find(meta, "annotations"), INDEX,
                                        wrapped != NULL ? "0" : NULL);
    who->attempt = node_get_string(labels, POD_LABEL_ATTEMPT, NULL);
    who->container = wrapped != NULL ? wrapped : POD_CONTAINER;
    if (who->attempt == NULL || type == NULL || index == NULL)
        return false;
    who->replica = arena_printf(arena, "%s-%s", type, index);
    return true;
}

/* NULL: it is none of ours. */
static struct pod *read_pod(const struct pods_settings *settings,
                            const struct node *object, const char *before)
{
    const struct node *meta = node_find(object, "metadata");
    const char *uid = node_get_string(meta, "uid", NULL);
    struct who who = {settings->attempt, settings->replica,
                      settings->container};
    struct arena *arena = arena_new();
    if (uid == NULL || (who.attempt == NULL && !read_who(arena, meta, &who))) {
        arena_free(arena);
        return NULL;
    }
    const char *container = who.container;
    const struct node *state =
        node_find(container_status(object, container), "state");
    const struct node *over = node_find(state, "terminated");
    struct pod *pod = arena_alloc(arena, 1, sizeof *pod);
    *pod = (struct pod){
        .arena = arena,
        .attempt = arena_strdup(arena, who.attempt),
        .replica = arena_strdup(arena, who.replica),
        .listed = true,
        .seen = {.name = arena_strdup(arena, node_get_string(meta, "name", "")),
                 .uid = arena_strdup(arena, uid),
                 .running = node_find(state, "running") != NULL,
                 .waits = copy(arena, kube_wait_words(arena, object, before)),
                 .end = kube_end_of(arena, object, container),
                 .message = arena_strdup(
                     arena, node_get_string(over, "message", ""))}};
    return pod;
}

static struct pod **find_uid(struct pods *pods, const char *uid)
{
    struct pod **link = &pods->first;
    while (*link != NULL && strcmp((*link)->seen.uid, uid) != 0)
        link = &(*link)->next;
    return link;
}

static void drop(struct pod **link)
{
    struct pod *pod = *link;
    *link = pod->next;
    arena_free(pod->arena);
}

static void end_gone(struct pod *pod)
{
    if (pod->seen.gone)
        return;
    pod->seen.gone = true;
    pod->gone_at = clock_monotonic_ms();
    pod->seen.running = false;
    const bool preempted = pod->seen.end.preempted;
    if (!pod->seen.end.over)
        pod->seen.end = kube_end_of(pod->arena, NULL, POD_CONTAINER);
    pod->seen.end.preempted = preempted;
}

static void keep(struct pods *pods, const struct node *object, bool gone)
{
    const struct node *meta = node_find(object, "metadata");
    struct pod **link = find_uid(pods, node_get_string(meta, "uid", ""));
    struct pod *was = *link;
    struct pod *now =
        read_pod(&pods->settings, object, was != NULL ? was->seen.waits : NULL);
    if (was != NULL)
        drop(link);
    if (now == NULL)
        return;
    if (gone)
        end_gone(now);
    now->next = pods->first;
    pods->first = now;
}

/* ---- the watch ---- */

static void begin_listing(struct pods *pods)
{
    for (struct pod *pod = pods->first; pod != NULL; pod = pod->next)
        pod->listed = false;
}

static void end_listing(struct pods *pods)
{
    const int64_t now = clock_monotonic_ms();
    for (struct pod **link = &pods->first; *link != NULL;) {
        struct pod *pod = *link;
        if (!pod->listed)
            end_gone(pod);
        if (pod->seen.gone && now - pod->gone_at > GONE_MS)
            drop(link);
        else
            link = &pod->next;
    }
    pods->known = true;
    pods->fault[0] = '\0';
}

static void note_trouble(struct pods *pods, const struct ht_error *trouble)
{
    if (pods->fault[0] == '\0')
        log_event(LOG_WARN, "pods.away", "reason=\"%s\"", trouble->text);
    (void)snprintf(pods->fault, sizeof pods->fault, "%.250s", trouble->text);
}

static bool take(void *context, const struct kube_change *change)
{
    struct pods *pods = context;
    pthread_mutex_lock(&pods->lock);
    switch (change->event) {
    case KUBE_LISTING:
        begin_listing(pods);
        break;
    case KUBE_LISTED:
        end_listing(pods);
        break;
    case KUBE_ITEM:
    case KUBE_ADDED:
    case KUBE_MODIFIED:
    case KUBE_DELETED:
        keep(pods, change->object, change->event == KUBE_DELETED);
        break;
    case KUBE_TROUBLE:
        note_trouble(pods, change->trouble);
        break;
    }
    pthread_mutex_unlock(&pods->lock);
    return true;
}

static void *watch(void *context)
{
    struct pods *pods = context;
    const struct kube_watch all = {.kind = &kube_pods,
                                   .namespace = pods->settings.namespace,
                                   .selector = pods->settings.selector,
                                   .take = take,
                                   .context = pods};
    kube_watch_run(pods->kube, &all);
    return NULL;
}

/* ---- begin and end ---- */

enum ht_status pods_open(const struct pods_settings *settings,
                         struct pods **pods, struct ht_error *err)
{
    struct pods *made = ht_xcalloc(1, sizeof *made);
    struct arena *arena = arena_new();
    *made =
        (struct pods){.arena = arena, .kube = kube_new_beside(settings->kube)};
    made->settings = (struct pods_settings){
        .namespace = settings->namespace,
        .selector = arena_strdup(arena, settings->selector),
        .attempt = copy(arena, settings->attempt),
        .replica = copy(arena, settings->replica),
        .container = copy(arena, settings->container)};
    pthread_mutex_init(&made->lock, NULL);
    const int code = pthread_create(&made->thread, NULL, watch, made);
    if (code != 0) {
        pthread_mutex_destroy(&made->lock);
        kube_free(made->kube);
        arena_free(made->arena);
        free(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    pthread_mutex_lock(&all_pods.lock);
    made->next = all_pods.first;
    all_pods.first = made;
    pthread_mutex_unlock(&all_pods.lock);
    *pods = made;
    return HT_OK;
}

void pods_close(struct pods *pods)
{
    if (pods == NULL)
        return;
    pthread_mutex_lock(&all_pods.lock);
    struct pods **link = &all_pods.first;
    while (*link != pods)
        link = &(*link)->next;
    *link = pods->next;
    pthread_mutex_unlock(&all_pods.lock);
    kube_abort(pods->kube);
    pthread_join(pods->thread, NULL);
    while (pods->first != NULL)
        drop(&pods->first);
    pthread_mutex_destroy(&pods->lock);
    kube_free(pods->kube);
    arena_free(pods->arena);
    free(pods);
}

void pods_close_all(void)
{
    for (struct pods *pods = all_pods.first; pods != NULL; pods = pods->next)
        kube_abort(pods->kube);
    while (all_pods.first != NULL)
        pods_close(all_pods.first);
}

/* ---- for the supervising thread ---- */

bool pods_are_known(struct pods *pods)
{
    pthread_mutex_lock(&pods->lock);
    const bool known = pods->known;
    pthread_mutex_unlock(&pods->lock);
    return known;
}

bool pods_find(struct pods *pods, const struct pod_wish *wish,
               struct arena *arena, struct pod_seen *seen)
{
    const struct pod *found = NULL;
    pthread_mutex_lock(&pods->lock);
    for (const struct pod *pod = pods->first; pod != NULL; pod = pod->next)
        if (strcmp(pod->attempt, wish->attempt) == 0 &&
            strcmp(pod->replica, wish->replica) == 0 &&
            (wish->uid == NULL || strcmp(pod->seen.uid, wish->uid) == 0))
            found = pod;
    if (found != NULL) {
        *seen = found->seen;
        seen->name = copy(arena, seen->name);
        seen->uid = copy(arena, seen->uid);
        seen->waits = copy(arena, seen->waits);
        seen->message = copy(arena, seen->message);
        seen->end.words = copy(arena, seen->end.words);
    }
    pthread_mutex_unlock(&pods->lock);
    return found != NULL;
}

void pods_fault(struct pods *pods, char text[PODS_FAULT_BYTES])
{
    pthread_mutex_lock(&pods->lock);
    memcpy(text, pods->fault, PODS_FAULT_BYTES);
    pthread_mutex_unlock(&pods->lock);
}
