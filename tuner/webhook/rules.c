#include "tuner/webhook/rules.h"

#include <fnmatch.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/diag.h"
#include "proto/doc/field.h"
#include "tuner/webhook/allowed_address.h"
#include "tuner/webhook/signing_key.h"

/* --- one webhook --- */

struct draft {
    struct webhook webhook;
    const char *folder;
    struct place url, secret; /* where they stand */
};

static void read_url(const struct field_reader *reader, struct place at,
                     const struct field *field, void *into)
{
    ((struct draft *)into)->url = at;
    field_text(reader, at, field, into);
}

/* One key: beside the rest of the file, or in a file of its own. */
static bool is_first_secret(const struct field_reader *reader, struct place at,
                            struct draft *draft)
{
    const bool first = draft->secret.node == NULL;
    if (!first)
        field_key_error(reader, at, "there is %s already", draft->secret.path);
    draft->secret = at;
    return first;
}

static void read_secret(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    const char *text = node_string(at.node);
    if (!is_first_secret(reader, at, into))
        return;
    if (text != NULL && text[0] == '\0')
        field_error(reader, at, "is empty");
    else
        field_text(reader, at, field, into);
}

static void read_secret_file(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    struct draft *draft = into;
    const char *path = node_string(at.node);
    struct ht_error err;
    (void)field;
    if (!is_first_secret(reader, at, draft))
        return;
    if (path == NULL)
        field_wrong_kind(reader, at, "the path of a file");
    else if (webhook_secret_read(reader->arena, draft->folder, path,
                                 &draft->webhook.secret, &err) != HT_OK)
        field_error(reader, at, "%s %s", path, err.text);
}

#define WEBHOOK(member) offsetof(struct draft, webhook.member)

static const struct field rows[] = {
    {.name = "name", .read = field_name, .offset = WEBHOOK(name)},
    {.name = "url", .read = read_url, .offset = WEBHOOK(url)},
    {.name = "on", .read = notify_events, .offset = WEBHOOK(on)},
    {.name = "studies", .read = field_text, .offset = WEBHOOK(studies)},
    {.name = "named", .read = field_flag, .offset = WEBHOOK(named)},
    {.name = "secret", .read = read_secret, .offset = WEBHOOK(secret)},
    {.name = "secretFile", .read = read_secret_file},
    {.name = "local", .read = field_flag, .offset = WEBHOOK(local)},
    {0}};

static void check_url(const struct field_reader *reader, struct place at,
                      struct draft *draft)
{
    struct webhook *webhook = &draft->webhook;
    struct ht_error err;
    if (draft->url.node == NULL)
        field_missing(reader, at, "url", NULL);
    else if (webhook->url != NULL &&
             webhook_target_check(webhook->url, webhook->local, &err) != HT_OK)
        field_error(reader, draft->url, "%s", err.text);
    else if (webhook->url != NULL && webhook->name == NULL)
        webhook->name = webhook_target_host(reader->arena, webhook->url);
}

static void read_one(const struct field_reader *reader, struct place at,
                     const char *folder, struct webhook *webhook)
{
    struct draft draft = {.webhook = {.studies = "*"}, .folder = folder};
    field_read_map(reader, at, rows, &draft);
    if (at.node->kind != NODE_MAP)
        return;
    if (node_find(at.node, "on") == NULL)
        field_missing(reader, at, "on", "a list of events");
    check_url(reader, at, &draft);
    *webhook = draft.webhook;
}

/* --- all of them --- */

static bool has_webhook(const struct webhook_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rules->items[i].name != NULL &&
            strcmp(rules->items[i].name, name) == 0)
            return true;
    return false;
}

static void read_all(const struct field_reader *reader, const struct node *root,
                     const char *folder, struct webhook_rules *rules)
{
    const struct place whole = {root, ""};
    if (root->kind != NODE_LIST || root->count > HT_MAX_WEBHOOKS) {
        field_error(reader, whole, "must be a list of at most %d webhooks",
                    HT_MAX_WEBHOOKS);
        return;
    }
    struct webhook *items =
        arena_alloc(reader->arena, root->count + 1, sizeof *items);
    rules->items = items;
    for (const struct node *one = root->first; one != NULL; one = one->next) {
        const struct place at = field_item(reader, whole, one, rules->n);
        struct webhook read = {.name = NULL};
        read_one(reader, at, folder, &read);
        if (read.name != NULL && has_webhook(rules, read.name)) {
            field_error(reader, at, "another one is called %s, too", read.name);
            diag_hint(reader->diag, "give each a \"name\"");
        }
        items[rules->n++] = read;
    }
}

static enum ht_status fail(const struct diag *diag, struct ht_error *err)
{
    const struct diag_item *first = diag->first;
    return ht_fail(err, HT_INVALID, "line %d: %s%s%s%s%s", first->line,
                   first->path, first->path[0] != '\0' ? ": " : "", first->text,
                   first->hint != NULL ? "; " : "",
                   first->hint != NULL ? first->hint : "");
}

enum ht_status webhook_rules_read(struct arena *arena, const char *folder,
                                  const char *text, struct webhook_rules *rules,
                                  struct ht_error *err)
{
    struct diag diag;
    const struct field_reader reader = {.diag = &diag, .arena = arena};
    struct webhook_rules read = {0};
    diag_init(&diag, arena, "webhooks.json", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), &diag);
    if (root != NULL)
        read_all(&reader, root, folder, &read);
    if (diag.errors > 0)
        return fail(&diag, err);
    *rules = read;
    return HT_OK;
}

static const struct notify_item *find_item(const struct notify *notify,
                                           const char *webhook)
{
    for (size_t i = 0; i < notify->n; i++)
        if (strcmp(notify->items[i].webhook, webhook) == 0)
            return &notify->items[i];
    return NULL;
}

bool webhook_wants(const struct webhook *webhook, const struct notify *notify,
                   enum notify_event event, const char *study)
{
    const struct notify_item *item = find_item(notify, webhook->name);
    const unsigned asked = item != NULL                     ? item->events
                           : notify->said || webhook->named ? 0
                                                            : NOTIFY_ALL;
    return (webhook->on & asked & 1U << event) != 0 &&
           fnmatch(webhook->studies, study, 0) == 0;
}
