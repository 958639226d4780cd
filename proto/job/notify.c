#include "proto/job/notify.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"

static const struct field_choice events[] = {
    {"study.ended", -1, NOTIFY_STUDY_ENDED},
    {"study.paused", -1, NOTIFY_STUDY_PAUSED},
    {"trial.ended", -1, NOTIFY_TRIAL_ENDED},
    {"trial.failed", -1, NOTIFY_TRIAL_FAILED},
    {"best.improved", -1, NOTIFY_BEST_IMPROVED},
    {NULL, 0, 0}};

const char *notify_event_name(enum notify_event event)
{
    return events[event].name;
}

/* ---- events ---- */

static unsigned event_bit(const struct field_reader *reader, struct place at)
{
    static const struct field row = {.name = "event", .choices = events};
    const struct field_choice *choice = field_choice(reader, at, &row);
    return choice != NULL ? 1U << choice->value : 0;
}

void notify_events(const struct field_reader *reader, struct place at,
                   const struct field *field, void *into)
{
    (void)field;
    const size_t before = reader->diag->errors;
    unsigned bits = 0;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        bits |= event_bit(reader, *item);
    if (at.node->kind == NODE_LIST && at.node->count == 0)
        field_error(reader, at, "names no event");
    if (reader->diag->errors == before)
        *(unsigned *)into = bits;
}

/* ---- webhooks ---- */

static bool is_named(const struct notify *notify, const char *webhook)
{
    for (size_t i = 0; i < notify->n; i++)
        if (strcmp(notify->items[i].webhook, webhook) == 0)
            return true;
    return false;
}

static void add_item(struct notify *notify, struct notify_item item)
{
    notify->items[notify->n++] = item;
}

static void read_name(const struct field_reader *reader, struct place at,
                      struct notify *notify)
{
    static const struct field row = {.name = "webhook"};
    const char *webhook = NULL;
    field_name(reader, at, &row, &webhook);
    if (webhook != NULL && is_named(notify, webhook))
        field_error(reader, at, "names %s twice", webhook);
    else if (webhook != NULL)
        add_item(notify, (struct notify_item){webhook, NOTIFY_ALL});
}

static void read_limited(const struct field_reader *reader, struct place at,
                         struct notify *notify)
{
    static const struct field row = {.name = "events"};
    struct notify_item item = {at.node->key, NOTIFY_ALL};
    const char *word = node_string(at.node);
    if (!field_is_name(reader, at, item.webhook))
        return;
    if (word == NULL || strcmp(word, "all") != 0)
        notify_events(reader, at, &row, &item.events);
    add_item(notify, item);
}

void job_notify(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    const bool is_map = at.node->kind == NODE_MAP;
    const size_t n = is_map || at.node->kind == NODE_LIST ? at.node->count : 1;
    const size_t before = reader->diag->errors;
    struct notify read = {.said = true};
    if (n > HT_MAX_WEBHOOKS) {
        field_error(reader, at, "has %zu webhooks, at most %d are allowed", n,
                    HT_MAX_WEBHOOKS);
        return;
    }
    read.items = arena_alloc(reader->arena, n + 1, sizeof *read.items);
    const struct place *item =
        is_map ? field_members(reader, at) : field_items(reader, at);
    for (; item->node; item++) {
        if (is_map)
            read_limited(reader, *item, &read);
        else
            read_name(reader, *item, &read);
    }
    if (reader->diag->errors == before)
        *(struct notify *)into = read;
}

/* ---- writing ---- */

static void write_events(cJSON *map, const struct notify_item *item)
{
    if (item->events == NOTIFY_ALL) {
        json_add_string(map, item->webhook, "all");
        return;
    }
    cJSON *list = json_add_array(map, item->webhook);
    for (int i = 0; i < NOTIFY_EVENTS; i++)
        if ((item->events & 1U << i) != 0)
            json_push_string(list, events[i].name);
}

static bool is_limited(const struct notify *notify)
{
    for (size_t i = 0; i < notify->n; i++)
        if (notify->items[i].events != NOTIFY_ALL)
            return true;
    return false;
}

const char *job_notify_path(struct arena *arena, const struct notify *notify,
                            size_t i)
{
    return is_limited(notify)
               ? arena_printf(arena, "notify.%s", notify->items[i].webhook)
               : arena_printf(arena, "notify[%zu]", i);
}

void job_notify_write(cJSON *object, const struct notify *notify)
{
    if (!notify->said)
        return;
    cJSON *all = is_limited(notify) ? json_add_object(object, "notify")
                                    : json_add_array(object, "notify");
    for (size_t i = 0; i < notify->n; i++) {
        if (cJSON_IsArray(all))
            json_push_string(all, notify->items[i].webhook);
        else
            write_events(all, &notify->items[i]);
    }
}
