#include "tuner/core/queue.h"

void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

void queue_push(struct queue *queue, struct request *req)
{
    req->next = NULL;
    *queue->last = req;
    queue->last = &req->next;
}

struct request *queue_pop(struct queue *queue)
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

void queue_prepend(struct queue *to, struct queue *from)
{
    if (from->first == NULL)
        return;
    *from->last = to->first;
    if (to->first == NULL)
        to->last = from->last;
    to->first = from->first;
    queue_init(from);
}

void queue_append(struct queue *to, struct queue *from)
{
    if (from->first == NULL)
        return;
    *to->last = from->first;
    to->last = from->last;
    queue_init(from);
}
