#include "runner/kubernetes/lines.h"

#include <string.h>

#include "runner/kubernetes/reply.h"

static enum kube_lines_end hand_over(struct kube_lines *lines, kube_line *take,
                                     void *context)
{
    struct arena *arena = arena_new();
    const struct node *line = kube_reply_read(arena, &lines->line);
    enum kube_lines_end end = KUBE_LINES_BROKEN;
    if (line != NULL && line->kind == NODE_MAP)
        end = take(context, line) ? KUBE_LINES_MORE : KUBE_LINES_LEFT;
    text_clear(&lines->line);
    arena_free(arena);
    return end;
}

enum kube_lines_end kube_lines_feed(struct kube_lines *lines, const char *bytes,
                                    size_t len, kube_line *take, void *context)
{
    enum kube_lines_end end = KUBE_LINES_MORE;
    while (len > 0 && end == KUBE_LINES_MORE) {
        const char *feed = memchr(bytes, '\n', len);
        const size_t part = feed != NULL ? (size_t)(feed - bytes) : len;
        const size_t used = feed != NULL ? part + 1 : part;
        if (lines->line.len + part > KUBE_LINE_MOST)
            return KUBE_LINES_BROKEN;
        text_append(&lines->line, bytes, part);
        bytes += used;
        len -= used;
        if (feed != NULL && lines->line.len > 0)
            end = hand_over(lines, take, context);
    }
    return end;
}

void kube_lines_fini(struct kube_lines *lines)
{
    text_free(&lines->line);
}
