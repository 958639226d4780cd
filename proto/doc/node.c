#include "proto/doc/node.h"

#include <math.h>
#include <stdlib.h>
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

const struct node *node_items(const struct node *list)
{
    return list != NULL ? list->first : NULL;
}

const struct node *node_first(const struct node *map, const char *key)
{
    return node_items(node_find(map, key));
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

bool node_special_double(const struct node *node, double *value)
{
    static const struct {
        const char *text;
        double value;
    } special[] = {
        {"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = node_string(node);
    for (size_t i = 0; text && i < sizeof special / sizeof *special; i++) {
        if (strcmp(text, special[i].text) == 0) {
            *value = special[i].value;
            return true;
        }
    }
    return false;
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
    return node_double(node, &value) || node_special_double(node, &value)
               ? value
               : fallback;
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

struct node *node_new(struct arena *arena, enum node_kind kind,
                      const char *text, struct node_place place)
{
    struct node *node = arena_alloc(arena, 1, sizeof *node);
    node->kind = kind;
    node->text = text;
    node->line = place.line;
    node->column = place.column;
    return node;
}

void node_append(struct node *parent, struct node **tail, struct node *child)
{
    if (*tail == NULL)
        parent->first = child;
    else
        (*tail)->next = child;
    *tail = child;
    parent->count++;
}

static int by_key_and_place(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left;
    const struct node *b = *(const struct node *const *)right;
    int order = strcmp(a->key, b->key);
    if (order != 0)
        return order;
    if (a->key_line != b->key_line)
        return a->key_line < b->key_line ? -1 : 1;
    return (a->key_column > b->key_column) - (a->key_column < b->key_column);
}

/* Sorting keeps a hostile map of 10^5 keys at milliseconds, where comparing
 * every pair would take minutes. */
void node_check_keys(const struct node *map, struct diag *diag)
{
    if (map->count < 2)
        return;
    const struct node **sorted = ht_xcalloc(map->count, sizeof(void *));
    size_t n = 0;
    for (const struct node *child = map->first; child; child = child->next)
        sorted[n++] = child;
    qsort((void *)sorted, n, sizeof(void *), by_key_and_place);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) != 0)
            continue;
        diag_error(diag, sorted[i]->key_line, sorted[i]->key_column, NULL,
                   "\"%s\" was given before, on line %d", sorted[i]->key,
                   sorted[i - 1]->key_line);
        diag_hint(diag, "keep one of the two");
    }
    free((void *)sorted);
}

struct node_place node_place_after(struct node_place place, const char *from,
                                   const char *to)
{
    for (; from < to; from++) {
        if (*from == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)*from & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}
