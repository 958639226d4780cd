#include "tuner/ask/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/clock.h"
#include "tuner/ask/expression.h"
#include "tuner/ask/filter_tree.h"

/* In the order of min and max. */
enum answer { NO, MAYBE, YES };

bool filter_find_rank(const char *const ranks[], const char *name, size_t *rank)
{
    for (size_t i = 0; ranks[i] != NULL; i++) {
        if (strcasecmp(ranks[i], name) != 0)
            continue;
        *rank = i;
        return true;
    }
    return false;
}

bool filter_key_is(const char *key, const char *name)
{
    return strcmp(key, "*") == 0 || strcmp(key, name) == 0;
}

/* On a mismatch the newest star takes one more, which is enough: an earlier one
 * never has to. */
bool filter_is_like(const char *text, const char *pattern)
{
    const char *star = NULL, *mark = text;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            mark = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* The operation on two values, by their order. UNEQUAL asks whether
 * any is equal, see compare(). */
static bool is_ordered(enum filter_operation operation, int order)
{
    const bool allows_equal =
        operation != FILTER_LESS && operation != FILTER_MORE;
    if (order == 0)
        return allows_equal;
    return order < 0 ? operation == FILTER_LESS || operation == FILTER_AT_MOST
                     : operation == FILTER_MORE || operation == FILTER_AT_LEAST;
}

static bool is_at(const struct filter *filter, const char *stamp)
{
    int64_t ns;
    return clock_read_stamp_ns(stamp, &ns) &&
           is_ordered(filter->operation,
                      (ns > filter->moment_ns) - (ns < filter->moment_ns));
}

static bool is_ranked(const struct filter *filter, const char *name)
{
    size_t rank;
    return filter_find_rank(filter->field->names, name, &rank) &&
           is_ordered(filter->operation,
                      (rank > filter->rank) - (rank < filter->rank));
}

static bool read_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

/* Of maps numbers are compared as such: payloads have losses and steps. */
static int phrase_order(const struct filter *filter, const char *value)
{
    double a, b;
    if (filter->field->kind == FILTER_PHRASES && read_number(value, &a) &&
        read_number(filter->value, &b))
        return (a > b) - (a < b);
    return strcmp(value, filter->value);
}

static bool matches_phrase(const struct filter *filter, const char *value)
{
    const enum filter_operation operation = filter->operation;
    if (operation == FILTER_EQUAL || operation == FILTER_UNEQUAL)
        return strcasecmp(value, filter->value) == 0;
    if (operation == FILTER_HAS)
        return strcmp(filter->value, "*") == 0 ||
               strcasestr(value, filter->value) != NULL;
    if (filter->expression != NULL)
        return expression_is_found(filter->expression, value);
    return is_ordered(operation, phrase_order(filter, value));
}

static bool matches(const struct filter *filter, const char *value)
{
    switch (filter->field->kind) {
    case FILTER_TIME:
        return is_at(filter, value);
    case FILTER_RANK:
        return is_ranked(filter, value);
    case FILTER_PHRASE:
    case FILTER_PHRASES:
        return matches_phrase(filter, value);
    case FILTER_TEXT:
    case FILTER_NAME:
    case FILTER_MAP:
        break;
    }
    return filter->operation == FILTER_HAS
               ? filter_is_like(value, filter->value)
               : strcmp(value, filter->value) == 0;
}

static enum answer compare(const struct filter *filter, filter_lookup *lookup,
                           void *item)
{
    const char *values[FILTER_VALUES];
    const bool asks_key = (filter->field->kind == FILTER_MAP ||
                           filter->field->kind == FILTER_PHRASES) &&
                          filter->key == NULL;
    const size_t n = lookup(item, filter->field->name,
                            asks_key ? filter->value : filter->key, values);
    if (n == FILTER_UNKNOWN)
        return MAYBE;
    if (asks_key)
        return n > 0 ? YES : NO;
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = matches(filter, values[i]);
    const bool is_negative = filter->operation == FILTER_UNEQUAL ||
                             filter->operation == FILTER_DIFFERS;
    return found != is_negative ? YES : NO;
}

static enum answer ask(const struct filter *filter, filter_lookup *lookup,
                       void *item)
{
    if (filter->shape == FILTER_COMPARISON)
        return compare(filter, lookup, item);
    const enum answer left = ask(filter->left, lookup, item);
    if (filter->shape == FILTER_NEITHER)
        return (enum answer)(YES - left);
    if (left == (filter->shape == FILTER_BOTH ? NO : YES))
        return left;
    const enum answer right = ask(filter->right, lookup, item);
    return (filter->shape == FILTER_BOTH) == (left < right) ? left : right;
}

bool filter_allows(const struct filter *filter, filter_lookup *lookup,
                   void *item)
{
    return filter == NULL || ask(filter, lookup, item) == YES;
}

bool filter_may_allow(const struct filter *filter, filter_lookup *lookup,
                      void *item)
{
    return filter == NULL || ask(filter, lookup, item) != NO;
}

bool filter_gave_up(const struct filter *filter)
{
    if (filter == NULL)
        return false;
    if (filter->shape == FILTER_COMPARISON)
        return filter->expression != NULL &&
               expression_gave_up(filter->expression);
    return filter_gave_up(filter->left) || filter_gave_up(filter->right);
}

/* --- bounds of what a filter allows --- */

static const struct filter_span always = {INT64_MIN, INT64_MAX};

static struct filter_span compared_times(const struct filter *filter)
{
    const enum filter_operation operation = filter->operation;
    struct filter_span span = always;
    if (operation == FILTER_EQUAL || operation == FILTER_LESS ||
        operation == FILTER_AT_MOST)
        span.until_ns = filter->moment_ns;
    if (operation == FILTER_EQUAL || operation == FILTER_MORE ||
        operation == FILTER_AT_LEAST)
        span.from_ns = filter->moment_ns;
    return span;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct filter_span filter_times(const struct filter *filter, const char *field)
{
    if (filter == NULL || filter->shape == FILTER_NEITHER)
        return always;
    if (filter->shape == FILTER_COMPARISON)
        return filter->field->kind == FILTER_TIME &&
                       strcmp(filter->field->name, field) == 0
                   ? compared_times(filter)
                   : always;
    const struct filter_span a = filter_times(filter->left, field);
    const struct filter_span b = filter_times(filter->right, field);
    if (filter->shape == FILTER_BOTH)
        return (struct filter_span){most(a.from_ns, b.from_ns),
                                    least(a.until_ns, b.until_ns)};
    if (a.from_ns > a.until_ns || b.from_ns > b.until_ns)
        return a.from_ns > a.until_ns ? b : a;
    return (struct filter_span){least(a.from_ns, b.from_ns),
                                most(a.until_ns, b.until_ns)};
}

static bool is_about(const struct filter *filter, const char *field,
                     const char *key)
{
    return strcmp(filter->field->name, field) == 0 &&
           (key == NULL ? filter->key == NULL
                        : filter->key != NULL && strcmp(filter->key, key) == 0);
}

static void join(struct arena *arena, const struct strings *a,
                 const struct strings *b, struct strings *all)
{
    const char **items = arena_alloc(arena, a->n + b->n, sizeof *items);
    memcpy(items, a->items, a->n * sizeof *items);
    memcpy(items + a->n, b->items, b->n * sizeof *items);
    *all = (struct strings){.n = a->n + b->n, .items = items};
}

bool filter_equals(struct arena *arena, const struct filter *filter,
                   const char *field, const char *key, struct strings *values)
{
    if (filter == NULL || filter->shape == FILTER_NEITHER)
        return false;
    if (filter->shape == FILTER_COMPARISON) {
        if (filter->operation != FILTER_EQUAL || !is_about(filter, field, key))
            return false;
        const char **items = arena_alloc(arena, 1, sizeof *items);
        items[0] = filter->value;
        *values = (struct strings){.n = 1, .items = items};
        return true;
    }
    struct strings left, right;
    const bool by_left = filter_equals(arena, filter->left, field, key, &left);
    const bool by_right =
        filter_equals(arena, filter->right, field, key, &right);
    if (filter->shape == FILTER_EITHER && by_left && by_right)
        join(arena, &left, &right, values);
    else if (filter->shape == FILTER_EITHER || (!by_left && !by_right))
        return false;
    else
        *values = by_left ? left : right;
    return true;
}
