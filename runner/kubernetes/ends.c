#include "runner/kubernetes/ends.h"

#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/docker/docker.h"

/* ---- parts of a pod ---- */

static const struct node *find_named(const struct node *list, const char *key,
                                     const char *member, const char *name)
{
    NODE_EACH (item, node_first(list, key)) {
        if (strcmp(node_get_string(item, member, ""), name) == 0)
            return item;
    }
    return NULL;
}

/* The condition where it is true; NULL: it is not. */
static const struct node *find_condition(const struct node *status,
                                         const char *type)
{
    const struct node *one = find_named(status, "conditions", "type", type);
    return strcmp(node_get_string(one, "status", ""), "True") == 0 ? one : NULL;
}

/* ---- words ---- */

/* %N is " NODE" or nothing, %M ": MESSAGE" or nothing, %R the reason. */
static const char *fill(struct arena *arena, const char *words,
                        const struct node *pod, const char *reason,
                        const char *message)
{
    const char *node = node_get_string(node_find(pod, "spec"), "nodeName", "");
    struct text out = {0};
    for (; *words != '\0'; words++) {
        const char *put = "", *before = "";
        if (strncmp(words, "%N", 2) == 0) {
            put = node;
            before = " ";
        } else if (strncmp(words, "%M", 2) == 0) {
            put = message;
            before = ": ";
        } else if (strncmp(words, "%R", 2) == 0) {
            put = reason;
        } else {
            text_append(&out, words, 1);
            continue;
        }
        text_printf(&out, "%s%s", put[0] != '\0' ? before : "",
                    docker_clean_words(arena, put));
        words++;
    }
    return text_take(&out, arena);
}

/* ---- ends ---- */

struct rule {
    const char *reason; /* NULL: any other */
    const char *words;
    enum outcome outcome;
    bool preempted, is_failure, exclude;
};

/* Of the condition DisruptionTarget. */
static const struct rule disruptions[] = {
    {"PreemptionByScheduler", "a pod of a higher priority took its place",
     OUTCOME_LOST, true, false, false},
    {"DeletionByTaintManager",
     "its node%N got a taint that it does not tolerate", OUTCOME_LOST, true,
     false, true},
    {"EvictionByEvictionAPI", "it was evicted from its node%N", OUTCOME_LOST,
     true, false, false},
    {"DeletionByPodGC", "its node%N is gone", OUTCOME_LOST, true, false, true},
    {"TerminationByKubelet", "its node%N ended it%M", OUTCOME_LOST, true, false,
     true},
    {NULL, "the cluster ended it (%R)%M", OUTCOME_LOST, true, false, false},
};

/* Of the pod's own reason. The node's refusals come before anything ran. */
static const struct rule reasons[] = {
    {"DeadlineExceeded", "Kubernetes ended it at its activeDeadlineSeconds",
     OUTCOME_TIMEOUT, false, false, false},
    {"Terminated", "its node%N shut down", OUTCOME_LOST, true, false, true},
    {"NodeShutdown", "its node%N shut down", OUTCOME_LOST, true, false, true},
    {"Shutdown", "its node%N shut down", OUTCOME_LOST, true, false, true},
    {"NodeLost", "its node%N does not answer", OUTCOME_LOST, true, false, true},
    {"Preempting", "its node%N gave its place to a critical pod", OUTCOME_LOST,
     true, false, false},
    {"NodeAffinity", "its node%N refused it (%R)%M", OUTCOME_LOST, false, false,
     true},
    {"UnexpectedAdmissionError", "its node%N refused it%M", OUTCOME_LOST, false,
     false, true},
};

/* A node's resources are taken by others, its own limits by the trial. */
static const struct rule low_node = {
    NULL, "its node%N evicted it%M", OUTCOME_LOST, true, false, true};
static const struct rule own_limit = {
    NULL, "it was evicted%M", OUTCOME_FAILED, false, true, false};
static const struct rule no_room = {
    NULL, "its node%N refused it (%R)%M", OUTCOME_LOST, false, false, true};
static const struct rule other = {
    NULL, "its pod failed (%R)%M", OUTCOME_LOST, false, true, false};

static const struct rule *find_disruption(const char *reason)
{
    const struct rule *rule = disruptions;
    while (rule->reason != NULL && strcmp(rule->reason, reason) != 0)
        rule++;
    return rule;
}

static const struct rule *find_reason(const char *reason, const char *message)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (strcmp(reasons[i].reason, reason) == 0)
            return &reasons[i];
    }
    if (strcmp(reason, "Evicted") == 0)
        return strncmp(message, "The node ", 9) == 0 ? &low_node : &own_limit;
    return strncmp(reason, "OutOf", 5) == 0 ? &no_room : &other;
}

static struct kube_end end_by(struct arena *arena, const struct rule *rule,
                              const struct node *pod, const char *reason,
                              const char *message)
{
    return (struct kube_end){
        .over = true,
        .outcome = rule->outcome,
        .preempted = rule->preempted,
        .is_failure = rule->is_failure,
        .exclude = rule->exclude,
        .exit = -1,
        .words = fill(arena, rule->words, pod, reason, message)};
}

/* "it used more memory than its limit of 2Gi (OOMKilled)" */
static const char *memory_words(struct arena *arena, const struct node *pod,
                                const char *container)
{
    const struct node *spec =
        find_named(node_find(pod, "spec"), "containers", "name", container);
    const struct node *limits =
        node_find(node_find(spec, "resources"), "limits");
    const char *limit = node_get_string(limits, "memory", NULL);
    return limit != NULL
               ? arena_printf(arena,
                              "it used more memory than its limit of %s "
                              "(OOMKilled)",
                              docker_clean_words(arena, limit))
               : fill(arena, "its node%N ran out of memory (OOMKilled)", pod,
                      "", "");
}

