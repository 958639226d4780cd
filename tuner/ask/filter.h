/* filter.h - the `filter` of list requests, in Google's language: comparisons
 * joined by AND, OR and NOT.
 *
 *     state="JOB_STATE_RUNNING" AND NOT labels.team:* OR display_name:"a*"
 *
 * OR binds more tightly than AND, as Google has it. A text has = and != and,
 * with * for any characters, ":"; the name of an enumeration the same, but one
 * that does not exist is refused; a time is compared with = != < <= > >=; of a
 * map, labels.key is the value of one key and labels:key asks for a key.
 *
 * Log entries are asked for in a larger language of the same form: phrases are
 * compared without regard to case and ordered, ":" asks for a part of one, =~
 * and !~ for a regular expression (expression.h); keys may be quoted; values
 * may be a list, ("a" OR "b"); AND may be left out; a value alone is searched
 * in the message; "--" begins a comment. */
#ifndef HT_TUNER_ASK_FILTER_H
#define HT_TUNER_ASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

/* How a field can be compared, and in which of the two languages. */
enum filter_kind {
    FILTER_TEXT,
    FILTER_NAME, /* one of the field's names */
    FILTER_TIME,
    FILTER_MAP,
    /* of log entries */
    FILTER_PHRASE,
    FILTER_PHRASES, /* a map of them */
    FILTER_RANK     /* one of the field's names, compared by its place there */
};

struct filter_field {
    const char *name; /* camelCase; a filter may also use snake_case */
    enum filter_kind kind;
    const char *const *names; /* NULL at the end; of a rank, the lowest first */
};

/* The fields of log entries. */
struct filter_language {
    const struct filter_field *fields;  /* the last has the name NULL */
    const struct filter_field *message; /* where a value alone is searched */
};

/* Stores what an item has for a field, at most FILTER_VALUES texts, and returns
 * how many: names that mean the same are all given. A time is an RFC 3339
 * stamp. Of a map, the value of `key`, or any when that is "*"; else key is
 * NULL. FILTER_UNKNOWN: it has to be read first, see
 * filter_may_allow(). */
enum { FILTER_VALUES = 4 };
#define FILTER_UNKNOWN SIZE_MAX
typedef size_t filter_lookup(void *item, const char *field, const char *key,
                             const char *values[FILTER_VALUES]);

/* Whether the key that a lookup is asked for is that name, or any. */
bool filter_key_is(const char *key, const char *name);

struct filter; /* NULL: everything is wanted */

/* `text` NULL or blank gives NULL. The last field has the name NULL.
 * HT_INVALID  not of that form, an unknown field, or too long */
enum ht_status filter_read(struct arena *arena, const char *text,
                           const struct filter_field fields[],
                           const struct filter **filter, struct ht_error *err);
/* The same in the language of log entries. */
enum ht_status filter_read_log(struct arena *arena, const char *text,
                               const struct filter_language *language,
                               const struct filter **filter,
                               struct ht_error *err);

/* Whether the item is wanted. A field that is unknown may make that unknown,
 * which counts as no. */
bool filter_allows(const struct filter *filter, filter_lookup *lookup,
                   void *item);
/* Whether the item can be wanted, whatever the unknown fields turn out to be.
 */
bool filter_may_allow(const struct filter *filter, filter_lookup *lookup,
                      void *item);

/* Whether a regular expression of it took too long for some item, so that the
 * answers so far may be wrong. */
bool filter_gave_up(const struct filter *filter);

/* The times, both included, outside of which nothing is wanted. */
struct filter_span {
    int64_t from_ns, until_ns; /* since 1970; from > until: nothing at all */
};
/* For a time field of that name; all times when the filter says nothing of it.
 * Reading only what is within the span is enough, but the filter has to be
 * asked about each item there. */
struct filter_span filter_times(const struct filter *filter, const char *field);

/* Whether only items are wanted whose text for the field (and key, or NULL)
 * equals one of a few, which are then stored. */
bool filter_equals(struct arena *arena, const struct filter *filter,
                   const char *field, const char *key, struct strings *values);

#endif
