/* filter.h - the `filter` of list requests: field="value" joined by AND. */
#ifndef HT_TUNER_FILTER_H
#define HT_TUNER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/arena.h"
#include "proto/error.h"

enum { FILTER_TERMS = 16 };

struct filter_term {
    const char *field; /* snake_case is read as camelCase */
    const char *value;
};

struct filter {
    size_t n;
    struct filter_term terms[FILTER_TERMS];
};

/* `text` NULL or blank: no terms. `fields` ends with NULL.
 * HT_INVALID  not of that form, an unknown field, or too many terms */
enum ht_status filter_read(struct arena *arena, const char *text,
                           const char *const fields[], struct filter *filter,
                           struct ht_error *err);

/* True when every term on `field` wants one of `n` values. */
bool filter_allows(const struct filter *filter, const char *field, size_t n,
                   const char *const values[]);

#endif
