#include "tuner/core/fair_queue.h"

#include <stdlib.h>

#include "proto/base/arena.h"

enum {
    LEAST_US = 1,    /* an item costs that at least, so that turns alternate */
    IDLE_GROUPS = 32 /* kept at each level, so that no request allocates */
};

struct line {
    struct fair_item *first, **last;
};

/* Of an owner or, below it, of a study: they have the same fields. */
struct group {
    uint64_t key;
    int64_t spent_us;     /* its virtual time */
    size_t waiting;       /* items, its parts' too */
    size_t waiting_slow;  /* of them */
    struct line lines[2]; /* quick and slow ones; of a study */
    struct group *parts;  /* studies of an owner */
    size_t n_parts;
    uint64_t since;       /* number of the item that made it wait again */
    int64_t part_time_us; /* virtual time among the parts */
    struct group *next;
};

struct fair_queue {
    struct group root; /* its parts are the owners */
    uint64_t numbers;
};

struct fair_queue *fair_queue_new(void)
{
    return ht_xcalloc(1, sizeof(struct fair_queue));
}

static void free_parts(struct group *group)
{
    struct group *part;
    while ((part = group->parts) != NULL) {
        group->parts = part->next;
        free_parts(part);
        free(part);
    }
}

void fair_queue_free(struct fair_queue *queue)
{
    if (queue == NULL)
        return;
    free_parts(&queue->root);
    free(queue);
}

uint64_t fair_key(const char *name)
{
    uint64_t key = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; name != NULL && *name != '\0'; name++)
        key = (key ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return key;
}

/* --- groups --- */

static struct group *find(const struct group *group, uint64_t key)
{
    struct group *part = group->parts;
    while (part != NULL && part->key != key)
        part = part->next;
    return part;
}

/* One that is idle and owes nothing is as good as a new one. */
static void drop_idle(struct group *group)
{
    struct group **link = &group->parts;
    while (*link != NULL) {
        struct group *part = *link;
        if (part->waiting > 0 || part->spent_us > group->part_time_us) {
            link = &part->next;
            continue;
        }
        *link = part->next;
        group->n_parts--;
        free_parts(part);
        free(part);
    }
}

static struct group *find_or_make(struct group *group, uint64_t key)
{
    struct group *part = find(group, key);
    if (part != NULL)
        return part;
    if (group->n_parts >= IDLE_GROUPS)
        drop_idle(group);
    part = ht_xcalloc(1, sizeof *part);
    part->key = key;
    part->lines[0].last = &part->lines[0].first;
    part->lines[1].last = &part->lines[1].first;
    part->next = group->parts;
    group->parts = part;
    group->n_parts++;
    return part;
}

/* Its idle time is no credit, and of its debt only the newest part stays: what
 * nobody else waited for is free. */
static void enter(struct group *group, struct group *part,
                  const struct fair_item *item)
{
    if (part->waiting == 0 && part->spent_us < group->part_time_us)
        part->spent_us = group->part_time_us;
    if (part->waiting == 0)
        part->since = item->number;
    part->waiting++;
    part->waiting_slow += item->slow;
}

static bool may_begin(const struct group *part, bool slow)
{
    return part->waiting > (slow ? 0 : part->waiting_slow);
}

static bool comes_first(const struct group *a, const struct group *b)
{
    return a->spent_us != b->spent_us ? a->spent_us < b->spent_us
                                      : a->since < b->since;
}

static struct group *choose(struct group *group, bool slow)
{
    struct group *best = NULL;
    for (struct group *part = group->parts; part != NULL; part = part->next)
        if (may_begin(part, slow) && (best == NULL || comes_first(part, best)))
            best = part;
    return best;
}

static int64_t counted(int64_t cost_us)
{
    return cost_us > LEAST_US ? cost_us : LEAST_US;
}

static void leave(struct group *group, struct group *part,
                  const struct fair_item *item)
{
    if (part->spent_us > group->part_time_us)
        group->part_time_us = part->spent_us;
    part->spent_us += counted(item->expected_us);
    part->waiting--;
    part->waiting_slow -= item->slow;
}

/* --- items --- */

void fair_queue_push(struct fair_queue *queue, struct fair_item *item)
{
    item->number = queue->numbers++;
    struct group *owner = find_or_make(&queue->root, item->owner);
    struct group *study = find_or_make(owner, item->study);
    struct line *line = &study->lines[item->slow];
    enter(&queue->root, owner, item);
    enter(owner, study, item);
    queue->root.waiting++;
    item->next = NULL;
    *line->last = item;
    line->last = &item->next;
}

struct fair_item *fair_queue_pop(struct fair_queue *queue, bool slow)
{
    struct group *owner = choose(&queue->root, slow);
    if (owner == NULL)
        return NULL;
    struct group *study = choose(owner, slow);
    const struct fair_item *quick = study->lines[0].first,
                           *late = slow ? study->lines[1].first : NULL;
    const bool takes_slow =
        late != NULL && (quick == NULL || late->number < quick->number);
    struct line *line = &study->lines[takes_slow];
    struct fair_item *item = line->first;
    line->first = item->next;
    if (line->first == NULL)
        line->last = &line->first;
    item->next = NULL;
    leave(&queue->root, owner, item);
    leave(owner, study, item);
    queue->root.waiting--;
    return item;
}

void fair_queue_charge(struct fair_queue *queue, const struct fair_item *item,
                       int64_t cost_us)
{
    const int64_t more = counted(cost_us) - counted(item->expected_us);
    struct group *owner = find(&queue->root, item->owner);
    struct group *study = owner == NULL ? NULL : find(owner, item->study);
    if (owner != NULL)
        owner->spent_us += more;
    if (study != NULL)
        study->spent_us += more;
}

size_t fair_queue_length(const struct fair_queue *queue)
{
    return queue->root.waiting;
}

size_t fair_queue_slow_of(const struct fair_queue *queue, uint64_t owner)
{
    const struct group *group = find(&queue->root, owner);
    return group == NULL ? 0 : group->waiting_slow;
}

bool fair_queue_has(const struct fair_queue *queue, uint64_t owner,
                    uint64_t study, fair_match *match, const void *wanted)
{
    const struct group *group = find(&queue->root, owner);
    group = group == NULL ? NULL : find(group, study);
    for (int i = 0; group != NULL && i < 2; i++)
        for (const struct fair_item *item = group->lines[i].first; item != NULL;
             item = item->next)
            if (match(item, wanted))
                return true;
    return false;
}
