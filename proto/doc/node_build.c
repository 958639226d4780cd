#include "proto/doc/node_build.h"

#include <stdlib.h>
#include <string.h>

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
