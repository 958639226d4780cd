/* filter.h - the `filter` of list requests, in Google's language: comparisons
 * joined by AND, OR and NOT.
 *
 *     state="JOB_STATE_RUNNING" AND NOT labels.team:* OR display_name:"a*"
 *
 * OR binds more tightly than AND, as Google has it. A text has = and != and,
 * with * for any characters, ":"; a time is compared with = != < <= > >=; of a
 * map, labels.key is the value of one key and labels:key asks for a key. */
#ifndef HT_TUNER_FILTER_H
#define HT_TUNER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/arena.h"
#include "proto/error.h"

enum filter_kind { FILTER_TEXT, FILTER_TIME, FILTER_MAP };

struct filter_field {
    const char *name; /* camelCase; a filter may also say snake_case */
    enum filter_kind kind;
};

/* Stores what an item has for a field, at most FILTER_VALUES texts, and returns
 * how many: names that mean the same are all given. A time is an RFC 3339
 * stamp. Of a map, the value of `key`; else key is NULL. */
enum { FILTER_VALUES = 4 };
typedef size_t filter_lookup(void *item, const char *field, const char *key,
                             const char *values[FILTER_VALUES]);

struct filter; /* NULL: everything is wanted */

/* `text` NULL or blank gives NULL. The last field has the name NULL.
 * HT_INVALID  not of that form, an unknown field, or too long */
enum ht_status filter_read(struct arena *arena, const char *text,
                           const struct filter_field fields[],
                           const struct filter **filter, struct ht_error *err);

bool filter_allows(const struct filter *filter, filter_lookup *lookup,
                   void *item);

#endif
