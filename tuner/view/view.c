#include "tuner/view/view.h"

#include "proto/doc/json.h"
#include "tuner/view/member.h"

cJSON *view_measurement(const struct measurement_row *row)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "trial", row->trial);
    json_add_int(object, "attempt", row->attempt);
    json_add_string(object, "replica", row->replica);
    json_add_int_text(object, "step", row->step);
    json_add_int(object, "timeMs", row->time_ms);
    view_add_stored(object, "metrics", row->metrics);
    if (row->checkpoint != NULL && row->checkpoint[0] != '\0')
        json_add_string(object, "checkpoint", row->checkpoint);
    return object;
}

cJSON *view_event(const struct event_row *event)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "revision", event->revision);
    json_add_int(object, "timeMs", event->time_ms);
    json_add_string(object, "kind", event->kind);
    json_add_string(object, "actor", event->actor);
    if (event->trial > 0)
        json_add_int(object, "trial", event->trial);
    if (event->attempt > 0)
        json_add_int(object, "attempt", event->attempt);
    if (event->from[0] != '\0')
        json_add_string(object, "from", event->from);
    if (event->to[0] != '\0')
        json_add_string(object, "to", event->to);
    json_add_string(object, "reason", event->reason);
    view_add_stored(object, "data", event->data);
    return object;
}

cJSON *view_runner(const struct runner_row *runner, int64_t busy)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "runner", runner->id);
    json_add_string(object, "engine", runner->engine);
    json_add_string(object, "host", runner->host);
    json_add_int(object, "slots", runner->slots);
    json_add_int(object, "busy", busy);
    json_add_string(object, "state", runner->online ? "ONLINE" : "LOST");
    json_add_int(object, "lastSeenMs", runner->seen_ms);
    view_add_stored(object, "rules", runner->rules);
    return object;
}
