#include "tuner/study/thinning.h"

#include <string.h>

#include "proto/doc/node.h"

enum {
    FIRST_SECONDS = 60, /* of the rate, at once when an attempt begins */
    RECORD_BYTES = 64,  /* of a row without its texts */
    VALUE_BYTES = 24,   /* of a metric without its name */
    MOST_EVERY = 1 << 30
};

static int64_t every_of(int64_t used, int64_t full)
{
    int64_t every = 1;
    for (; used >= full && every < MOST_EVERY; full *= 2)
        every *= 2;
    return every;
}

int64_t thinning_keep_every(const struct report_use *use, int64_t age_ms,
                            enum budget *budget)
{
    const int64_t seconds = FIRST_SECONDS + (age_ms > 0 ? age_ms / 1000 : 0);
    const struct {
        enum budget budget;
        int64_t used, full;
    } limits[] = {
        {BUDGET_REPLICA_RECORDS, use->records,
         budget_of(BUDGET_REPLICA_RECORDS)},
        {BUDGET_REPLICA_RATE, use->records,
         budget_of(BUDGET_REPLICA_RATE) * seconds},
        {BUDGET_REPLICA_BYTES, use->bytes, budget_of(BUDGET_REPLICA_BYTES)}};
    int64_t most = 1;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const int64_t every = every_of(limits[i].used, limits[i].full);
        if (every <= most)
            continue;
        most = every;
        *budget = limits[i].budget;
    }
    return most;
}

/* With the writer, since programs that report once have the number 1 each. */
bool thinning_keeps(const struct report *report, int64_t keep_every)
{
    return ((uint64_t)report->seq + report->writer) % (uint64_t)keep_every == 0;
}

int64_t thinning_bytes(const struct report *report)
{
    size_t bytes = RECORD_BYTES + strlen(report->checkpoint);
    for (size_t i = 0; i < report->n_metrics; i++)
        bytes += VALUE_BYTES + strlen(report->metrics[i].name);
    return (int64_t)bytes;
}

/* --- held records --- */

static bool has_same_metrics(const struct report *a, const struct report *b)
{
    bool same = a->n_metrics == b->n_metrics;
    for (size_t i = 0; same && i < a->n_metrics; i++)
        same = strcmp(a->metrics[i].name, b->metrics[i].name) == 0;
    return same;
}

/* As for the final measurement: by step, then time, then number. */
static bool is_newer(const struct report *a, const struct report *b)
{
    if (a->step != b->step)
        return a->step > b->step;
    if (a->time_ms != b->time_ms)
        return a->time_ms > b->time_ms;
    return a->seq > b->seq;
}

static size_t find(const struct held_list *list, const struct report *report)
{
    size_t i = 0;
    while (i < list->n && !has_same_metrics(&list->items[i], report))
        i++;
    return i;
}

static void put(struct held_list *list, const struct report *report)
{
    const size_t i = find(list, report);
    if (i == list->n && list->n < HT_MAX_METRICS)
        list->items[list->n++] = *report;
    else if (i < list->n && is_newer(report, &list->items[i]))
        list->items[i] = *report;
}

void held_add(struct held *held, const struct report *report, bool beside_best)
{
    put(&held->newest, report);
    if (beside_best)
        put(&held->best, report);
}

void held_replace(struct held *held, const struct report *report)
{
    struct held_list *list = &held->newest;
    const size_t i = find(list, report);
    if (i < list->n && is_newer(report, &list->items[i]))
        list->items[i] = list->items[--list->n];
}

void held_begin_best(struct held *held, int64_t step,
                     const struct report *dropped)
{
    struct held_list *best = &held->best;
    best->n = 0;
    if (dropped != NULL)
        best->items[best->n++] = *dropped;
    for (size_t i = 0; i < held->newest.n; i++) {
        const struct report *other = &held->newest.items[i];
        if (other->step == step && find(best, other) == best->n)
            put(best, other);
    }
}

/* --- as text --- */

static void list_read(struct arena *arena, const struct node *nodes,
                      struct held_list *list)
{
    NODE_EACH (node, node_items(nodes)) {
        if (list->n < HT_MAX_METRICS &&
            report_read(arena, node, &list->items[list->n], NULL) == HT_OK)
            list->n++;
    }
}

void held_read(struct arena *arena, const char *text, struct held *held)
{
    *held = (struct held){.newest.n = 0};
    if (text[0] == '\0')
        return;
    const struct node *map = node_read_stored(arena, text);
    list_read(arena, node_find(map, "newest"), &held->newest);
    list_read(arena, node_find(map, "best"), &held->best);
}

static void list_text(const struct held_list *list, struct text *out)
{
    for (size_t i = 0; i < list->n; i++) {
        text_puts(out, i == 0 ? "[" : ",");
        report_text(&list->items[i], out);
    }
    text_puts(out, list->n == 0 ? "[]" : "]");
}

const char *held_text(struct arena *arena, const struct held *held)
{
    struct text text = {0};
    if (held->newest.n + held->best.n == 0)
        return "";
    text_puts(&text, "{\"newest\":");
    list_text(&held->newest, &text);
    text_puts(&text, ",\"best\":");
    list_text(&held->best, &text);
    text_puts(&text, "}");
    return text_take(&text, arena);
}
