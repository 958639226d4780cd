#include "tuner/logs/entry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/quote.h"
#include "proto/doc/json.h"
#include "proto/job/job.h"
#include "tuner/ask/filter_tree.h"

static const char resource_type[] = "ml_job";

/* --- keys --- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int entry_key_order(const struct entry_key *a, const struct entry_key *b)
{
    int by = compare(a->us, b->us);
    if (by == 0)
        by = compare((int64_t)a->origin, (int64_t)b->origin);
    if (by == 0)
        by = compare(a->study, b->study);
    if (by == 0)
        by = compare(a->id, b->id);
    return by != 0 ? by : compare(a->line, b->line);
}

/* Fixed widths, enough for centuries. */
char *entry_id(char buffer[ENTRY_ID_BYTES], const struct entry_key *key)
{
    snprintf(buffer, ENTRY_ID_BYTES,
             "%014" PRIx64 "%x%010" PRIx64 "%012" PRIx64 "%06" PRIx64,
             (uint64_t)key->us & 0xFFFFFFFFFFFFFF, (unsigned)key->origin & 0xF,
             (uint64_t)key->study & 0xFFFFFFFFFF,
             (uint64_t)key->id & 0xFFFFFFFFFFFF,
             (uint64_t)key->line & 0xFFFFFF);
    return buffer;
}

/* Reads exactly n hexadecimal digits and moves on. */
static bool read_hex(const char **text, int n, int64_t *value)
{
    static const char digits[] = "0123456789abcdef";
    *value = 0;
    for (int i = 0; i < n; i++) {
        const char *digit =
            (*text)[i] != '\0' ? strchr(digits, (*text)[i]) : NULL;
        if (digit == NULL)
            return false;
        *value = *value * 16 + (digit - digits);
    }
    *text += n;
    return true;
}

bool entry_id_read(const char *text, struct entry_key *key)
{
    struct entry_key read;
    int64_t origin;
    if (!read_hex(&text, 14, &read.us) || !read_hex(&text, 1, &origin) ||
        !read_hex(&text, 10, &read.study) || !read_hex(&text, 12, &read.id) ||
        !read_hex(&text, 6, &read.line) || *text != '\0' ||
        origin > ENTRY_EVENT)
        return false;
    read.origin = (enum entry_origin)origin;
    *key = read;
    return true;
}

/* --- the text of an entry --- */

static const char *const severities[] = {
    "DEFAULT", "DEBUG",    "INFO",  "NOTICE",    "WARNING",
    "ERROR",   "CRITICAL", "ALERT", "EMERGENCY", NULL};

const char *entry_task(struct arena *arena, const struct entry_job *job,
                       const char *replica)
{
    const char *dash = strrchr(replica, '-');
    if (dash == NULL)
        return arena_strdup(arena, replica);
    const int len = (int)(dash - replica);
    if (job->is_legacy)
        return arena_printf(arena, "%.*s-replica%s", len, replica, dash);
    for (int i = 0; i < JOB_POOLS; i++)
        if (strncmp(job_pool_types[i], replica, (size_t)len) == 0 &&
            job_pool_types[i][len] == '\0')
            return arena_printf(arena, "workerpool%d%s", i, dash);
    return arena_strdup(arena, replica);
}

void entry_read_json(struct arena *arena, struct entry *entry)
{
    size_t rank;
    const size_t len = strlen(entry->text);
    if (len < 2 || entry->text[0] != '{' || entry->text[len - 1] != '}')
        return;
    const struct node *node = node_read_stored(arena, entry->text);
    if (node_string(node_find(node, "message")) == NULL)
        return;
    entry->json = node;
    const char *named = node_string(node_find(node, "severity"));
    if (named != NULL && filter_find_rank(severities, named, &rank))
        entry->severity = severities[rank];
}

/* --- labels --- */

enum { LABELS = 6 };

