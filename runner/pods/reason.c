#include "runner/pods/reason.h"

#include <string.h>

#include "proto/doc/node.h"
#include "proto/job/kubernetes.h"
#include "runner/kubernetes/objects.h"

struct warning { /* the last one of a list */
    struct arena *arena;
    const char *words, *at;
    const char *workload; /* Kueue's object of a Job; NULL: there is none */
};

/* Kueue's words are "Created Workload: NAMESPACE/NAME". */
static void note_workload(struct warning *warning, const struct node *item)
{
    const char *name = strchr(node_get_string(item, "message", ""), '/');
    if (name != NULL &&
        strcmp(node_get_string(item, "reason", ""), "CreatedWorkload") == 0)
        warning->workload = arena_strdup(warning->arena, name + 1);
}

static bool note_warning(void *context, const struct node *item)
{
    struct warning *warning = context;
    const char *at = node_get_string(item, "lastTimestamp", "");
    note_workload(warning, item);
    if (strcmp(node_get_string(item, "type", ""), "Warning") != 0 ||
        strcmp(at, warning->at) < 0)
        return true;
    warning->at = arena_strdup(warning->arena, at);
    warning->words =
        arena_strdup(warning->arena, node_get_string(item, "message", ""));
    return true;
}

/* Without the right to read them there are none. */
static enum ht_status list_events(struct kube *kube, const char *namespace,
                                  const char *name, struct warning *warning,
                                  struct ht_error *err)
{
    const char *version = "";
    const struct kube_list all = {
        .kind = &kube_events,
        .namespace = namespace,
        .fields = arena_printf(warning->arena, "involvedObject.name=%s", name),
        .each = note_warning,
        .context = warning};
    const enum ht_status status =
        kube_list(kube, &all, warning->arena, &version, err);
    return status == HT_DENIED ? HT_OK : status;
}

/* The message of a condition; NULL: it is not so. */
static const char *condition_words(const struct node *object, const char *type,
                                   const char *state)
{
    const struct node *status = node_find(object, "status");
    NODE_EACH (one, node_first(status, "conditions")) {
        const char *message = node_get_string(one, "message", "");
        if (strcmp(node_get_string(one, "type", ""), type) == 0 &&
            strcmp(node_get_string(one, "status", ""), state) == 0 &&
            message[0] != '\0')
            return message;
    }
    return NULL;
}

/* What keeps it out, or took it out, by its conditions. Without the right to
 * read it, and of another Kueue, there are the events. */
static enum ht_status read_workload(struct kube *kube,
                                    const struct reason_wish *wish,
                                    struct warning *warning,
                                    struct ht_error *err)
{
    const struct node *found = NULL;
    const struct kube_object workload = {.kind = &kube_workloads,
                                         .namespace = wish->namespace,
                                         .name = warning->workload};
    const enum ht_status status =
        kube_get(kube, &workload, warning->arena, &found, err);
    if (status == HT_DENIED || status == HT_NOT_FOUND)
        return wish->lost ? HT_OK
                          : list_events(kube, wish->namespace,
                                        warning->workload, warning, err);
    if (status != HT_OK)
        return status;
    const char *words = wish->lost
                            ? condition_words(found, "Evicted", "True")
                            : condition_words(found, "QuotaReserved", "False");
    warning->words = words != NULL ? words : "";
    return HT_OK;
}

/* "in the queue team-a: ..."; NULL: it is not suspended. */
static const char *suspended_words(struct arena *arena,
                                   const struct reason_wish *wish,
                                   const char *warning)
{
    const struct node *top = wish->top;
    const struct node *labels = node_find(node_find(top, "metadata"), "labels");
    const char *queue = node_get_string(labels, KUBERNETES_QUEUE_LABEL, NULL);
    const char *words = "it is suspended";
    if (!node_get_bool(node_find(top, "spec"), "suspend", false))
        return NULL;
    if (wish->lost)
        words = arena_printf(arena, "its %s was suspended",
                             node_get_string(top, "kind", "object"));
    else if (queue != NULL)
        words = arena_printf(arena, "in the queue %s", queue);
    return warning[0] != '\0' ? arena_printf(arena, "%s: %s", words, warning)
                              : words;
}

enum ht_status reason_find(struct kube *kube, const struct reason_wish *wish,
                           struct arena *arena, const char **words,
                           struct ht_error *err)
{
    struct warning warning = {.arena = arena, .words = "", .at = ""};
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < wish->names.n; i++)
        status = list_events(kube, wish->namespace, wish->names.items[i],
                             &warning, err);
    if (status == HT_OK && warning.workload != NULL)
        status = read_workload(kube, wish, &warning, err);
    if (status != HT_OK)
        return status;
    const char *suspended = suspended_words(arena, wish, warning.words);
    if (suspended != NULL)
        *words = suspended;
    else
        *words = wish->lost ? "" : warning.words;
    return HT_OK;
}
