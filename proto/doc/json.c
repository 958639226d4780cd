#include "proto/doc/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/quote.h"

static void *allocate(size_t size)
{
    return ht_xrealloc(NULL, 1, size);
}

void json_init(void)
{
    cJSON_Hooks hooks = {.malloc_fn = allocate, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

/* ---- building ---- */

static cJSON *new_double(double value)
{
    char buffer[TEXT_DOUBLE_BYTES];
    text_of_double(buffer, value);
    return isfinite(value) ? cJSON_CreateRaw(buffer)
                           : cJSON_CreateString(buffer);
}

static cJSON *new_int(int64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%" PRId64, value);
    return cJSON_CreateRaw(buffer);
}

static cJSON *new_string(const char *value)
{
    return value != NULL ? cJSON_CreateString(value) : cJSON_CreateNull();
}

void json_add_double(cJSON *object, const char *key, double value)
{
    cJSON_AddItemToObject(object, key, new_double(value));
}

void json_add_int(cJSON *object, const char *key, int64_t value)
{
    cJSON_AddItemToObject(object, key, new_int(value));
}

void json_add_int_text(cJSON *object, const char *key, int64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%" PRId64, value);
    cJSON_AddStringToObject(object, key, buffer);
}

void json_add_string(cJSON *object, const char *key, const char *value)
{
    cJSON_AddItemToObject(object, key, new_string(value));
}

void json_add_duration(cJSON *object, const char *key, int64_t ms)
{
    char text[32];
    if (ms % 1000 == 0)
        snprintf(text, sizeof text, "%" PRId64 "s", ms / 1000);
    else
        snprintf(text, sizeof text, "%" PRId64 ".%03ds", ms / 1000,
                 (int)(ms % 1000));
    json_add_string(object, key, text);
}

void json_add_bool(cJSON *object, const char *key, bool value)
{
    cJSON_AddBoolToObject(object, key, value);
}

cJSON *json_add_object(cJSON *object, const char *key)
{
    return cJSON_AddObjectToObject(object, key);
}

cJSON *json_add_array(cJSON *object, const char *key)
{
    return cJSON_AddArrayToObject(object, key);
}

void json_add_text(cJSON *object, const char *key, const char *text)
{
    if (text != NULL)
        json_add_string(object, key, text);
}

void json_add_count(cJSON *object, const char *key, int64_t count)
{
    if (count > 0)
        json_add_int(object, key, count);
}

void json_add_flag(cJSON *object, const char *key, bool flag)
{
    if (flag)
        json_add_bool(object, key, true);
}

void json_add_span(cJSON *object, const char *key, int64_t ms)
{
    if (ms > 0)
        json_add_duration(object, key, ms);
}

void json_add_strings(cJSON *object, const char *key,
                      const struct strings *strings)
{
    cJSON *array = strings->n > 0 ? json_add_array(object, key) : NULL;
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

void json_add_pairs(cJSON *object, const char *key, const struct pairs *pairs)
{
    cJSON *map = pairs->n > 0 ? json_add_object(object, key) : NULL;
    for (size_t i = 0; i < pairs->n; i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(map, pairs->items[i].name);
        json_add_string(map, pairs->items[i].name, pairs->items[i].value);
    }
}

void json_add_filled(cJSON *object, const char *key, cJSON *map)
{
    if (map->child != NULL)
        cJSON_AddItemToObject(object, key, map);
    else
        cJSON_Delete(map);
}

void json_push_string(cJSON *array, const char *value)
{
    cJSON_AddItemToArray(array, new_string(value));
}

void json_push_double(cJSON *array, double value)
{
    cJSON_AddItemToArray(array, new_double(value));
}

void json_push_int(cJSON *array, int64_t value)
{
    cJSON_AddItemToArray(array, new_int(value));
}

void json_push_int_text(cJSON *array, int64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%" PRId64, value);
    json_push_string(array, buffer);
}

cJSON *json_push_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(array, object);
    return object;
}

static cJSON *new_of_children(const struct node *node)
{
    bool is_map = node->kind == NODE_MAP;
    cJSON *item = is_map ? cJSON_CreateObject() : cJSON_CreateArray();
    for (const struct node *child = node->first; child; child = child->next) {
        if (is_map)
            cJSON_AddItemToObject(item, child->key, json_of_node(child));
        else
            cJSON_AddItemToArray(item, json_of_node(child));
    }
    return item;
}

cJSON *json_of_node(const struct node *node)
{
    switch (node->kind) {
    case NODE_NULL:
        return cJSON_CreateNull();
    case NODE_BOOL:
        return cJSON_CreateBool(strcmp(node->text, "true") == 0);
    case NODE_NUMBER:
        return cJSON_CreateRaw(node->text);
    case NODE_STRING:
        return cJSON_CreateString(node->text);
    case NODE_LIST:
    case NODE_MAP:
        break;
    }
    return new_of_children(node);
}

/* ---- printing ---- */

enum { COMPACT = -1, INDENT = 2 };

static void new_line(struct text *out, int depth)
{
    if (depth != COMPACT)
        text_printf(out, "\n%*s", depth * INDENT, "");
}

static void print_number(double value, struct text *out)
{
    if (!isfinite(value))
        text_puts(out, "\"");
    text_double(out, value);
    if (!isfinite(value))
        text_puts(out, "\"");
}

static void print_item(const cJSON *item, int depth, struct text *out);

static void print_children(const cJSON *item, int depth, struct text *out)
{
    const bool is_map = cJSON_IsObject(item);
    const int inner = depth == COMPACT ? COMPACT : depth + 1;
    text_puts(out, is_map ? "{" : "[");
    for (const cJSON *child = item->child; child; child = child->next) {
        if (child != item->child)
            text_puts(out, ",");
        new_line(out, inner);
        if (is_map) {
            quote_json(out, child->string);
            text_puts(out, depth == COMPACT ? ":" : ": ");
        }
        print_item(child, inner, out);
    }
    if (item->child != NULL)
        new_line(out, depth);
    text_puts(out, is_map ? "}" : "]");
}

static void print_item(const cJSON *item, int depth, struct text *out)
{
    if (cJSON_IsArray(item) || cJSON_IsObject(item))
        print_children(item, depth, out);
    else if (cJSON_IsString(item))
        quote_json(out, item->valuestring);
    else if (cJSON_IsRaw(item))
        text_puts(out, item->valuestring);
    else if (cJSON_IsNumber(item))
        print_number(item->valuedouble, out);
    else if (cJSON_IsBool(item))
        text_puts(out, cJSON_IsTrue(item) ? "true" : "false");
    else
        text_puts(out, "null");
}

void json_print(cJSON *item, struct text *out)
{
    print_item(item, COMPACT, out);
    cJSON_Delete(item);
}

void json_print_pretty(cJSON *item, struct text *out)
{
    print_item(item, 0, out);
    cJSON_Delete(item);
}

const char *json_text(struct arena *arena, cJSON *item)
{
    struct text text = {0};
    json_print(item, &text);
    return text_take(&text, arena);
}
