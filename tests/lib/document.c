#include "tests/lib/document.h"

#include <stdio.h>
#include <string.h>

#include "proto/doc/json.h"

void document_read(struct document *document, document_reader reader,
                   const char *text, size_t len)
{
    document->arena = arena_new();
    diag_init(&document->diag, document->arena, "spec", text, len);
    document->root = reader(document->arena, text, len, &document->diag);
}

void document_free(struct document *document)
{
    arena_free(document->arena);
}

static int is_same(const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return 1;
    printf("#   got  %s\n#   want %s\n", got, want);
    return 0;
}

int document_is(document_reader reader, const char *text, const char *json)
{
    struct document document;
    struct text out = {0};
    document_read(&document, reader, text, strlen(text));
    diag_print(&document.diag, &out);
    if (document.root != NULL)
        json_print(json_of_node(document.root), &out);
    int same = is_same(out.data, json);
    text_free(&out);
    document_free(&document);
    return same;
}

int document_fails(document_reader reader, const char *text, size_t len,
                   const char *want)
{
    struct document document;
    document_read(&document, reader, text, len);
    const struct diag_item *item = document.diag.first;
    char got[512] = "no fault";
    if (document.root != NULL)
        snprintf(got, sizeof got, "a tree");
    else if (item != NULL)
        snprintf(got, sizeof got, "%d:%d: %s", item->line, item->column,
                 item->text);
    int same = is_same(got, want);
    document_free(&document);
    return same;
}
