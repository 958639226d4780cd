/* Apart from node.c, so that who reads only JSON links without libyaml. */
#include "proto/doc/node.h"

#include <string.h>

struct node *node_read(struct arena *arena, const char *text, size_t len,
                       struct diag *diag)
{
    size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < len && (text[at] == ' ' || text[at] == '\t' ||
                        text[at] == '\r' || text[at] == '\n'))
        at++;
    if (at < len && (text[at] == '{' || text[at] == '['))
        return node_read_json(arena, text, len, diag);
    return node_read_yaml(arena, text, len, diag);
}