/* Google's names; the trial's also by its name in AI Platform. */
static size_t list_labels(struct arena *arena, const struct entry *entry,
                          struct pair labels[LABELS])
{
    size_t n = 0;
    labels[n++] = (struct pair){"ml.googleapis.com/job_id", entry->job->id};
    labels[n++] = (struct pair){"ml.googleapis.com/task_name", entry->task};
    if (entry->trial > 0 && entry->job->kind == JOB_TUNING) {
        const char *trial =
            arena_printf(arena, "%lld", (long long)entry->trial);
        labels[n++] = (struct pair){"ml.googleapis.com/trial_id", trial};
        labels[n++] = (struct pair){"trial_id", trial};
    }
    if (entry->stream[0] != '\0') {
        labels[n++] = (struct pair){
            "attempt", arena_printf(arena, "%lld", (long long)entry->attempt)};
        labels[n++] = (struct pair){"stream", entry->stream};
    }
    return n;
}

/* --- filters --- */

static const struct filter_field fields[] = {
    {"timestamp", FILTER_TIME, NULL},
    {"receiveTimestamp", FILTER_TIME, NULL},
    {"insertId", FILTER_PHRASE, NULL},
    {"severity", FILTER_RANK, severities},
    {"logName", FILTER_PHRASE, NULL},
    {"textPayload", FILTER_PHRASE, NULL},
    {"jsonPayload", FILTER_PHRASES, NULL},
    {"resource.type", FILTER_PHRASE, NULL},
    {"resource.labels", FILTER_PHRASES, NULL},
    {"labels", FILTER_PHRASES, NULL},
    {NULL, FILTER_PHRASE, NULL}};
static const struct filter_field message = {"the message", FILTER_PHRASE, NULL};
const struct filter_language entry_language = {fields, &message};

