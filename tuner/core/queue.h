/* queue.h - requests in line, linked through their own `next`. One thread at
 * a time. */
#ifndef HT_TUNER_CORE_QUEUE_H
#define HT_TUNER_CORE_QUEUE_H

#include "tuner/core/request.h"

struct queue {
    struct request *first, **last;
};

void queue_init(struct queue *queue);
void queue_push(struct queue *queue, struct request *req);
/* The first one, or NULL. */
struct request *queue_pop(struct queue *queue);
/* Puts all of `from` before what `to` holds; `from` is empty afterwards. */
void queue_prepend(struct queue *to, struct queue *from);
/* Puts all of `from` behind what `to` holds; `from` is empty afterwards. */
void queue_append(struct queue *to, struct queue *from);

#endif
