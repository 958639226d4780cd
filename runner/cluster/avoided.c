#include "runner/cluster/avoided.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"

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

void avoided_add(struct avoided *avoided, const char *nodes, int64_t now_ms)
{
    if (nodes[0] == '\0')
        return;
    forget_old(avoided, now_ms);
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
    avoided->items[i].until_ms = now_ms + AVOIDED_MS;
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
