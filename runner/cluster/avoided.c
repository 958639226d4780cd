#include "runner/cluster/avoided.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

static const char avoided_file[] = "avoided.json";

enum { AVOIDED_MS = 30 * 60 * 1000, MOST = 32 };

static void forget(struct avoided *avoided, size_t i)
{
    free(avoided->items[i].nodes);
    avoided->items[i] = avoided->items[--avoided->n];
}

static void forget_old(struct avoided *avoided, int64_t now_ms)
{
    for (size_t i = avoided->n; i-- > 0;)
        if (now_ms >= avoided->items[i].until_ms)
            forget(avoided, i);
}

void avoided_fini(struct avoided *avoided)
{
    while (avoided->n > 0)
        forget(avoided, 0);
    free(avoided->items);
    *avoided = (struct avoided){.n = 0};
}

static void add(struct avoided *avoided, const char *nodes, int64_t until_ms)
{
    size_t i = 0;
    while (i < avoided->n && strcmp(avoided->items[i].nodes, nodes) != 0)
        i++;
    if (i == MOST) {
        forget(avoided, 0);
        i = avoided->n;
    }
    if (avoided->items == NULL)
        avoided->items = ht_xcalloc(MOST, sizeof *avoided->items);
    if (i == avoided->n) {
        const size_t size = strlen(nodes) + 1;
        avoided->items[i].nodes = memcpy(ht_xcalloc(1, size), nodes, size);
        avoided->n++;
    }
    avoided->items[i].until_ms = until_ms;
}

void avoided_add(struct avoided *avoided, const char *nodes, int64_t now_ms)
{
    if (nodes[0] == '\0')
        return;
    forget_old(avoided, now_ms);
    add(avoided, nodes, now_ms + AVOIDED_MS);
}

const char *avoided_text(struct avoided *avoided, struct arena *arena,
                         int64_t now_ms)
{
    struct text out = {0};
    forget_old(avoided, now_ms);
    for (size_t i = 0; i < avoided->n; i++) {
        text_puts(&out, i > 0 ? "," : "");
        text_puts(&out, avoided->items[i].nodes);
    }
    return avoided->n > 0 ? text_take(&out, arena) : NULL;
}

/* ---- over a restart ---- */

/* {"n1": N, "n[3-4]": N}: until when, by the wall clock. */
enum ht_status avoided_write(const struct avoided *avoided, const char *folder,
                             int64_t now_ms, struct ht_error *err)
{
    struct text out = {0};
    const int64_t wall_ms = clock_wall_ms();
    json_open(&out, NULL);
    for (size_t i = 0; i < avoided->n; i++)
        json_put_int(&out, avoided->items[i].nodes,
                     wall_ms + avoided->items[i].until_ms - now_ms);
    json_close(&out);
    const enum ht_status status =
        disk_write(folder, avoided_file, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

void avoided_read(struct avoided *avoided, const char *folder, int64_t now_ms)
{
    struct arena *arena = arena_new();
    const struct node *map;
    const int64_t wall_ms = clock_wall_ms();
    const bool is_read =
        disk_read_json(arena, folder, avoided_file, &map, NULL) == HT_OK;
    NODE_EACH (node, is_read ? map->first : NULL) {
        const int64_t left = node_get_int(map, node->key, 0) - wall_ms;
        if (left > 0 && left <= AVOIDED_MS)
            add(avoided, node->key, now_ms + left);
    }
    arena_free(arena);
}
