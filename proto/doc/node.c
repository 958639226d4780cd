#include "proto/doc/node.h"

#include <math.h>
#include <string.h>

#include "proto/base/number.h"

const struct node *node_find(const struct node *map, const char *key)
{
    if (map == NULL || map->kind != NODE_MAP)
        return NULL;
    for (const struct node *child = map->first; child; child = child->next) {
        if (strcmp(child->key, key) == 0)
            return child;
    }
    return NULL;
}

static bool may_be_number(const struct node *node)
{
    return node != NULL &&
           (node->kind == NODE_NUMBER || node->kind == NODE_STRING);
}

bool node_int64(const struct node *node, int64_t *value)
{
    return may_be_number(node) && number_int64(node->text, value);
}

bool node_double(const struct node *node, double *value)
{
    return may_be_number(node) && number_double(node->text, value);
}

bool node_bool(const struct node *node, bool *value)
{
    if (node == NULL || node->kind != NODE_BOOL)
        return false;
    *value = strcmp(node->text, "true") == 0;
    return true;
}

const char *node_string(const struct node *node)
{
    return node != NULL && node->kind == NODE_STRING ? node->text : NULL;
}

int64_t node_get_int(const struct node *map, const char *key, int64_t fallback)
{
    int64_t value;
    return node_int64(node_find(map, key), &value) ? value : fallback;
}

double node_get_double(const struct node *map, const char *key, double fallback)
{
    const struct node *node = node_find(map, key);
    double value;
    if (node_double(node, &value))
        return value;
    const char *text = node_string(node);
    if (text == NULL)
        return fallback;
    if (strcmp(text, "NaN") == 0)
        return (double)NAN;
    if (strcmp(text, "Infinity") == 0)
        return (double)INFINITY;
    if (strcmp(text, "-Infinity") == 0)
        return -(double)INFINITY;
    return fallback;
}

const char *node_get_string(const struct node *map, const char *key,
                            const char *fallback)
{
    const char *text = node_string(node_find(map, key));
    return text != NULL ? text : fallback;
}

bool node_get_bool(const struct node *map, const char *key, bool fallback)
{
    bool value;
    return node_bool(node_find(map, key), &value) ? value : fallback;
}

const char *node_kind_name(enum node_kind kind)
{
    static const char *const names[] = {
        [NODE_NULL] = "null",       [NODE_BOOL] = "true or false",
        [NODE_NUMBER] = "a number", [NODE_STRING] = "text",
        [NODE_LIST] = "a list",     [NODE_MAP] = "a map",
    };
    return names[kind];
}
