/* filter_tree.h - a filter that was read, for filter*.c alone. */
#ifndef HT_TUNER_ASK_FILTER_TREE_H
#define HT_TUNER_ASK_FILTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expression;
struct filter_field;

enum filter_operation {
    FILTER_EQUAL,
    FILTER_UNEQUAL,
    FILTER_HAS,
    FILTER_LESS,
    FILTER_AT_MOST,
    FILTER_MORE,
    FILTER_AT_LEAST,
    FILTER_MATCHES,
    FILTER_DIFFERS
};

enum filter_shape {
    FILTER_COMPARISON,
    FILTER_BOTH,
    FILTER_EITHER,
    FILTER_NEITHER
};

struct filter {
    enum filter_shape shape;
    struct filter *left, *right; /* FILTER_NEITHER: left alone */
    /* of a comparison */
    const struct filter_field *field;
    const char *key; /* of a map, or NULL */
    enum filter_operation operation;
    const char *value;
    int64_t moment_ns; /* the value of a time */
    size_t rank;       /* and of a FILTER_RANK, its place among the names */
    struct expression *expression; /* of FILTER_MATCHES, _DIFFERS */
};

/* `*` in the pattern matches any characters. */
bool filter_is_like(const char *text, const char *pattern);

/* The place of a name among ranks, whatever its case; false: none of them. */
bool filter_find_rank(const char *const ranks[], const char *name,
                      size_t *rank);

#endif
