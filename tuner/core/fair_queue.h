/* fair_queue.h - what waits for a thread, in an order in which nobody waits for
 * another's long work.
 *
 * Round robin by owner, and within one owner by study, weighted by cost: of
 * those with something waiting, the one whose work has taken the least time
 * comes first. Idle time earns no credit. Within one study the order is that of
 * coming, but quick items pass slow ones where no slow one may begin. Every
 * item is in one queue at a time, which does not own it. Not locked. */
#ifndef HT_TUNER_CORE_FAIR_QUEUE_H
#define HT_TUNER_CORE_FAIR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins the struct that waits. */
struct fair_item {
    uint64_t owner, study; /* from fair_key(), or any numbers */
    int64_t expected_us;   /* what its work will take, about */
    bool slow;             /* begins only where slow ones may */
    uint64_t number;       /* the queue's own, as `next` */
    struct fair_item *next;
};

struct fair_queue;

struct fair_queue *fair_queue_new(void);
/* Accepts NULL. What waits is not freed. */
void fair_queue_free(struct fair_queue *queue);

/* The key of a name; NULL is a name, too. */
uint64_t fair_key(const char *name);

void fair_queue_push(struct fair_queue *queue, struct fair_item *item);
/* The one whose turn it is, or NULL. Its expected cost counts from now on;
 * with `slow` false slow ones continue to wait. */
struct fair_item *fair_queue_pop(struct fair_queue *queue, bool slow);
/* After its work: the cost was that, not what was expected. */
void fair_queue_charge(struct fair_queue *queue, const struct fair_item *item,
                       int64_t cost_us);

/* Number that wait; of slow ones, those of one owner. */
size_t fair_queue_length(const struct fair_queue *queue);
size_t fair_queue_slow_of(const struct fair_queue *queue, uint64_t owner);
/* Whether one that waits for this owner and study is a match. */
typedef bool fair_match(const struct fair_item *item, const void *wanted);
bool fair_queue_has(const struct fair_queue *queue, uint64_t owner,
                    uint64_t study, fair_match *match, const void *wanted);

#endif
