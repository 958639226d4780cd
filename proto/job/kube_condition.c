#include "proto/job/kube_condition.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"

static const char this[] = "[@this]";

/* ---- reading ---- */

enum step_kind { STEP_NAME, STEP_ITEMS, STEP_THIS, STEP_FIRST, STEP_ALL };

/* One step; the texts are in the expression. */
struct step {
    enum step_kind kind;
    bool whole;       /* it follows "|" */
    const char *name; /* or the path of a query */
    size_t len;
    bool differs; /* != */
    const char *value;
    size_t value_len;
};

/* The bytes of a name from `c` on, "\." being a dot in it. */
static size_t name_length(const char *c)
{
    const char *start = c;
    while (isalnum((unsigned char)*c) || (*c != '\0' && strchr("_-/", *c)) ||
           (c[0] == '\\' && c[1] == '.'))
        c += *c == '\\' ? 2 : 1;
    return (size_t)(c - start);
}

static size_t path_length(const char *c)
{
    const char *start = c;
    size_t len = name_length(c);
    while (len > 0 && c[len] == '.') {
        c += len + 1;
        len = name_length(c);
    }
    return len > 0 ? (size_t)(c - start) + len : 0;
}

static const char *skip_spaces(const char *c)
{
    return c + strspn(c, " ");
}

/* Behind the value at `c`; NULL: there is none. */
static const char *read_value(const char *c, struct step *step)
{
    if (*c != '"') {
        step->value = c;
        step->value_len = strcspn(c, " )\"");
        return step->value_len > 0 ? c + step->value_len : NULL;
    }
    step->value = c + 1;
    step->value_len = strcspn(c + 1, "\"\\");
    return c[1 + step->value_len] == '"' ? c + step->value_len + 2 : NULL;
}

/* The query behind "#(" up to its end; NULL with *at where the fault is. */
static const char *read_query(const char *c, struct step *step, const char **at)
{
    c = skip_spaces(c);
    step->name = *at = c;
    step->len = path_length(c);
    if (step->len == 0)
        return NULL;
    *at = c = skip_spaces(c + step->len);
    step->differs = *c == '!';
    if (strncmp(c, "==", 2) != 0 && strncmp(c, "!=", 2) != 0)
        return NULL;
    *at = skip_spaces(c + 2);
    c = read_value(*at, step);
    if (c == NULL)
        return NULL;
    *at = c = skip_spaces(c);
    if (*c != ')')
        return NULL;
    step->kind = c[1] == '#' ? STEP_ALL : STEP_FIRST;
    return c + (c[1] == '#' ? 2 : 1);
}

/* Behind the step at `c`; NULL with *at where the fault is. */
static const char *read_step(const char *c, struct step *step, const char **at)
{
    *at = c;
    if (strncmp(c, this, sizeof this - 1) == 0) {
        step->kind = STEP_THIS;
        return c + sizeof this - 1;
    }
    if (c[0] == '#' && c[1] == '(')
        return read_query(c + 2, step, at);
    if (c[0] == '#') {
        step->kind = STEP_ITEMS;
        return c + 1;
    }
    step->kind = STEP_NAME;
    step->name = c;
    step->len = name_length(c);
    return step->len > 0 ? c + step->len : NULL;
}

const char *kube_condition_fault(const char *expression, size_t *byte)
{
    struct step step = {.kind = STEP_NAME};
    const char *c = expression, *at = c, *fault = NULL;
    bool each = false; /* the step is taken of every item of a list */
    while (fault == NULL) {
        const bool whole = c > expression && c[-1] == '|';
        const char *start = c;
        c = read_step(c, &step, &at);
        if (c != NULL)
            at = start;
        if (c == NULL)
            fault = "is no step of a condition, such as name, "
                    "#(name==\"value\") or #(name==\"value\")#";
        else if (each && !whole && step.kind != STEP_NAME &&
                 step.kind != STEP_FIRST)
            fault = "a list of lists cannot be a condition: put | before it";
        else if (step.kind == STEP_ITEMS && *c != '.')
            fault = "a count is no condition";
        else if (*c == '\0')
            return NULL;
        else if (*c != '.' && *c != '|') {
            at = c;
            fault = "must be . or |";
        } else {
            each = (each && !whole) || step.kind == STEP_ITEMS ||
                   step.kind == STEP_ALL;
            c++;
        }
    }
    *byte = (size_t)(at - expression);
    return fault;
}

/* ---- values ---- */

/* A value, or a list of them that the expression has made. */
struct found {
    bool list, each; /* each: a step behind "." is taken of every item */
    size_t n;
    const struct node **items;
};

static struct found one_found(struct arena *arena, const struct node *node)
{
    struct found found = {.n = node != NULL};
    found.items = arena_alloc(arena, 1, sizeof(struct node *));
    found.items[0] = node;
    return found;
}

