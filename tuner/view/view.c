#include "tuner/view/view.h"

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/db/metadata.h"
#include "tuner/db/notes.h"

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
    json_add_count(object, "trial", event->trial);
    json_add_count(object, "attempt", event->attempt);
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
    json_add_string(object, "drain", db_runner_drain_name(runner->drain));
    view_add_stored(object, "rules", runner->rules);
    json_add_array(object, "trials");
    return object;
}

void view_add_running(cJSON *runner, const struct fleet_attempt *attempt)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(runner, "trials");
    cJSON *item = json_push_object(list);
    json_add_string(item, "study", attempt->study_name);
    json_add_int_text(item, "trial", attempt->trial);
    json_add_int(item, "attempt", attempt->n);
    if (attempt->gpus[0] != '\0')
        view_add_stored(item, "gpus", attempt->gpus);
}

/* --- member --- */

void view_add_stamp(cJSON *object, const char *key, int64_t wall_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (wall_ms > 0)
        json_add_string(object, key, clock_stamp(stamp, wall_ms));
}

void view_add_stored(cJSON *object, const char *key, const char *json)
{
    if (json != NULL && json[0] != '\0')
        cJSON_AddItemToObject(object, key, cJSON_CreateRaw(json));
}

enum ht_status view_add_attributes(cJSON *object, struct db *db,
                                   struct arena *arena, int64_t study,
                                   int64_t trial, struct ht_error *err)
{
    const struct metadata_attributes wanted = {
        study, trial, MOST_ATTRIBUTES + 1, MOST_ATTRIBUTE};
    struct metadata_list list;
    const enum ht_status status =
        db_metadata_attributes(db, arena, &wanted, &list, err);
    if (status != HT_OK || list.n == 0)
        return status;
    bool more = list.n > MOST_ATTRIBUTES;
    cJSON *map = json_add_object(object, "userAttributes");
    for (size_t i = 0; i < list.n && i < MOST_ATTRIBUTES; i++) {
        if (list.rows[i].value == NULL)
            more = true;
        else
            json_add_string(map, list.rows[i].key, list.rows[i].value);
    }
    json_add_flag(object, "moreUserAttributes", more);
    return HT_OK;
}

enum ht_status view_add_tags(cJSON *object, struct db *db, struct arena *arena,
                             int64_t study, int64_t trial, struct ht_error *err)
{
    const char *text;
    const enum ht_status status = db_notes_get(
        db, arena, &(struct notes_name){study, trial, NOTES_TAGS}, &text, err);
    if (status != HT_OK || text[0] == '\0')
        return status;
    const struct strings tags = notes_tags_split(arena, text);
    cJSON *array = json_add_array(object, "tags");
    for (size_t i = 0; i < tags.n; i++)
        json_push_string(array, tags.items[i]);
    return HT_OK;
}

enum ht_status view_notes(struct db *db, struct arena *arena, int64_t study,
                          int64_t trial, cJSON **out, struct ht_error *err)
{
    const char *note;
    enum ht_status status = db_notes_get(
        db, arena, &(struct notes_name){study, trial, NOTES_NOTE}, &note, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "note", note);
    status = view_add_tags(object, db, arena, study, trial, err);
    if (status == HT_OK && !cJSON_HasObjectItem(object, "tags"))
        json_add_array(object, "tags");
    if (status == HT_OK)
        *out = object;
    else
        cJSON_Delete(object);
    return status;
}

/* --- failures --- */

enum ht_status view_failures_find(struct db *db, struct arena *arena,
                                  const struct study_row *study,
                                  const struct trial_counts *counts,
                                  struct view_failures *failures,
                                  struct ht_error *err)
{
    const int64_t failed = trial_counts_failed(counts->of);
    const int64_t ended = trial_counts_ended(counts->of);
    *failures = (struct view_failures){.reason = ""};
    if (failed == 0 || study->kind == JOB_CUSTOM ||
        (study->state != STUDY_SUCCEEDED && study->state != STUDY_STOPPED))
        return HT_OK;
    failures->words = arena_printf(arena, "%lld of %lld failed",
                                   (long long)failed, (long long)ended);
    failures->mostly = 2 * failed > ended;
    /* A list has many studies: it is looked for where it matters. */
    return failures->mostly ? db_trial_common_failure(db, arena, study->id,
                                                      &failures->reason, err)
                            : HT_OK;
}

void view_failures_add(cJSON *object, const struct view_failures *failures)
{
    if (failures->words == NULL)
        return;
    cJSON *member = json_add_object(object, "failures");
    json_add_string(member, "words", failures->words);
    json_add_bool(member, "mostly", failures->mostly);
    if (failures->reason[0] != '\0')
        json_add_string(member, "reason", failures->reason);
}
