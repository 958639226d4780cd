#include "tests/lib/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"

const char *spec_file(struct arena *arena, const char *path)
{
    struct text text = {0};
    char buffer[4096];
    size_t n;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        printf("# cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    text_puts(&text, "");
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_append(&text, buffer, n);
    fclose(file);
    const char *copy = arena_strndup(arena, text.data, text.len);
    text_free(&text);
    return copy;
}

struct job *spec_read(struct arena *arena, spec_reader *reader,
                      const char *text, struct diag *diag)
{
    diag_init(diag, arena, "spec", text, strlen(text));
    const struct node *root = node_read(arena, text, strlen(text), diag);
    return root == NULL ? NULL : reader(root, diag);
}
