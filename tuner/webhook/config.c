#include "tuner/webhook/config.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "proto/base/secret_file.h"
#include "proto/doc/diag.h"
#include "proto/doc/field.h"

enum { FILE_BYTES = 65536, SECRET_BYTES = 4096 };

/* --- URLs --- */

static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    curl_url_get(url, part, &text, 0);
    return text;
}

static enum ht_status check_scheme(const char *url, const char *scheme,
                                   bool local, struct ht_error *err)
{
    if (strcmp(scheme, "https") == 0 || (local && strcmp(scheme, "http") == 0))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "\"%.100s\" is not https (http is for a webhook with "
                   "\"local\": true)",
                   url);
}

enum ht_status webhook_url_check(struct arena *arena, const char *text,
                                 bool local, const char **host,
                                 struct ht_error *err)
{
    enum ht_status status;
    CURLU *url = curl_url();
    if (url == NULL)
        ht_out_of_memory();
    const CURLUcode code =
        curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER);
    char *scheme = part_of(url, CURLUPART_SCHEME);
    char *name = part_of(url, CURLUPART_HOST);
    if (code == CURLUE_USER_NOT_ALLOWED)
        status = ht_fail(err, HT_INVALID,
                         "a webhook's URL has no user and no password");
    else if (code != CURLUE_OK || name == NULL)
        status = ht_fail(err, HT_INVALID, "\"%.100s\" is no URL", text);
    else
        status = check_scheme(text, scheme, local, err);
    if (status == HT_OK)
        *host = arena_strdup(arena, name);
    curl_free(scheme);
    curl_free(name);
    curl_url_cleanup(url);
    return status;
}

/* --- files --- */

static enum ht_status check_secret(const struct stat *info,
                                   struct ht_error *err)
{
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return ht_fail(err, HT_INVALID,
                       "belongs to user %u, not to the server's",
                       (unsigned)info->st_uid);
    if ((info->st_mode & 077) != 0)
        return ht_fail(err, HT_INVALID,
                       "is open to others, its mode is %03o: chmod 600",
                       (unsigned)(info->st_mode & 0777));
    return HT_OK;
}

/* A sealed file is longer than what is in it. */
static enum ht_status read_open(int fd, size_t most, struct text *text,
                                struct stat *info, struct ht_error *err)
{
    char part[4096];
    ssize_t n;
    if (fstat(fd, info) != 0 || !S_ISREG(info->st_mode))
        return ht_fail(err, HT_INVALID, "is no regular file");
    while ((n = read(fd, part, sizeof part)) > 0 && text->len <= 2 * most)
        text_append(text, part, (size_t)n);
    if (n < 0)
        return ht_fail_errno(err, errno, "cannot be read");
    return strlen(text_string(text)) == text->len
               ? HT_OK
               : ht_fail(err, HT_INVALID, "is no text: it has a NUL");
}

static enum ht_status open_text(const char *path, size_t most,
                                const struct text *read, struct text *text,
                                struct ht_error *err)
{
    const enum ht_status status =
        secret_file_open(path, text_string(read), text, err);
    return status == HT_OK && text->len > most
               ? ht_fail(err, HT_INVALID, "has more than %zu bytes", most)
               : status;
}

/* Appends what the file says, at most `most` bytes.
 * HT_NOT_FOUND: there is no such file. */
static enum ht_status read_file(const char *path, size_t most,
                                struct text *text, struct stat *info,
                                struct ht_error *err)
{
    struct text read = {0};
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP)
        return ht_fail(err, HT_INVALID, "is a link");
    if (fd < 0) {
        const bool missing = errno == ENOENT;
        ht_fail_errno(err, errno, "cannot be read");
        return missing ? HT_NOT_FOUND : HT_IO;
    }
    enum ht_status status = read_open(fd, most, &read, info, err);
    close(fd);
    if (status == HT_OK)
        status = open_text(path, most, &read, text, err);
    secret_wipe(&read);
    return status;
}

/* Once it is known to be good, a file of the data folder does not stay plain
 * where there is a key. */
static void settle(const char *path)
{
    enum secret_state state;
    struct ht_error err;
    if (secret_file_settle(path, &state, &err) != HT_OK)
        log_event(LOG_ERROR, "secrets.not_sealed", "why=\"%s\"", err.text);
}

