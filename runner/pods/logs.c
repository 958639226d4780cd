#include "runner/pods/logs.h"

#include <stdio.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/pods/finish.h"
#include "runner/pods/follow.h"
#include "runner/pods/run.h"

static bool open_log(struct pod_run *run, size_t i)
{
    struct ht_error err;
    struct pod_member *member = &run->members[i];
    const struct pod_follow_settings settings = {
        .kube = run->cluster->kube,
        .namespace = run->cluster->config.namespace,
        .container = run->container,
        .pod = member->pod,
        .folder = run->replicas.items[i].folder};
    if (member->log != NULL ||
        pod_follow_open(&settings, &member->log, &err) == HT_OK)
        return true;
    log_event(LOG_WARN, "attempt.not_read", "name=%s reason=\"%s\"",
              run->order->name, err.text);
    return false;
}

static void end_torn(struct pod_run *run, size_t i, const char *words)
{
    char reason[HT_MAX_REASON];
    const struct kube_end lost = {
        .outcome = OUTCOME_LOST, .exit = -1, .words = reason};
    (void)snprintf(reason, sizeof reason,
                   "its log could not be read to its end: %.400s", words);
    pod_finish_one(run, i, &lost);
}

/* A success of which lines are missing could have another result. */
void pod_logs_settle(struct pod_run *run, size_t i, const struct kube_end *end)
{
    char words[HT_MAX_REASON];
    struct pod_member *member = &run->members[i];
    if (member->over_at == 0)
        member->over_at = clock_monotonic_ms();
    if (end->outcome == OUTCOME_LOST ||
        (member->log == NULL && end->exit < 0)) {
        pod_finish_one(run, i, end);
        return;
    }
    if (!open_log(run, i))
        return;
    pod_follow_end(member->log);
    const enum pod_follow_state state = pod_follow_look(member->log, words);
    if (state == FOLLOW_READS)
        pod_run_say(run, i, words);
    else if (state == FOLLOW_TORN && end->outcome == OUTCOME_SUCCEEDED &&
             i == 0 && run->order->metrics.n > 0)
        end_torn(run, i, words);
    else
        pod_finish_one(run, i, end);
}

bool pod_logs_are_done(struct pod_run *run)
{
    char words[HT_MAX_REASON] = "it was never seen to run";
    struct pod_member *member = &run->members[0];
    if (!run->by_log || run->judge.verdict.kind != VERDICT_SUCCEEDED ||
        run->order->metrics.n == 0)
        return true;
    if (member->log != NULL) {
        pod_follow_end(member->log);
        const enum pod_follow_state state = pod_follow_look(member->log, words);
        if (state != FOLLOW_TORN)
            return state == FOLLOW_WHOLE;
    }
    if (!run->replicas.items[0].ended)
        end_torn(run, 0, words);
    return false;
}

void pod_logs_read(struct pod_run *run, size_t i)
{
    char words[HT_MAX_REASON];
    if (open_log(run, i) &&
        pod_follow_look(run->members[i].log, words) == FOLLOW_READS)
        pod_run_say(run, i, words);
}

/* Nothing in the pod reads the order to stop. */
bool pod_logs_stopped(struct pod_run *run, size_t i)
{
    struct stop_order stop;
    const struct kube_end none = {.exit = -1};
    if (!run->by_log ||
        folder_read_stop(run->replicas.items[i].folder, &stop, NULL) != HT_OK)
        return false;
    pod_finish_one(run, i, &none);
    return true;
}

/* ... nor its time limit. */
void pod_logs_time(struct pod_run *run)
{
    char limit[CLOCK_DURATION_BYTES], reason[HT_MAX_REASON];
    const struct pod_follow *log = run->members[0].log;
    const int64_t most_ms = run->order->timeout_ms;
    if (log == NULL || most_ms == 0 ||
        clock_wall_ms() - pod_follow_began_ms(log) < most_ms)
        return;
    (void)snprintf(reason, sizeof reason, "ran longer than %s",
                   clock_duration(limit, most_ms));
    pod_finish_all(run, OUTCOME_TIMEOUT, reason);
}
