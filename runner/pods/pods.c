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
    struct arena *arena;
    struct kube *kube;
    const char *namespace, *selector;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    struct pod *first;
    bool known;
    char fault[PODS_FAULT_BYTES];
};

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

/* NULL: it is none of ours. */
static struct pod *read_pod(const struct node *object, const char *before)
{
    const struct node *meta = node_find(object, "metadata");
    const struct node *labels = node_find(meta, "labels");
    const char *attempt = node_get_string(labels, POD_LABEL_ATTEMPT, NULL);
    const char *type = node_get_string(labels, POD_LABEL_REPLICAS, NULL);
    const char *wrapped = node_get_string(labels, POD_LABEL_CONTAINER, NULL);
    const char *container = wrapped != NULL ? wrapped : POD_CONTAINER;
    const char *index = node_get_string(node_find(meta, "annotations"), INDEX,
                                        wrapped != NULL ? "0" : NULL);
    const char *uid = node_get_string(meta, "uid", NULL);
    if (attempt == NULL || type == NULL || index == NULL || uid == NULL)
        return NULL;
    struct arena *arena = arena_new();
    const struct node *state =
        node_find(container_status(object, container), "state");
    const struct node *over = node_find(state, "terminated");
    struct pod *pod = arena_alloc(arena, 1, sizeof *pod);
    *pod = (struct pod){
        .arena = arena,
        .attempt = arena_strdup(arena, attempt),
        .replica = arena_printf(arena, "%s-%s", type, index),
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
    if (!pod->seen.end.over)
        pod->seen.end = kube_end_of(pod->arena, NULL, POD_CONTAINER);
}

static void keep(struct pods *pods, const struct node *object, bool gone)
{
    const struct node *meta = node_find(object, "metadata");
    struct pod **link = find_uid(pods, node_get_string(meta, "uid", ""));
    struct pod *was = *link;
    struct pod *now = read_pod(object, was != NULL ? was->seen.waits : NULL);
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
                                   .namespace = pods->namespace,
                                   .selector = pods->selector,
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
    *made = (struct pods){.arena = arena_new(),
                          .kube = kube_new_beside(settings->kube),
                          .namespace = settings->namespace};
    made->selector =
        arena_printf(made->arena, POD_LABEL_RUNNER "=%s", settings->runner);
    pthread_mutex_init(&made->lock, NULL);
    const int code = pthread_create(&made->thread, NULL, watch, made);
    if (code != 0) {
        pthread_mutex_destroy(&made->lock);
        kube_free(made->kube);
        arena_free(made->arena);
        free(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    *pods = made;
    return HT_OK;
}

void pods_close(struct pods *pods)
{
    if (pods == NULL)
        return;
    kube_abort(pods->kube);
    pthread_join(pods->thread, NULL);
    while (pods->first != NULL)
        drop(&pods->first);
    pthread_mutex_destroy(&pods->lock);
    kube_free(pods->kube);
    arena_free(pods->arena);
    free(pods);
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
