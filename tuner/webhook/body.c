#include "tuner/webhook/body.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"

#define BIT(event) (1U << (event))

static unsigned of_trial(const struct event_row *event, int64_t best)
{
    static const char *const counted[] = {"SUCCEEDED", "STOPPED"};
    static const char *const failed[] = {"FAILED", "INFEASIBLE"};
    for (int i = 0; i < 2; i++) {
        if (strcmp(event->to, counted[i]) == 0)
            return BIT(NOTIFY_TRIAL_ENDED) |
                   (event->trial == best ? BIT(NOTIFY_BEST_IMPROVED) : 0);
        if (strcmp(event->to, failed[i]) == 0)
            return BIT(NOTIFY_TRIAL_ENDED) | BIT(NOTIFY_TRIAL_FAILED);
    }
    return strcmp(event->to, "CANCELLED") == 0 ? BIT(NOTIFY_TRIAL_ENDED) : 0;
}

unsigned webhook_letter_events(const struct event_row *event, int64_t best)
{
    static const char *const ended[] = {"SUCCEEDED", "STOPPED", "FAILED",
                                        "CANCELLED"};
    if (strcmp(event->kind, "trial.moved") == 0)
        return of_trial(event, best);
    if (strcmp(event->kind, "study.moved") != 0)
        return 0;
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (strcmp(event->to, ended[i]) == 0)
            return BIT(NOTIFY_STUDY_ENDED);
    return strcmp(event->to, "PAUSED") == 0 ? BIT(NOTIFY_STUDY_PAUSED) : 0;
}

static void add_trial(cJSON *body, const char *key,
                      const struct trial_row *trial)
{
    cJSON *object = json_add_object(body, key);
    json_add_int(object, "id", trial->id);
    json_add_string(object, "state", db_trial_state_name(trial->state));
    if (trial->has_objective)
        json_add_double(object, "objective", trial->objective);
    cJSON_AddRawToObject(object, "parameters", trial->params);
    if (trial->final_metrics != NULL)
        cJSON_AddRawToObject(object, "metrics", trial->final_metrics);
    json_add_string(object, "reason", trial->reason);
}

const char *webhook_letter_body(struct arena *arena,
                                const struct webhook_letter_parts *parts)
{
    char stamp[CLOCK_STAMP_BYTES];
    struct text out = {0};
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "event", notify_event_name(parts->what));
    json_add_string(body, "time", clock_stamp(stamp, parts->event->time_ms));
    json_add_int(body, "revision", parts->event->revision);
    cJSON *study = json_add_object(body, "study");
    json_add_int(study, "id", parts->study->id);
    json_add_string(study, "name", parts->study->name);
    json_add_string(study, "state", db_study_state_name(parts->study->state));
    json_add_string(study, "reason", parts->study->reason);
    view_failures_add(study, parts->failures);
    if (parts->trial != NULL)
        add_trial(body, "trial", parts->trial);
    if (parts->best != NULL)
        add_trial(body, "best", parts->best);
    json_add_string(body, "link",
                    arena_printf(arena, "%s/#/studies/%lld", parts->http,
                                 (long long)parts->study->id));
    json_print(body, &out);
    const char *kept = arena_strndup(arena, out.data, out.len);
    text_free(&out);
    return kept;
}
