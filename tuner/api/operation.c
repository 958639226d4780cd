#include "tuner/api/operation.h"
#include "tuner/ask/faults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "tuner/ask/filter.h"
#include "tuner/ask/query.h"
#include "tuner/core/core.h"

enum {
    KEPT = 1000,                 /* operations */
    KEPT_BYTES = 8 * 1024 * 1024 /* of their texts */
};

struct kept_operation {
    int64_t number; /* counts from 1; 0: the place is free */
    char *name, *text;
    size_t bytes;
};

/* A ring: number n is at n % KEPT. */
struct operation_table {
    int64_t oldest, next;
    size_t bytes;
    struct kept_operation places[KEPT];
};

struct operation_table *operation_table_new(void)
{
    struct operation_table *operations = ht_xcalloc(1, sizeof *operations);
    operations->oldest = operations->next = 1;
    return operations;
}

static void forget(struct operation_table *operations,
                   struct kept_operation *place)
{
    operations->bytes -= place->bytes;
    free(place->name);
    free(place->text);
    *place = (struct kept_operation){0};
}

void operation_table_free(struct operation_table *operations)
{
    for (size_t i = 0; operations != NULL && i < KEPT; i++)
        forget(operations, &operations->places[i]);
    free(operations);
}

static void forget_oldest(struct operation_table *operations)
{
    forget(operations, &operations->places[operations->oldest % KEPT]);
    operations->oldest++;
}

/* `data` is the name and the text, each with its NUL. */
static void apply_keep(struct core *core, const void *data)
{
    struct operation_table *operations = core_part(core, CORE_OPERATIONS);
    const char *name = data, *text = name + strlen(name) + 1;
    const size_t bytes = strlen(name) + strlen(text) + 2;
    while (operations->next - operations->oldest >= KEPT ||
           (operations->oldest < operations->next &&
            operations->bytes + bytes > KEPT_BYTES))
        forget_oldest(operations);
    struct kept_operation *place = &operations->places[operations->next % KEPT];
    *place = (struct kept_operation){.number = operations->next++,
                                     .name = ht_xstrdup(name),
                                     .text = ht_xstrdup(text),
                                     .bytes = bytes};
    operations->bytes += bytes;
}

/* --- making one --- */

cJSON *operation_message(const struct request *req, const char *type)
{
    struct text name = {0};
    text_printf(&name, "type.googleapis.com/google.cloud.aiplatform.%s.%s",
                req->version != NULL ? req->version : "v1", type);
    cJSON *message = cJSON_CreateObject();
    json_add_string(message, "@type", name.data);
    text_free(&name);
    return message;
}

cJSON *operation_empty(void)
{
    cJSON *message = cJSON_CreateObject();
    json_add_string(message, "@type",
                    "type.googleapis.com/google.protobuf.Empty");
    return message;
}

void operation_add_times(struct core *core, cJSON *metadata)
{
    char stamp[CLOCK_STAMP_BYTES];
    clock_stamp(stamp, core_wall_ms(core));
    cJSON *generic = json_add_object(metadata, "genericMetadata");
    json_add_string(generic, "createTime", stamp);
    json_add_string(generic, "updateTime", stamp);
}

static void add_error(cJSON *object, const struct ht_error *why)
{
    cJSON *error = json_add_object(object, "error");
    json_add_int(error, "code", ht_status_code(why->status));
    json_add_string(error, "message", why->text);
}

/* Leaves what the messages of Google have. */
static void drop_own(cJSON *operation)
{
    cJSON *response = cJSON_GetObjectItemCaseSensitive(operation, "response");
    cJSON *trials = cJSON_GetObjectItemCaseSensitive(response, "trials");
    cJSON *trial;
    cJSON_ArrayForEach(trial, trials)
        cJSON_DeleteItemFromObjectCaseSensitive(trial, "hypertune");
}

/* Keeps the text of the operation once it is committed. */
static void keep(struct core *core, struct request *req, const char *name,
                 cJSON *object)
{
    struct text text = {0};
    json_print(object, &text);
    const size_t name_bytes = strlen(name) + 1;
    const size_t bytes = name_bytes + text.len + 1;
    char *both = arena_alloc(req->arena, bytes, 1);
    memcpy(both, name, name_bytes);
    memcpy(both + name_bytes, text.data, text.len + 1);
    text_free(&text);
    core_defer(core, apply_keep, both, bytes);
}

void operation_reply(struct core *core, struct request *req,
                     struct operation *operation)
{
    cJSON *object = cJSON_CreateObject();
    const char *name = arena_printf(req->arena, "%s/operations/%" PRIu64,
                                    operation->resource, token_random64() >> 1);
    json_add_string(object, "name", name);
    if (operation->metadata != NULL)
        cJSON_AddItemToObject(object, "metadata", operation->metadata);
    json_add_bool(object, "done", true);
    if (operation->response != NULL)
        cJSON_AddItemToObject(object, "response", operation->response);
    else
        add_error(object, &operation->why);
    cJSON *kept = cJSON_Duplicate(object, true);
    drop_own(kept);
    keep(core, req, name, kept);
    json_print(object, &req->reply);
}

