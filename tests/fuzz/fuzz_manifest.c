/* Any bytes as a manifest: what is accepted is the one form of that tree, both
 * ways of reading agree, and no path leads out or lies below another entry. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/tree/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum ht_status count(void *context, const struct tree_entry *entry,
                            struct ht_error *err)
{
    size_t *n = context;
    (void)err;
    (*n)++;
    return entry->path[0] == '/' || strstr(entry->path, "//") != NULL
               ? (abort(), HT_OK)
               : HT_OK;
}

static void check_above(const struct tree_manifest *manifest)
{
    for (size_t i = 0; i < manifest->n; i++)
        for (size_t j = 0; j < i; j++) {
            const char *above = manifest->entries[j].path;
            const size_t len = strlen(above);
            if (strncmp(manifest->entries[i].path, above, len) == 0 &&
                manifest->entries[i].path[len] == '/')
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ht_error err;
    struct tree_manifest manifest = {0};
    struct arena *arena = arena_new(), *visited = arena_new();
    const char *bytes = (const char *)data;
    size_t n = 0;
    const enum ht_status status =
        tree_manifest_read(arena, bytes, size, &manifest, &err);
    if (tree_manifest_visit(visited, bytes, size, count, &n, &err) != status)
        abort();
    if (status == HT_OK) {
        struct text out = {0};
        tree_manifest_write(&manifest, &out);
        if (n != manifest.n || out.len != size ||
            memcmp(out.data, bytes, size) != 0)
            abort();
        text_free(&out);
        check_above(&manifest);
    }
    arena_free(visited);
    arena_free(arena);
    return 0;
}