static const char deleted[] = "its pod was deleted";

static bool is_deleted(const struct node *pod)
{
    return node_find(node_find(pod, "metadata"), "deletionTimestamp") != NULL;
}

/* By the container's end; not over: it has none. The code of one that was
 * deleted is that of the signal. */
static struct kube_end end_of_container(struct arena *arena,
                                        const struct node *pod,
                                        const char *container)
{
    const struct node *status = find_named(
        node_find(pod, "status"), "containerStatuses", "name", container);
    const struct node *ended =
        node_find(node_find(status, "state"), "terminated");
    const int exit = (int)node_get_int(ended, "exitCode", -1);
    const char *reason = node_get_string(ended, "reason", "");
    const char *message = node_get_string(ended, "message", "");
    struct kube_end end = {.over = exit >= 0 && ended != NULL, .exit = exit};
    if (!end.over)
        return end;
    end.outcome = exit == 0 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED;
    end.is_failure = exit != 0;
    if (strcmp(reason, "OOMKilled") == 0) {
        end.words = memory_words(arena, pod, container);
    } else if (strcmp(reason, "ContainerCannotRun") == 0 ||
               strcmp(reason, "StartError") == 0) {
        end.words = fill(arena, "its container cannot run%M", pod, "", message);
    } else if (exit != 0 && is_deleted(pod)) {
        end.outcome = OUTCOME_LOST;
        end.is_failure = false;
        end.words = deleted;
    } else {
        end.words =
            arena_printf(arena, "its container ended with code %d", exit);
    }
    return end;
}

struct kube_end kube_end_of(struct arena *arena, const struct node *pod,
                            const char *container)
{
    const struct node *status = node_find(pod, "status");
    const struct node *target = find_condition(status, "DisruptionTarget");
    const char *phase = node_get_string(status, "phase", "");
    const char *reason = node_get_string(status, "reason", "");
    const char *message = node_get_string(status, "message", "");
    if (pod == NULL)
        return (struct kube_end){.over = true,
                                 .outcome = OUTCOME_LOST,
                                 .exit = -1,
                                 .words = deleted};
    const bool failed = strcmp(phase, "Failed") == 0;
    if (!failed && strcmp(phase, "Succeeded") != 0)
        return (struct kube_end){.over = false, .preempted = target != NULL};
    if (failed && target != NULL) {
        const char *why = node_get_string(target, "reason", "");
        return end_by(arena, find_disruption(why), pod, why,
                      message[0] != '\0'
                          ? message
                          : node_get_string(target, "message", ""));
    }
    if (failed && reason[0] != '\0')
        return end_by(arena, find_reason(reason, message), pod, reason,
                      message);
    const struct kube_end end = end_of_container(arena, pod, container);
    return end.over ? end : end_by(arena, &other, pod, phase, message);
}

/* ---- waiting ---- */

/* What is no fault: it begins soon. */
static bool is_normal(const char *reason)
{
    return reason[0] == '\0' || strcmp(reason, "ContainerCreating") == 0 ||
           strcmp(reason, "PodInitializing") == 0;
}

static bool is_of_image(const char *reason)
{
    return strstr(reason, "Image") != NULL ||
           strcmp(reason, "RegistryUnavailable") == 0;
}

static const char *waiting_words(struct arena *arena, const struct node *pod,
                                 const struct node *waiting, const char *before)
{
    const char *reason = node_get_string(waiting, "reason", "");
    const char *message = node_get_string(waiting, "message", "");
    static const char image[] = "its image cannot be had";
    if (is_normal(reason))
        return NULL;
    if (!is_of_image(reason))
        return fill(arena, "its container cannot be made (%R)%M", pod, reason,
                    message);
    /* Newer clusters put the answer behind it: ...: ErrImagePull: ... */
    if (strcmp(reason, "ImagePullBackOff") == 0 &&
        strstr(message, "\": ") == NULL && before != NULL &&
        strncmp(before, image, strlen(image)) == 0)
        return before;
    return fill(arena, arena_printf(arena, "%s (%%R)%%M", image), pod, reason,
                message);
}

static const char *scheduling_words(struct arena *arena, const struct node *pod)
{
    const struct node *one = find_named(node_find(pod, "status"), "conditions",
                                        "type", "PodScheduled");
    const char *reason = node_get_string(one, "reason", "");
    if (strcmp(node_get_string(one, "status", ""), "False") != 0)
        return NULL;
    if (strcmp(reason, "SchedulingGated") == 0)
        return "a scheduling gate holds it back";
    return fill(arena, "no node fits%M", pod, reason,
                node_get_string(one, "message", ""));
}

const char *kube_wait_words(struct arena *arena, const struct node *pod,
                            const char *before)
{
    static const char *const lists[] = {"initContainerStatuses",
                                        "containerStatuses", NULL};
    const struct node *status = node_find(pod, "status");
    if (strcmp(node_get_string(status, "phase", ""), "Pending") != 0)
        return NULL;
    const char *words = scheduling_words(arena, pod);
    for (size_t i = 0; lists[i] != NULL && words == NULL; i++) {
        NODE_EACH (one, node_first(status, lists[i])) {
            if (words == NULL)
                words = waiting_words(
                    arena, pod, node_find(node_find(one, "state"), "waiting"),
                    before);
        }
    }
    return words;
}