static const char *log_name(struct arena *arena, const struct entry *entry)
{
    struct text name = {0};
    text_printf(&name, "projects/%s/logs/", entry->job->project);
    for (const char *at = entry->task; *at != '\0'; at++) {
        const bool is_plain =
            (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
            (*at >= '0' && *at <= '9') || strchr("-_.", *at) != NULL;
        text_printf(&name, is_plain ? "%c" : "%%%02X",
                    is_plain ? *at : (unsigned char)*at);
    }
    const char *copy = arena_strdup(arena, name.data);
    text_free(&name);
    return copy;
}

static size_t look_up_resource(const struct entry *entry, const char *key,
                               const char *values[FILTER_VALUES])
{
    if (strcmp(key, "job_id") == 0) {
        values[0] = entry->job->names[0];
        values[1] = entry->job->names[1];
        return 2;
    }
    values[0] = filter_key_is(key, "project_id")  ? entry->job->project
                : filter_key_is(key, "task_name") ? entry->task
                                                  : NULL;
    return values[0] != NULL;
}

static size_t look_up_label(const struct entry_question *question,
                            const char *key, const char *values[FILTER_VALUES])
{
    struct pair labels[LABELS];
    const size_t n = list_labels(question->arena, question->entry, labels);
    for (size_t i = 0; i < n; i++) {
        if (!filter_key_is(key, labels[i].name))
            continue;
        values[0] = labels[i].value;
        return 1;
    }
    return 0;
}

/* The fields that depend on the text of the entry. */
static size_t look_up_text(const struct entry *entry, const char *field,
                           const char *key, const char *values[FILTER_VALUES])
{
    if (entry->text == NULL)
        return FILTER_UNKNOWN;
    values[0] = entry->text;
    if (strcmp(field, "severity") == 0)
        values[0] = entry->severity;
    else if (strcmp(field, "textPayload") == 0)
        return entry->json == NULL;
    else if (strcmp(field, "jsonPayload") == 0) {
        /* What has members has this one. */
        const char *name = strcmp(key, "*") == 0 ? "message" : key;
        const struct node *member = node_find(entry->json, name);
        values[0] = member != NULL ? member->text : NULL;
        return values[0] != NULL && strcmp(key, "severity") != 0;
    }
    return 1;
}

/* The fields that are set before the text is read. */
static size_t look_up_place(const struct entry_question *question,
                            const char *field, const char *key,
                            const char *values[FILTER_VALUES])
{
    struct arena *arena = question->arena;
    const struct entry *entry = question->entry;
    if (strcmp(field, "resource.labels") == 0)
        return look_up_resource(entry, key, values);
    if (strcmp(field, "labels") == 0)
        return look_up_label(question, key, values);
    if (strcmp(field, "resource.type") == 0)
        values[0] = resource_type;
    else if (strcmp(field, "logName") == 0)
        values[0] = log_name(arena, entry);
    else
        values[0] = clock_stamp_us(arena_alloc(arena, CLOCK_STAMP_BYTES, 1),
                                   entry->key.us);
    return 1;
}

size_t entry_look_up(void *item, const char *field, const char *key,
                     const char *values[FILTER_VALUES])
{
    const struct entry_question *question = item;
    const struct entry *entry = question->entry;
    if (strcmp(field, "insertId") == 0) {
        if (entry->text == NULL)
            return FILTER_UNKNOWN;
        values[0] = entry_id(arena_alloc(question->arena, ENTRY_ID_BYTES, 1),
                             &entry->key);
        return 1;
    }
    const bool is_text =
        strcmp(field, "severity") == 0 || strcmp(field, "textPayload") == 0 ||
        strcmp(field, "jsonPayload") == 0 || strcmp(field, message.name) == 0;
    return is_text ? look_up_text(entry, field, key, values)
                   : look_up_place(question, field, key, values);
}

/* --- JSON --- */

static void write_member(struct text *out, const char *name, const char *value)
{
    text_puts(out, out->data[out->len - 1] == '{' ? "" : ",");
    quote_json(out, name);
    text_puts(out, ":");
    quote_json(out, value);
}

static void write_resource(const struct entry *entry, struct text *out)
{
    text_puts(out, ",\"resource\":{");
    write_member(out, "type", resource_type);
    text_puts(out, ",\"labels\":{");
    write_member(out, "job_id", entry->job->id);
    write_member(out, "project_id", entry->job->project);
    write_member(out, "task_name", entry->task);
    text_puts(out, "}}");
}

static void write_labels(struct arena *arena, const struct entry *entry,
                         struct text *out)
{
    struct pair labels[LABELS];
    const size_t n = list_labels(arena, entry, labels);
    text_puts(out, ",\"labels\":{");
    for (size_t i = 0; i < n; i++)
        write_member(out, labels[i].name, labels[i].value);
    text_puts(out, "}");
}

/* The severity is a member of the entry, so no longer one of the payload. */
static void write_payload(const struct entry *entry, struct text *out)
{
    size_t rank;
    if (entry->json == NULL) {
        write_member(out, "textPayload", entry->text);
        return;
    }
    cJSON *payload = json_of_node(entry->json);
    const char *named = node_string(node_find(entry->json, "severity"));
    if (named != NULL && filter_find_rank(severities, named, &rank))
        cJSON_DeleteItemFromObjectCaseSensitive(payload, "severity");
    text_puts(out, ",\"jsonPayload\":");
    json_print(payload, out);
}

void entry_write(struct arena *arena, const struct entry *entry,
                 struct text *out)
{
    char stamp[CLOCK_STAMP_BYTES], id[ENTRY_ID_BYTES];
    clock_stamp_us(stamp, entry->key.us);
    text_puts(out, "{");
    write_member(out, "timestamp", stamp);
    write_member(out, "receiveTimestamp", stamp);
    write_member(out, "insertId", entry_id(id, &entry->key));
    write_member(out, "severity", entry->severity);
    write_member(out, "logName", log_name(arena, entry));
    write_resource(entry, out);
    write_labels(arena, entry, out);
    write_payload(entry, out);
    text_puts(out, "}");
}
