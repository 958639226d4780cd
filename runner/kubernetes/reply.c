#include "runner/kubernetes/reply.h"

#include <string.h>

#include "proto/doc/node.h"

/* \u0000 becomes \ufffd, which is as long. An escaped backslash begins no
 * escape of what is behind it. */
static void replace_nuls(struct text *text)
{
    static const char nul[] = "u0000", other[] = "ufffd";
    char *end = text->data + text->len;
    char *at = memchr(text->data, '\\', text->len);
    while (at != NULL && end - at > (ptrdiff_t)strlen(nul)) {
        if (memcmp(at + 1, nul, strlen(nul)) == 0)
            memcpy(at + 1, other, strlen(other));
        at = memchr(at + 2, '\\', (size_t)(end - at - 2));
    }
}

const struct node *kube_reply_read(struct arena *arena, struct text *text)
{
    struct diag diag;
    if (text->len == 0)
        return NULL;
    diag_init(&diag, arena, "answer", NULL, 0);
    replace_nuls(text);
    return node_read_long_json(arena, text->data, text->len, &diag);
}
