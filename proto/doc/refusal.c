#include "proto/doc/refusal.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"

static enum ht_status status_of(const char *rpc, long code)
{
    for (int one = HT_INVALID; one <= HT_TIMEOUT; one++)
        if (strcmp(rpc, ht_status_rpc((enum ht_status)one)) == 0)
            return (enum ht_status)one;
    for (int one = HT_INVALID; one <= HT_TIMEOUT; one++)
        if (code == ht_status_http((enum ht_status)one))
            return (enum ht_status)one;
    return HT_INTERNAL;
}

enum ht_status refusal_read(const struct node *root, long code,
                            struct ht_error *err)
{
    const struct node *error = node_find(root, "error");
    const char *rpc = node_get_string(error, "status", "");
    const char *message = node_get_string(error, "message", "");
    if (message[0] == '\0')
        return ht_fail(err, status_of(rpc, code),
                       "the server answered %ld without a reason", code);
    return ht_fail(err, status_of(rpc, code), "%s", message);
}

enum ht_status refusal_parse(const char *bytes, size_t len, long code,
                             struct ht_error *err)
{
    struct diag diag;
    struct arena *arena = arena_new();
    diag_init(&diag, arena, "answer", NULL, 0);
    const struct node *root = node_read_json(arena, bytes, len, &diag);
    const enum ht_status status = refusal_read(root, code, err);
    arena_free(arena);
    return status;
}
