#include "tuner/webhook_rules.h"

#include <fnmatch.h>
#include <string.h>

#include "proto/diag.h"
#include "proto/node.h"
#include "tuner/webhook_target.h"

enum { WEBHOOKS_MOST = 32 };

const char *const webhook_event_names[WEBHOOK_EVENTS] = {
    "study.ended", "study.paused", "trial.ended", "trial.failed",
    "best.improved"};

static unsigned event_bit(const char *name)
{
    for (int i = 0; i < WEBHOOK_EVENTS; i++)
        if (strcmp(webhook_event_names[i], name) == 0)
            return 1U << i;
    return 0;
}

static enum ht_status read_events(const struct node *list, unsigned *on,
                                  struct ht_error *err)
{
    if (list == NULL || list->kind != NODE_LIST || list->count == 0)
        return ht_fail(err, HT_INVALID, "\"on\" must be a list of events");
    for (const struct node *one = list->first; one != NULL; one = one->next) {
        const char *name = node_string(one);
        const unsigned bit = name != NULL ? event_bit(name) : 0;
        if (bit == 0)
            return ht_fail(err, HT_INVALID, "line %d: there is no event %.60s",
                           one->line, name != NULL ? name : "of this kind");
        *on |= bit;
    }
    return HT_OK;
}

static enum ht_status check_members(const struct node *map,
                                    struct ht_error *err)
{
    static const char *const known[] = {"url", "secret", "studies", "on",
                                        "local"};
    for (const struct node *one = map->first; one != NULL; one = one->next) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known &&
               strcmp(known[i], one->key) != 0)
            i++;
        if (i == sizeof known / sizeof *known)
            return ht_fail(err, HT_INVALID, "line %d: unknown member \"%.60s\"",
                           one->key_line, one->key);
    }
    return HT_OK;
}

static enum ht_status read_one(const struct node *map, struct webhook *webhook,
                               struct ht_error *err)
{
    if (map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "line %d: a webhook is an object",
                       map->line);
    enum ht_status status = check_members(map, err);
    webhook->url = node_get_string(map, "url", "");
    webhook->secret = node_get_string(map, "secret", NULL);
    webhook->studies = node_get_string(map, "studies", "*");
    webhook->local = node_get_bool(map, "local", false);
    if (status == HT_OK)
        status = read_events(node_find(map, "on"), &webhook->on, err);
    if (status == HT_OK)
        status = webhook_target_check(webhook->url, webhook->local, err);
    return status;
}

enum ht_status webhook_rules_read(struct arena *arena, const char *text,
                                  struct webhook_rules *rules,
                                  struct ht_error *err)
{
    struct diag diag;
    diag_init(&diag, arena, "webhooks.json", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), &diag);
    if (root == NULL)
        return ht_fail(err, HT_INVALID, "line %d: %s", diag.first->line,
                       diag.first->text);
    if (root->kind != NODE_LIST || root->count > WEBHOOKS_MOST)
        return ht_fail(err, HT_INVALID, "it is a list of at most %d webhooks",
                       WEBHOOKS_MOST);
    struct webhook *items = arena_alloc(arena, root->count + 1, sizeof *items);
    size_t n = 0;
    enum ht_status status = HT_OK;
    for (const struct node *one = root->first; status == HT_OK && one != NULL;
         one = one->next) {
        items[n] = (struct webhook){.url = ""};
        status = read_one(one, &items[n++], err);
    }
    if (status == HT_OK)
        *rules = (struct webhook_rules){n, items};
    return status;
}

bool webhook_wants(const struct webhook *webhook, enum webhook_event event,
                   const char *study)
{
    return (webhook->on & 1U << event) != 0 &&
           fnmatch(webhook->studies, study, 0) == 0;
}
