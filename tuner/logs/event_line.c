#include "tuner/logs/event_line.h"

#include <string.h>

struct wording { /* of a move to a state */
    const char *to;
    const char *severity, *words;
};

static const struct wording of_job[] = {
    {"RUNNING", "INFO", "The job continues"},
    {"PAUSED", "WARNING", "The job is paused"},
    {"STOPPING", "INFO", "The job starts no more trials"},
    {"CANCELLING", "INFO", "The job is being cancelled"},
    {"SUCCEEDED", "INFO", "The job has succeeded"},
    {"STOPPED", "INFO", "The job was stopped"},
    {"FAILED", "ERROR", "The job has failed"},
    {"CANCELLED", "INFO", "The job was cancelled"},
    {0}};

static const struct wording of_trial[] = {
    {"REQUESTED", "WARNING", "starts again later"},
    {"ACTIVE", "INFO", "is started"},
    {"STOPPING", "INFO", "has to end"},
    {"SUCCEEDED", "INFO", "has succeeded"},
    {"STOPPED", "INFO", "was stopped early"},
    {"FAILED", "ERROR", "has failed"},
    {"INFEASIBLE", "ERROR", "has no result"},
    {"CANCELLED", "INFO", "was cancelled"},
    {"PAUSED", "INFO", "is paused"},
    {0}};

static const struct wording *find(const struct wording all[], const char *to)
{
    while (all->to != NULL && strcmp(all->to, to) != 0)
        all++;
    return all->to != NULL ? all : NULL;
}

/* "WORDS: REASON", "WORDS" without one. */
static const char *with_reason(struct arena *arena, const char *words,
                               const char *reason)
{
    return reason[0] == '\0' ? words
                             : arena_printf(arena, "%s: %s", words, reason);
}

static const char *trial_moved(struct arena *arena,
                               const struct event_row *event,
                               enum job_kind kind, const char **severity)
{
    const struct wording *wording = find(of_trial, event->to);
    /* A trial that was only queued is not shown. */
    if (wording == NULL || strcmp(event->from, "PREPARED") == 0)
        return NULL;
    *severity = wording->severity;
    const char *who =
        kind == JOB_CUSTOM
            ? "The run"
            : arena_printf(arena, "Trial %lld", (long long)event->trial);
    const char *words = arena_printf(arena, "%s %s", who, wording->words);
    if (strcmp(event->to, "ACTIVE") == 0 && event->attempt > 1)
        words = arena_printf(arena, "%s (attempt %lld)", words,
                             (long long)event->attempt);
    return with_reason(arena, words, event->reason);
}

const char *event_line(struct arena *arena, const struct event_row *event,
                       enum job_kind kind, const char **severity)
{
    if (strcmp(event->kind, "trial.moved") == 0)
        return trial_moved(arena, event, kind, severity);
    *severity = "INFO";
    if (strcmp(event->kind, "study.created") == 0)
        return "The job is queued";
    if (strcmp(event->kind, "study.changed") == 0)
        return with_reason(arena, "The job was changed", event->reason);
    if (strcmp(event->kind, "study.warned") == 0) {
        *severity = "WARNING";
        return event->reason;
    }
    if (strcmp(event->kind, "trial.warned") == 0) {
        *severity = "WARNING";
        return arena_printf(arena, "Trial %lld: %s", (long long)event->trial,
                            event->reason);
    }
    const struct wording *wording = strcmp(event->kind, "study.moved") == 0
                                        ? find(of_job, event->to)
                                        : NULL;
    if (wording == NULL)
        return NULL;
    *severity = wording->severity;
    return with_reason(arena, wording->words, event->reason);
}