enum ht_status webhook_secret_read(struct arena *arena, const char *folder,
                                   const char *path, const char **secret,
                                   struct ht_error *err)
{
    struct text text = {0};
    struct stat info = {0};
    const bool inside = path[0] != '/';
    const char *whole =
        inside ? arena_printf(arena, "%s/%s", folder, path) : path;
    enum ht_status status = read_file(whole, SECRET_BYTES, &text, &info, err);
    if (status == HT_OK)
        status = check_secret(&info, err);
    size_t len = text.len;
    if (len > 0 && text.data[len - 1] == '\n')
        len--;
    if (len > 0 && text.data[len - 1] == '\r')
        len--;
    if (status == HT_OK && len == 0)
        status = ht_fail(err, HT_INVALID, "is empty");
    if (status == HT_OK) {
        *secret = arena_strndup(arena, text.data, len);
        if (inside)
            settle(whole);
    }
    secret_wipe(&text);
    return status;
}

/* --- one webhook --- */

struct draft {
    struct webhook webhook;
    const char *folder;
    struct place url, secret; /* in the file */
};

/* One key: beside the rest of the file, or in its own file. */
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
    struct draft *draft = into;
    const char *text = node_string(at.node);
    if (!is_first_secret(reader, at, draft))
        return;
    if (text != NULL && text[0] == '\0')
        field_error(reader, at, "is empty");
    else
        field_text(reader, at, field, &draft->webhook.secret);
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

static const struct field_choice formats[] = {{"event", -1, WEBHOOK_EVENT},
                                              {"slack", -1, WEBHOOK_SLACK},
                                              {"teams", -1, WEBHOOK_TEAMS},
                                              {NULL, 0, 0}};

#define WEBHOOK(member) offsetof(struct draft, webhook.member)

static const struct field rows[] = {
    {.name = "name", .read = field_name, .offset = WEBHOOK(name)},
    {.name = "url",
     .read = field_text,
     .offset = WEBHOOK(url),
     .place = offsetof(struct draft, url)},
    {.name = "on", .read = notify_events, .offset = WEBHOOK(on)},
    {.name = "studies", .read = field_text, .offset = WEBHOOK(studies)},
    {.name = "named", .read = field_flag, .offset = WEBHOOK(named)},
    {.name = "secret", .read = read_secret},
    {.name = "secretFile", .read = read_secret_file},
    {.name = "format",
     .read = field_choose,
     .offset = WEBHOOK(format),
     .choices = formats},
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
             webhook_url_check(reader->arena, webhook->url, webhook->local,
                               &webhook->host, &err) != HT_OK)
        field_error(reader, draft->url, "%s", err.text);
    if (webhook->name == NULL)
        webhook->name = webhook->host;
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

/* --- what is in force --- */

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool are_same(const struct webhook_rules *a,
                     const struct webhook_rules *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct webhook *one = &a->items[i], *other = &b->items[i];
        if (!is_same(one->name, other->name) ||
            !is_same(one->url, other->url) ||
            !is_same(one->secret, other->secret) ||
            !is_same(one->studies, other->studies) || one->on != other->on ||
            one->named != other->named || one->local != other->local)
            return false;
    }
    return a->n == b->n;
}

/* Puts the rules in force if they differ; then *arena becomes the old one. */
static bool set_rules(struct webhook_config *config,
                      const struct webhook_rules *rules, struct arena **arena)
{
    const bool changed = !are_same(&config->rules, rules);
    if (changed) {
        struct arena *old = config->arena;
        config->arena = *arena;
        config->rules = *rules;
        *arena = old;
    }
    if (changed || config->wrong.status != HT_OK)
        log_event(LOG_INFO, "webhooks.read", "webhooks=%zu", rules->n);
    config->wrong = (struct ht_error){0};
    return changed;
}

bool webhook_config_look(struct webhook_config *config)
{
    struct text text = {0};
    struct stat info;
    struct arena *arena = arena_new();
    struct webhook_rules rules = {0};
    struct ht_error err = {0};
    bool changed = false;
    const char *path = arena_printf(arena, "%s/webhooks.json", config->folder);
    enum ht_status status = read_file(path, FILE_BYTES, &text, &info, &err);
    if (status == HT_OK)
        status = webhook_rules_read(arena, config->folder, text_string(&text),
                                    &rules, &err);
    secret_wipe(&text);
    if (status == HT_OK)
        settle(path);
    const bool missing = status == HT_NOT_FOUND;
    /* An editor may remove the old file before the new one is there. */
    if (status == HT_OK || (missing && config->missing)) {
        changed = set_rules(config, &rules, &arena);
    } else if (!missing && strcmp(config->wrong.text, err.text) != 0) {
        config->wrong = err;
        log_event(LOG_ERROR, "webhooks.wrong", "reason=\"%s\"", err.text);
    }
    config->missing = missing;
    arena_free(arena);
    return changed;
}

void webhook_config_init(struct webhook_config *config, const char *folder)
{
    *config = (struct webhook_config){.folder = folder, .arena = arena_new()};
}

void webhook_config_fini(struct webhook_config *config)
{
    arena_free(config->arena);
}
