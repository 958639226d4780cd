#include "runner/kubernetes/ends.h"

#include "runner/base/json.h"
#include "tests/check.h"

static struct arena *arena;

static const struct node *read_pod_of(const char *meta, const char *status)
{
    const char *json = arena_printf(
        arena,
        "{\"metadata\":%s,\"spec\":{\"nodeName\":\"n2\",\"containers\":[{"
        "\"name\":\"main\",\"resources\":{\"limits\":{\"memory\":\"2Gi\"}}}]},"
        "\"status\":%s}",
        meta, status);
    const struct node *pod = json_read_map(arena, json, strlen(json));
    CHECK(pod != NULL);
    return pod;
}

static const struct node *read_pod(const char *status)
{
    return read_pod_of("{}", status);
}

static void check_end_of(const struct node *pod, const char *flags,
                         const char *words)
{
    const struct kube_end end = kube_end_of(arena, pod, "main");
    CHECK(end.over);
    CHECK_TEXT(arena_printf(arena, "%s%s%s%s", folder_outcome_name(end.outcome),
                            end.preempted ? " preempted" : "",
                            end.is_failure ? " failure" : "",
                            end.exclude ? " exclude" : ""),
               flags);
    CHECK_TEXT(end.words, words);
}

static void check_end(const char *status, const char *flags, const char *words)
{
    check_end_of(read_pod(status), flags, words);
}

/* A pod that the cluster ended for that reason. */
static const char *target(const char *reason)
{
    return arena_printf(arena,
                        "{\"phase\":\"Failed\",\"message\":\"m\\nn\","
                        "\"conditions\":[{\"type\":\"DisruptionTarget\","
                        "\"status\":\"True\",\"reason\":\"%s\"}],"
                        "\"containerStatuses\":[{\"name\":\"main\",\"state\":"
                        "{\"terminated\":{\"exitCode\":137}}}]}",
                        reason);
}

static void what_the_cluster_takes_is_no_failure(void)
{
    check_end(target("PreemptionByScheduler"), "lost preempted",
              "a pod of a higher priority took its place");
    check_end(target("DeletionByTaintManager"), "lost preempted exclude",
              "its node n2 got a taint that it does not tolerate");
    check_end(target("EvictionByEvictionAPI"), "lost preempted",
              "it was evicted from its node n2");
    check_end(target("DeletionByPodGC"), "lost preempted exclude",
              "its node n2 is gone");
    check_end(target("TerminationByKubelet"), "lost preempted exclude",
              "its node n2 ended it: m n");
    check_end(target("WorkloadEvicted"), "lost preempted",
              "the cluster ended it (WorkloadEvicted): m n");
    check_end("{\"phase\":\"Failed\",\"reason\":\"Terminated\"}",
              "lost preempted exclude", "its node n2 shut down");
}

static void an_eviction_is_its_own_fault_where_it_passed_a_limit(void)
{
    check_end("{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"The "
              "node was low on resource: memory. \"}",
              "lost preempted exclude",
              "its node n2 evicted it: The node was low on resource: memory.");
    check_end("{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"Pod "
              "ephemeral local storage usage exceeds the total limit of "
              "containers 1Gi. \"}",
              "failed failure",
              "it was evicted: Pod ephemeral local storage usage exceeds the "
              "total limit of containers 1Gi.");
}

static const char *terminated(const char *phase, int code, const char *reason)
{
    return arena_printf(arena,
                        "{\"phase\":\"%s\",\"containerStatuses\":[{\"name\":"
                        "\"other\",\"state\":{\"terminated\":{\"exitCode\":9}}}"
                        ",{\"name\":\"main\",\"state\":{\"terminated\":{"
                        "\"exitCode\":%d,\"reason\":\"%s\",\"message\":\"exec "
                        "failed\"}}}]}",
                        phase, code, reason);
}

static void a_container_ends_by_its_code(void)
{
    check_end(terminated("Failed", 3, "Error"), "failed failure",
              "its container ended with code 3");
    check_end(terminated("Succeeded", 0, "Completed"), "succeeded",
              "its container ended with code 0");
    check_end(terminated("Failed", 137, "OOMKilled"), "failed failure",
              "it used more memory than its limit of 2Gi (OOMKilled)");
    check_end(terminated("Failed", 128, "StartError"), "failed failure",
              "its container cannot run: exec failed");
    CHECK(kube_end_of(arena, read_pod(terminated("Failed", 3, "Error")), "main")
              .exit == 3);
}

