#include "proto/job/usage.h"

#include <stdbool.h>

enum {
    LEAST_BETWEEN_MS = 5000,
    PART_BETWEEN = 16, /* of the time so far */
    SHORT = 4          /* what is shorter than one of so many parts of the
                          distance of points would show ticks of the clock */
};

/* No replica has more; what comes from elsewhere is checked against them. */
static const double most_used = 1e6;
static const int64_t most_memory = (int64_t)1 << 60;
static const int64_t most_ms = (int64_t)1000 * 86400 * 36500; /* 100 years */

void usage_begin(struct usage *usage, int64_t from_ms)
{
    usage->from_ms = from_ms;
    usage->every_ms = USAGE_FIRST_MS;
    usage->n = 0;
}

static double mean(const struct usage_point *a, double a_ms,
                   const struct usage_point *b, double b_ms)
{
    if (a->used < 0 || b->used < 0)
        return a->used < 0 ? b->used : a->used;
    return (a->used * a_ms + b->used * b_ms) / (a_ms + b_ms);
}

/* One point of two: a begins at `begin`, and b where a ends. */
static struct usage_point join(int64_t begin, const struct usage_point *a,
                               const struct usage_point *b)
{
    return (struct usage_point){
        .until_ms = b->until_ms,
        .used = mean(a, (double)(a->until_ms - begin), b,
                     (double)(b->until_ms - a->until_ms)),
        .memory = a->memory > b->memory ? a->memory : b->memory};
}

static int64_t begin_of(const struct usage *usage, size_t i)
{
    return i > 0 ? usage->points[i - 1].until_ms : 0;
}

static void halve(struct usage *usage)
{
    struct usage_point *points = usage->points;
    int64_t begin = 0;
    for (size_t i = 0; i < USAGE_POINTS / 2; i++) {
        points[i] = join(begin, &points[2 * i], &points[2 * i + 1]);
        begin = points[i].until_ms;
    }
    usage->n = USAGE_POINTS / 2;
    usage->every_ms *= 2;
}

void usage_add(struct usage *usage, const struct usage_point *point)
{
    if (usage->n == USAGE_POINTS)
        halve(usage);
    usage->points[usage->n++] = *point;
}

/* ---- from a total ---- */

void usage_counter_begin(struct usage_counter *counter, int64_t now,
                         int64_t wall_ms, int64_t total_us)
{
    counter->began_at = now;
    counter->total_us = total_us;
    usage_begin(&counter->usage, wall_ms);
}

void usage_count(struct usage_counter *counter, int64_t now, int64_t total_us,
                 int64_t memory)
{
    struct usage *usage = &counter->usage;
    const int64_t until = now - counter->began_at;
    const int64_t before = begin_of(usage, usage->n);
    if (until <= before)
        return;
    if (total_us < counter->total_us)
        total_us = counter->total_us;
    const struct usage_point point = {
        .until_ms = until,
        .used = (double)(total_us - counter->total_us) / 1000 /
                (double)(until - before),
        .memory = memory};
    counter->total_us = total_us;
    if (usage->n > 0 && until - before < usage->every_ms / SHORT) {
        struct usage_point *last = &usage->points[usage->n - 1];
        *last = join(begin_of(usage, usage->n - 1), last, &point);
    } else {
        usage_add(usage, &point);
    }
}

int64_t usage_pause_ms(const struct usage_counter *counter, int64_t now)
{
    const int64_t part = (now - counter->began_at) / PART_BETWEEN;
    return part > LEAST_BETWEEN_MS ? part : LEAST_BETWEEN_MS;
}

/* ---- as JSON ---- */

static void write_list(struct text *out, const struct usage *usage,
                       const char *key,
                       void write(struct text *, const struct usage_point *))
{
    text_printf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < usage->n; i++) {
        text_puts(out, i > 0 ? "," : "");
        write(out, &usage->points[i]);
    }
    text_puts(out, "]");
}

static void write_until(struct text *out, const struct usage_point *point)
{
    text_printf(out, "%lld", (long long)point->until_ms);
}

static void write_used(struct text *out, const struct usage_point *point)
{
    if (point->used < 0)
        text_puts(out, "null");
    else
        text_printf(out, "%.4g", point->used);
}

static void write_memory(struct text *out, const struct usage_point *point)
{
    if (point->memory < 0)
        text_puts(out, "null");
    else
        text_printf(out, "%lld", (long long)point->memory);
}

void usage_write(const struct usage *usage, struct text *out)
{
    text_printf(out, "{\"fromMs\":%lld,\"everyMs\":%lld",
                (long long)usage->from_ms, (long long)usage->every_ms);
    write_list(out, usage, "ms", write_until);
    write_list(out, usage, "used", write_used);
    write_list(out, usage, "memory", write_memory);
    text_puts(out, "}");
}

static bool read_point(const struct node *until, const struct node *used,
                       const struct node *memory, int64_t before,
                       struct usage_point *point)
{
    *point = (struct usage_point){.used = -1, .memory = -1};
    if (!node_int64(until, &point->until_ms) || point->until_ms <= before ||
        point->until_ms > most_ms)
        return false;
    if (used->kind != NODE_NULL && (!node_double(used, &point->used) ||
                                    point->used < 0 || point->used > most_used))
        return false;
    return memory->kind == NODE_NULL ||
           (node_int64(memory, &point->memory) && point->memory >= 0 &&
            point->memory <= most_memory);
}

static bool is_list(const struct node *list, size_t n)
{
    return list != NULL && list->kind == NODE_LIST && list->count == n;
}

enum ht_status usage_read(const struct node *map, struct usage *usage,
                          struct ht_error *err)
{
    struct usage read = {.from_ms = node_get_int(map, "fromMs", -1),
                         .every_ms = node_get_int(map, "everyMs", -1)};
    const struct node *until = node_find(map, "ms");
    const struct node *used = node_find(map, "used");
    const struct node *memory = node_find(map, "memory");
    const size_t n = until != NULL ? until->count : 0;
    if (n > USAGE_POINTS || !is_list(until, n) || !is_list(used, n) ||
        !is_list(memory, n))
        return ht_fail(err, HT_INVALID,
                       "usage needs three lists of one length, at most %d",
                       USAGE_POINTS);
    if (read.from_ms < 0 || read.from_ms > most_ms || read.every_ms < 1 ||
        read.every_ms > most_ms)
        return ht_fail(err, HT_INVALID, "the times of usage are wrong");
    used = node_items(used);
    memory = node_items(memory);
    int64_t before = 0;
    NODE_EACH (node, node_items(until)) {
        if (!read_point(node, used, memory, before, &read.points[read.n]))
            return ht_fail(err, HT_INVALID, "point %zu of usage is wrong",
                           read.n);
        before = read.points[read.n++].until_ms;
        used = used->next;
        memory = memory->next;
    }
    *usage = read;
    return HT_OK;
}
