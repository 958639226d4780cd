#include "hypertune/cli/study/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/study/trial.h"

/* What holds when a value is less than, equal to, or more than the wanted one.
 * Longer spellings first, so that "<=" is not read as "<". */
struct operator
{
    const char *spelling;
    bool less, equal, more;
};
static const struct operator operators[] = {
    {"<=", true, true, false}, {">=", false, true, true},
    {"!=", true, false, true}, {"=", false, true, false},
    {"<", true, false, false}, {">", false, false, true}};

struct condition_item {
    const char *key, *value;
    const struct operator* op;
    struct condition_item *next;
};

struct cli_filter {
    struct arena *arena;
    const char *metric;
    struct condition_item *first;
};

static bool as_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*value);
}

static enum ht_status add_condition(struct cli_filter *filter, char *word,
                                    struct ht_error *err)
{
    size_t key = strcspn(word, "<>=!");
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t len = strlen(operators[i].spelling);
        if (strncmp(word + key, operators[i].spelling, len) != 0)
            continue;
        if (key == 0 || word[key + len] == '\0')
            break;
        struct condition_item *item =
            arena_alloc(filter->arena, 1, sizeof *item);
        item->key = arena_strndup(filter->arena, word, key);
        item->value = arena_strdup(filter->arena, word + key + len);
        item->op = &operators[i];
        item->next = filter->first;
        filter->first = item;
        return HT_OK;
    }
    return ht_fail(err, HT_INVALID,
                   "a condition is NAME, one of = != < <= > >=, and a value; "
                   "\"%s\" is not",
                   word);
}

enum ht_status cli_filter_read(struct arena *arena, const char *text,
                               const char *metric, struct cli_filter **filter,
                               struct ht_error *err)
{
    struct cli_filter *made = arena_alloc(arena, 1, sizeof *made);
    made->arena = arena;
    made->metric = metric;
    char *rest = NULL;
    char *copy = arena_strdup(arena, text);
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        enum ht_status status = add_condition(made, word, err);
        if (status != HT_OK)
            return status;
    }
    *filter = made;
    return HT_OK;
}

bool cli_filter_has(const char *const keys[], const char *key)
{
    while (*keys != NULL && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

const char *cli_filter_unknown(const struct cli_filter *filter,
                               const char *const keys[])
{
    for (const struct condition_item *item = filter->first; item != NULL;
         item = item->next) {
        if (!cli_filter_has(keys, item->key))
            return item->key;
    }
    return NULL;
}

/* The value that a key has in a trial, "" when it has none: those of a
 * filter, `id`, `time` (ms). `metric` is the objective's name. */
static const char *value_of(struct arena *arena, const struct node *trial,
                            const char *metric, const char *key)
{
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *param = node_find(node_find(ours, "params"), key);
    if (param != NULL)
        return cli_scalar(param);
    if (strcmp(key, "id") == 0)
        return cli_trial_id(trial);
    if (strcmp(key, "state") == 0)
        return cli_trial_state(trial);
    if (strcmp(key, "time") == 0)
        return arena_printf(arena, "%lld",
                            (long long)cli_trial_elapsed(trial, 0));
    if (strcmp(key, "step") == 0)
        return cli_scalar(node_find(ours, "step"));
    if (strcmp(key, "objective") == 0 || strcmp(key, metric) == 0)
        return cli_scalar(node_find(ours, "objective"));
    const struct node *measured = cli_trial_metric(trial, key);
    return measured == NULL ? "" : cli_scalar(measured);
}

static bool holds(const struct operator* op, int order)
{
    return order < 0 ? op->less : order > 0 ? op->more : op->equal;
}

/* Numbers compare as numbers, anything else as text without case. */
static int compare_values(const char *a, const char *b)
{
    double x, y;
    if (as_number(a, &x) && as_number(b, &y))
        return (x > y) - (x < y);
    return strcasecmp(a, b);
}

bool cli_filter_match(const struct cli_filter *filter, const struct node *trial)
{
    for (const struct condition_item *item = filter->first; item != NULL;
         item = item->next) {
        const char *value =
            value_of(filter->arena, trial, filter->metric, item->key);
        /* As the server counts them: INFEASIBLE ones have failed, too. */
        if (strcmp(item->key, "state") == 0 &&
            strcasecmp(item->value, "failed") == 0 &&
            strcmp(value, "INFEASIBLE") == 0)
            value = item->value;
        if (value[0] == '\0' ||
            !holds(item->op, compare_values(value, item->value)))
            return false;
    }
    return true;
}

struct ranked {
    const struct node *trial;
    const char *value;
    int direction;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    bool lacks_a = a->value[0] == '\0', lacks_b = b->value[0] == '\0';
    int order = (int)lacks_a - (int)lacks_b;
    if (order == 0)
        order = a->direction * compare_values(a->value, b->value);
    if (order == 0)
        order = compare_values(cli_trial_id(a->trial), cli_trial_id(b->trial));
    return order;
}

void cli_filter_sort(struct arena *arena, const struct node **trials, size_t n,
                     const char *metric, const char *key)
{
    int direction = key[0] == '-' ? -1 : 1;
    key += key[0] == '-' || key[0] == '+';
    struct ranked *ranked = arena_alloc(arena, n + 1, sizeof *ranked);
    for (size_t i = 0; i < n; i++)
        ranked[i] =
            (struct ranked){.trial = trials[i],
                            .value = value_of(arena, trials[i], metric, key),
                            .direction = direction};
    qsort(ranked, n, sizeof *ranked, by_rank);
    for (size_t i = 0; i < n; i++)
        trials[i] = ranked[i].trial;
}
