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

/* --- queue --- */

void request_queue_init(struct request_queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

void request_queue_push(struct request_queue *queue, struct request *req)
{
    req->next = NULL;
    *queue->last = req;
    queue->last = &req->next;
}

struct request *request_queue_pop(struct request_queue *queue)
{
    struct request *req = queue->first;
    if (req == NULL)
        return NULL;
    queue->first = req->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    req->next = NULL;
    return req;
}

void request_queue_prepend(struct request_queue *to, struct request_queue *from)
{
    if (from->first == NULL)
        return;
    *from->last = to->first;
    if (to->first == NULL)
        to->last = from->last;
    to->first = from->first;
    request_queue_init(from);
}

void request_queue_append(struct request_queue *to, struct request_queue *from)
{
    if (from->first == NULL)
        return;
    *to->last = from->first;
    to->last = from->last;
    request_queue_init(from);
}
