#include "tuner/core/request.h"

#include <stdlib.h>
#include <string.h>

struct request *request_new(void)
{
    struct request *req = ht_xcalloc(1, sizeof *req);
    req->arena = arena_new();
    return req;
}

void request_free(struct request *req)
{
    if (req == NULL)
        return;
    text_free(&req->reply);
    arena_free(req->arena);
    free(req);
}

const char *request_query(const struct request *req, const char *name)
{
    for (size_t i = 0; i < req->query.n; i++)
        if (strcmp(req->query.items[i].name, name) == 0)
            return req->query.items[i].value;
    return NULL;
}
