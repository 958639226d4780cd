#include "runner/pods/finish.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"
#include "runner/pods/follow.h"
#include "runner/pods/pods.h"
#include "runner/pods/run.h"

enum { SETTLE_MS = 2000 }; /* for what a pod sent before its end */

static struct ending new_ending(const struct pod_run *run, size_t i)
{
    const struct pod_follow *log = run->members[i].log;
    return (struct ending){.started_ms =
                               log != NULL ? pod_follow_began_ms(log) : 0,
                           .ended_ms = clock_wall_ms()};
}

void pod_finish_all(struct pod_run *run, enum outcome outcome,
                    const char *reason)
{
    for (size_t i = 0; i < run->replicas.n; i++) {
        struct ending ending = new_ending(run, i);
        if (run->replicas.items[i].ended)
            continue;
        folder_end(&ending, outcome, "%s", reason);
        replicas_end(&run->replicas, i, &ending);
    }
}

/* What the shim left in the pod's status, where its files did not come. */
static bool take_message(struct pod_run *run, size_t i, const char *message)
{
    const char *folder = run->replicas.items[i].folder;
    return message[0] == '{' &&
           disk_write(folder, "exit.json", message, strlen(message),
                      FOLDER_FILE_MODE, NULL) == HT_OK &&
           replicas_read_exit(&run->replicas, i);
}

/* Of a success the pod's status does not say that all reports have come, as
 * exit.json from its files would: the result could be another. */
static bool lacks_reports(struct pod_run *run, size_t i,
                          const struct pod_seen *seen)
{
    struct arena *arena = arena_new();
    const struct node *message =
        json_read_map(arena, seen->message, strlen(seen->message));
    const bool succeeded =
        message != NULL ? strcmp(node_get_string(message, "outcome", ""),
                                 folder_outcome_name(OUTCOME_SUCCEEDED)) == 0
                        : seen->end.outcome == OUTCOME_SUCCEEDED;
    arena_free(arena);
    return succeeded && i == 0 && run->order->metrics.n > 0;
}

void pod_finish_blame(const struct pod_run *run, size_t i,
                      struct ending *ending)
{
    const int64_t over_at = run->members[i].over_at;
    pod_judge_blame(&run->judge, over_at != 0 ? over_at : clock_monotonic_ms(),
                    ending);
}

void pod_finish_one(struct pod_run *run, size_t i, const struct kube_end *end)
{
    struct stop_order stop;
    struct ending ending = new_ending(run, i);
    if (folder_read_stop(run->replicas.items[i].folder, &stop, NULL) == HT_OK) {
        folder_end(&ending, OUTCOME_STOPPED, "stopped: %.480s", stop.reason);
    } else {
        folder_end(&ending, end->outcome, "%.480s", end->words);
        ending.has_exit = end->exit >= 0;
        ending.exit = end->exit;
        if (!end->preempted)
            pod_finish_blame(run, i, &ending);
    }
    replicas_end(&run->replicas, i, &ending);
}

/* Its files come before, as far as they were sent. */
void pod_finish_settle(struct pod_run *run, size_t i,
                       const struct pod_seen *seen)
{
    struct pod_member *member = &run->members[i];
    const int64_t now = clock_monotonic_ms();
    if (member->over_at == 0)
        member->over_at = now;
    if (member->served && now - member->over_at < SETTLE_MS)
        return;
    if (lacks_reports(run, i, seen)) {
        const struct kube_end lost = {
            .outcome = OUTCOME_LOST,
            .exit = -1,
            .words = "its pod ended before its last reports had come"};
        pod_finish_one(run, i, &lost);
    } else if (!take_message(run, i, seen->message)) {
        pod_finish_one(run, i, &seen->end);
    } else if (!seen->end.preempted) {
        pod_finish_blame(run, i, &run->replicas.items[i].ending);
    }
}