static void a_pod_that_was_deleted_is_lost(void)
{
    static const char meta[] =
        "{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}";
    check_end_of(read_pod_of(meta, terminated("Failed", 143, "Error")), "lost",
                 "its pod was deleted");
    check_end_of(read_pod_of(meta, terminated("Succeeded", 0, "Completed")),
                 "succeeded", "its container ended with code 0");
    check_end_of(read_pod_of(meta, terminated("Failed", 137, "OOMKilled")),
                 "failed failure",
                 "it used more memory than its limit of 2Gi (OOMKilled)");
    CHECK_TEXT(kube_end_of(arena, NULL, "main").words, "its pod was deleted");
}

static void what_never_ran_is_lost(void)
{
    check_end("{\"phase\":\"Failed\",\"reason\":\"OutOfcpu\",\"message\":"
              "\"Pod was rejected\"}",
              "lost exclude",
              "its node n2 refused it (OutOfcpu): Pod was rejected");
    check_end("{\"phase\":\"Failed\"}", "lost failure",
              "its pod failed (Failed)");
}

static void a_pod_that_ends_is_not_over_yet(void)
{
    CHECK(
        !kube_end_of(arena, read_pod("{\"phase\":\"Running\"}"), "main").over);
    CHECK(!kube_end_of(arena,
                       read_pod("{\"phase\":\"Running\",\"conditions\":[{"
                                "\"type\":\"DisruptionTarget\",\"status\":"
                                "\"True\"}]}"),
                       "main")
               .over);
}

static const char *wait_words(const char *status, const char *before)
{
    const char *words = kube_wait_words(arena, read_pod(status), before);
    return words != NULL ? words : "-";
}

static const char *waiting(const char *reason, const char *message)
{
    return arena_printf(arena,
                        "{\"phase\":\"Pending\",\"containerStatuses\":[{"
                        "\"state\":{\"waiting\":{\"reason\":\"%s\",\"message\":"
                        "\"%s\"}}}]}",
                        reason, message);
}

static void what_a_pod_waits_for_is_said(void)
{
    CHECK_TEXT(wait_words("{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                          "\"PodScheduled\",\"status\":\"False\",\"reason\":"
                          "\"Unschedulable\",\"message\":\"0/3 nodes are "
                          "available: 3 Insufficient nvidia.com/gpu.\"}]}",
                          NULL),
               "no node fits: 0/3 nodes are available: 3 Insufficient "
               "nvidia.com/gpu.");
    CHECK_TEXT(wait_words(waiting("ContainerCreating", ""), NULL), "-");
    CHECK_TEXT(wait_words("{\"phase\":\"Running\"}", NULL), "-");
    CHECK_TEXT(
        wait_words(waiting("CreateContainerConfigError", "secret not found"),
                   NULL),
        "its container cannot be made (CreateContainerConfigError): "
        "secret not found");
}

static void a_registrys_answer_stays_between_two_tries(void)
{
    static const char first[] =
        "its image cannot be had (ErrImagePull): x: 401 Unauthorized";
    CHECK_TEXT(wait_words(waiting("ErrImagePull", "x: 401 Unauthorized"), NULL),
               first);
    const char *pause =
        waiting("ImagePullBackOff", "Back-off pulling image \\\"x\\\"");
    CHECK_TEXT(wait_words(pause, first), first);
    CHECK_TEXT(wait_words(pause, "no node fits"),
               "its image cannot be had (ImagePullBackOff): Back-off pulling "
               "image \"x\"");
    CHECK_TEXT(wait_words(waiting("ImagePullBackOff",
                                  "Back-off pulling image \\\"x\\\": "
                                  "ErrImagePull: 404"),
                          first),
               "its image cannot be had (ImagePullBackOff): Back-off pulling "
               "image \"x\": ErrImagePull: 404");
}

int main(void)
{
    arena = arena_new();
    RUN(what_the_cluster_takes_is_no_failure);
    RUN(an_eviction_is_its_own_fault_where_it_passed_a_limit);
    RUN(a_container_ends_by_its_code);
    RUN(a_pod_that_was_deleted_is_lost);
    RUN(what_never_ran_is_lost);
    RUN(a_pod_that_ends_is_not_over_yet);
    RUN(what_a_pod_waits_for_is_said);
    RUN(a_registrys_answer_stays_between_two_tries);
    arena_free(arena);
    return check_done();
}