/* --- asking for one --- */

static const char *collection_of(const struct request *req)
{
    switch (req->scope.kinds) {
    case STUDY_KIND(JOB_TUNING):
        return "hyperparameterTuningJobs";
    case STUDY_KIND(JOB_CUSTOM):
        return "customJobs";
    default:
        return "studies";
    }
}

/* The resource that the path names, with a slash. AI Platform's paths name a
 * project alone, and so everything in it. */
static const char *parent_of(const struct request *req)
{
    struct arena *arena = req->arena;
    const char *parent =
        arena_printf(arena, "projects/%s/", req->scope.project);
    if (req->scope.location != NULL)
        parent =
            arena_printf(arena, "%slocations/%s/", parent, req->scope.location);
    if (req->study != NULL)
        parent = arena_printf(arena, "%s%s/%s/", parent, collection_of(req),
                              req->study);
    if (req->trial != NULL)
        parent = arena_printf(arena, "%strials/%s/", parent, req->trial);
    return parent;
}

static bool is_below(const char *parent, const char *name)
{
    return strncmp(name, parent, strlen(parent)) == 0;
}

static struct kept_operation *find(struct core *core, const struct request *req,
                                   struct ht_error *err)
{
    struct operation_table *operations = core_part(core, CORE_OPERATIONS);
    const char *parent = parent_of(req);
    for (size_t i = 0; i < KEPT; i++) {
        struct kept_operation *place = &operations->places[i];
        if (place->number > 0 &&
            strcmp(strrchr(place->name, '/') + 1, req->operation) == 0 &&
            is_below(parent, place->name))
            return place;
    }
    ht_fail(err, HT_NOT_FOUND,
            "there is no operation %.100s; the newest %d since the server's "
            "start are kept",
            req->operation, KEPT);
    return NULL;
}

enum ht_status operation_get(struct core *core, struct request *req,
                             struct ht_error *err)
{
    const struct kept_operation *place = find(core, req, err);
    if (place == NULL)
        return HT_NOT_FOUND;
    text_puts(&req->reply, place->text);
    return HT_OK;
}

static void apply_forget(struct core *core, const void *data)
{
    struct operation_table *operations = core_part(core, CORE_OPERATIONS);
    const int64_t *number = data;
    struct kept_operation *place = &operations->places[*number % KEPT];
    if (place->number == *number)
        forget(operations, place);
}

enum ht_status operation_delete(struct core *core, struct request *req,
                                struct ht_error *err)
{
    const struct kept_operation *place = find(core, req, err);
    if (place == NULL)
        return HT_NOT_FOUND;
    core_defer(core, apply_forget, &place->number, sizeof place->number);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

enum ht_status operation_cancel(struct core *core, struct request *req,
                                struct ht_error *err)
{
    if (find(core, req, err) == NULL)
        return HT_NOT_FOUND;
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct kept_operation *place = item;
    (void)key;
    values[0] = strcmp(field, "done") == 0 ? "true" : place->name;
    return 1;
}

/* One answer has the faults of all members of the query. */
static enum ht_status read_query(struct request *req, struct query_page *page,
                                 const struct filter **filter,
                                 struct ht_error *err)
{
    static const char *const flags[] = {"true", "false", NULL};
    static const struct filter_field fields[] = {{"done", FILTER_NAME, flags},
                                                 {"name", FILTER_TEXT, NULL},
                                                 {NULL, FILTER_TEXT, NULL}};
    struct ht_error why;
    query_page(req, page, err);
    const enum ht_status status = filter_read(
        req->arena, request_query(req, "filter"), fields, filter, &why);
    faults_add(req, "filter", status, &why);
    return faults_check(req, err);
}

enum ht_status operation_list(struct core *core, struct request *req,
                              struct ht_error *err)
{
    struct operation_table *operations = core_part(core, CORE_OPERATIONS);
    struct query_page page;
    const struct filter *filter;
    const enum ht_status status = read_query(req, &page, &filter, err);
    if (status != HT_OK)
        return status;
    int64_t number = page.token > 0 && page.token < operations->next
                         ? page.token
                         : operations->next;
    const char *parent = parent_of(req);
    size_t written = 0;
    text_puts(&req->reply, "{\"operations\":[");
    while (--number >= operations->oldest && written < page.size) {
        struct kept_operation *place = &operations->places[number % KEPT];
        if (place->number != number || !is_below(parent, place->name) ||
            !filter_allows(filter, look_up, place))
            continue;
        text_puts(&req->reply, written++ == 0 ? "" : ",");
        text_puts(&req->reply, place->text);
    }
    query_page_end(req, number >= operations->oldest ? number + 1 : 0);
    return HT_OK;
}
