/* reread.h - the law of every document: what was read, printed as JSON and read
 * again is the same tree. Breaking it aborts, which is a finding. */
#ifndef HT_TESTS_FUZZ_REREAD_H
#define HT_TESTS_FUZZ_REREAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"

typedef struct node *(*reread_reader)(struct arena *, const char *, size_t,
                                      struct diag *);

static void reread_same(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->count != b->count)
        abort();
    if ((a->text == NULL) != (b->text == NULL) ||
        (a->key == NULL) != (b->key == NULL))
        abort();
    if (a->text != NULL && strcmp(a->text, b->text) != 0)
        abort();
    if (a->key != NULL && strcmp(a->key, b->key) != 0)
        abort();
    if (a->line < 1 || a->column < 1)
        abort();
    const struct node *x = a->first, *y = b->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        reread_same(x, y);
    if (x != y)
        abort();
}

/* Reads the bytes; a tree must survive the way through our printer, and a
 * refusal must have been explained. */
static int reread_check(reread_reader reader, const uint8_t *data, size_t size)
{
    json_init();
    struct arena *arena = arena_new();
    struct diag diag, again;
    struct text out = {0}, printed = {0};
    char *text = malloc(size + 1); /* exact, so that overreads are seen */
    memcpy(text, data, size);
    text = realloc(text, size > 0 ? size : 1);
    diag_init(&diag, arena, "input", text, size);
    struct node *tree = reader(arena, text, size, &diag);
    diag_print(&diag, &out);
    if ((tree == NULL) != (diag.errors > 0))
        abort();
    if (tree != NULL) {
        json_print(json_of_node(tree), &printed);
        diag_init(&again, arena, "printed", printed.data, printed.len);
        struct node *twin =
            node_read_json(arena, printed.data, printed.len, &again);
        if (twin != NULL)
            reread_same(tree, twin);
        else if (printed.len <= HT_MAX_SPEC)
            abort();
    }
    free(text);
    text_free(&out);
    text_free(&printed);
    arena_free(arena);
    return 0;
}

#endif
