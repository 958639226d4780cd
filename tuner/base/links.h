/* links.h - lists without memory of their own: a ring of links that are members
 * of what is listed, so that adding and removing take the same short time
 * however long a list is.
 *
 * A list is a link too, and begins as links_init() leaves it; it must not be
 * moved. Who owns the list guards it. */
#ifndef HT_TUNER_BASE_LINKS_H
#define HT_TUNER_BASE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct links {
    struct links *before, *next;
};

/* The struct whose `member` the link is. */
#define LINKS_OF(link, type, member)                                           \
    ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* An empty list, or a link that is in none. */
static inline void links_init(struct links *link)
{
    link->before = link->next = link;
}

static inline bool links_empty(const struct links *list)
{
    return list->next == list;
}

/* Of a link that is in no list it does nothing. */
static inline void links_remove(struct links *link)
{
    link->before->next = link->next;
    link->next->before = link->before;
    links_init(link);
}

/* Moves the link to the end of the list, from wherever it is. */
static inline void links_append(struct links *list, struct links *link)
{
    links_remove(link);
    link->before = list->before;
    link->next = list;
    list->before->next = link;
    list->before = link;
}

#endif