static void add(struct arena *arena, struct found *found,
                const struct node *node)
{
    found->items =
        arena_grow(arena, found->items, found->n, sizeof(struct node *));
    found->items[found->n++] = node;
}

/* The name of a step, its dots as they are meant. */
static const char *plain(struct arena *arena, const char *name, size_t len)
{
    struct text out = {0};
    text_puts(&out, "");
    for (size_t i = 0; i < len; i++)
        if (name[i] != '\\')
            text_append(&out, name + i, 1);
    return text_take(&out, arena);
}

static const struct node *item_of(const struct node *first, const char *name)
{
    char *end;
    unsigned long n = strtoul(name, &end, 10);
    if (end == name || *end != '\0')
        return NULL;
    while (first != NULL && n-- > 0)
        first = first->next;
    return first;
}

static const struct node *member_of(struct arena *arena,
                                    const struct node *node, const char *name,
                                    size_t len)
{
    const char *key = plain(arena, name, len);
    return node->kind == NODE_LIST ? item_of(node->first, key)
                                   : node_find(node, key);
}

static bool has_value(const struct step *step, struct arena *arena,
                      const struct node *item)
{
    const char *c = step->name, *end = step->name + step->len;
    while (item != NULL && c < end) {
        const size_t len = name_length(c);
        item = member_of(arena, item, c, len);
        c += len + 1;
    }
    if (item == NULL || item->text == NULL)
        return false;
    const char *value = arena_strndup(arena, step->value, step->value_len);
    char *rest;
    double number;
    bool same = strcmp(item->text, value) == 0;
    if (item->kind == NODE_NUMBER && node_double(item, &number))
        same = strtod(value, &rest) == number && *rest == '\0';
    return same != step->differs;
}

/* The items that the query selects of a list. */
static struct found query(struct arena *arena, const struct found *from,
                          const struct step *step)
{
    struct found all = {.list = true, .each = true};
    const struct node *node =
        from->list || from->n == 0 ? NULL : from->items[0];
    for (size_t i = 0; from->list && i < from->n; i++)
        if (has_value(step, arena, from->items[i]))
            add(arena, &all, from->items[i]);
    if (node != NULL && node->kind == NODE_LIST)
        NODE_EACH (item, node->first)
            if (has_value(step, arena, item))
                add(arena, &all, item);
    if (step->kind == STEP_ALL)
        return all;
    return one_found(arena, all.n > 0 ? all.items[0] : NULL);
}

/* ---- steps ---- */

/* `#`: the items of a list, each on its own. */
static struct found items_of(struct arena *arena, const struct found *from)
{
    struct found all = *from;
    if (!from->list) {
        all = (struct found){.n = 0};
        if (from->n > 0 && from->items[0]->kind == NODE_LIST)
            NODE_EACH (item, from->items[0]->first)
                add(arena, &all, item);
    }
    all.list = all.each = true;
    return all;
}

static struct found take(struct arena *arena, const struct found *from,
                         const struct step *step)
{
    struct found found = *from;
    const char *name;
    char *end;
    switch (step->kind) {
    case STEP_THIS:
        found.list = true;
        found.each = false;
        return found;
    case STEP_ITEMS:
        return items_of(arena, from);
    case STEP_FIRST:
    case STEP_ALL:
        return query(arena, from, step);
    case STEP_NAME:
        break;
    }
    if (!from->list)
        return one_found(arena, from->n > 0 ? member_of(arena, from->items[0],
                                                        step->name, step->len)
                                            : NULL);
    name = plain(arena, step->name, step->len);
    const unsigned long n = strtoul(name, &end, 10);
    return one_found(arena,
                     *end == '\0' && n < from->n ? from->items[n] : NULL);
}

/* A step behind ".", of every item. */
static struct found take_each(struct arena *arena, const struct found *from,
                              const struct step *step)
{
    struct found all = {.list = true, .each = true};
    for (size_t i = 0; i < from->n; i++) {
        const struct found one = one_found(arena, from->items[i]);
        const struct found of = take(arena, &one, step);
        if (of.n > 0)
            add(arena, &all, of.items[0]);
    }
    return all;
}

const struct node *kube_condition_find(struct arena *arena,
                                       const struct node *object,
                                       const char *expression)
{
    struct found found = one_found(arena, object);
    const char *c = expression, *at;
    for (;;) {
        struct step step = {.whole = c > expression && c[-1] == '|'};
        c = read_step(c, &step, &at);
        if (c == NULL)
            return NULL;
        found = found.each && !step.whole ? take_each(arena, &found, &step)
                                          : take(arena, &found, &step);
        if (*c++ == '\0')
            break;
    }
    const struct node *node = found.n > 0 ? found.items[0] : NULL;
    if (node == NULL || found.list || node->kind == NODE_MAP)
        return node;
    return node->kind == NODE_LIST ? node->first : NULL;
}
