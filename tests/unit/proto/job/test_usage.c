/* Series of what a replica used: bounded, and the same total however often it
 * was halved. */
#include <math.h>

#include "tests/check.h"

#include "proto/base/arena.h"
#include "proto/job/usage.h"

static double total_s(const struct usage *usage)
{
    double sum = 0;
    int64_t before = 0;
    for (size_t i = 0; i < usage->n; i++) {
        const struct usage_point *point = &usage->points[i];
        sum += point->used * (double)(point->until_ms - before) / 1000;
        before = point->until_ms;
    }
    return sum;
}

static void a_week_keeps_its_total_and_its_peak(void)
{
    const int64_t week_ms = (int64_t)7 * 86400 * 1000;
    struct usage usage;
    double sum = 0;
    int64_t at = 0, peak = 0;
    int made = 0;
    usage_begin(&usage, 1000);
    for (; at < week_ms; made++) {
        const int64_t ms = usage.every_ms + made % 300;
        const double used = made % 7 * 0.5;
        at += ms;
        sum += used * (double)ms / 1000;
        usage_add(&usage,
                  &(struct usage_point){at, used, made == 999 ? 9999 : made});
        CHECK(usage.n <= USAGE_POINTS);
    }
    for (size_t i = 0; i < usage.n; i++)
        if (usage.points[i].memory > peak)
            peak = usage.points[i].memory;
    CHECK(usage.n > USAGE_POINTS / 2 && made > 1000 && made < 4000);
    CHECK(usage.points[usage.n - 1].until_ms == at && peak == 9999);
    CHECK(total_s(&usage) > sum * 0.999999 && total_s(&usage) < sum * 1.000001);
}

static void what_is_not_known_does_not_count(void)
{
    struct usage usage;
    usage_begin(&usage, 1000);
    for (int i = 0; i < USAGE_POINTS; i++)
        usage_add(&usage, &(struct usage_point){(int64_t)500 * (i + 1),
                                                i % 2 == 0 ? 2 : -1, -1});
    usage_add(&usage, &(struct usage_point){1000000, 1, 7});
    CHECK(usage.n == USAGE_POINTS / 2 + 1 && usage.every_ms == 1000);
    CHECK(usage.points[0].until_ms == 1000 && usage.points[0].used == 2);
    CHECK(usage.points[0].memory == -1 && usage.points[120].memory == 7);
}

static void a_total_gives_means_and_never_goes_back(void)
{
    struct usage_counter counter;
    usage_counter_begin(&counter, 5000, 1000, 70);
    usage_count(&counter, 5000, 1000000, 1); /* no time has passed */
    CHECK(counter.usage.n == 0);
    usage_count(&counter, 7000, 3000070, 1);
    usage_count(&counter, 8000, 2000000, 2);
    usage_count(&counter, 9000, 3500070, 3);
    CHECK(counter.usage.n == 3 && counter.usage.points[0].used == 1.5);
    CHECK(counter.usage.points[1].used == 0);
    CHECK(counter.usage.points[2].used == 0.5);
    usage_count(&counter, 9010, 3600070, 4); /* a tick at the end */
    CHECK(counter.usage.n == 3 && counter.usage.points[2].until_ms == 4010);
    CHECK(fabs(counter.usage.points[2].used - 600.0 / 1010) < 1e-9);
    CHECK(counter.usage.points[2].memory == 4);
    CHECK(usage_pause_ms(&counter, 9000) == 5000);
    CHECK(usage_pause_ms(&counter, 5000 + 1600000) == 100000);
}

static enum ht_status read_text(struct arena *arena, const char *json,
                                struct usage *usage)
{
    return usage_read(node_read_stored(arena, json), usage, NULL);
}

static void it_is_read_as_it_was_written(void)
{
    struct arena *arena = arena_new();
    struct text out = {0}, again = {0};
    struct usage usage, read;
    usage_begin(&usage, 1234567890123);
    usage_add(&usage, &(struct usage_point){500, 0.12345, 1 << 20});
    usage_add(&usage, &(struct usage_point){1001, -1, -1});
    usage_write(&usage, &out);
    CHECK_TEXT(out.data,
               "{\"fromMs\":1234567890123,\"everyMs\":500,\"ms\":[500,1001],"
               "\"used\":[0.1235,null],\"memory\":[1048576,null]}");
    CHECK(read_text(arena, out.data, &read) == HT_OK && read.n == 2);
    usage_write(&read, &again);
    CHECK_TEXT(text_string(&again), text_string(&out));
    text_free(&out);
    text_free(&again);
    arena_free(arena);
}

#define TIMES "{\"fromMs\":1,\"everyMs\":500,"

static void what_is_wrong_changes_nothing(void)
{
    static const char *const wrong[] = {
        "[]",
        "{}",
        TIMES "\"ms\":[],\"used\":[]}",
        TIMES "\"ms\":[1],\"used\":[1],\"memory\":[]}",
        TIMES "\"ms\":[0],\"used\":[1],\"memory\":[1]}",
        TIMES "\"ms\":[2,2],\"used\":[1,1],\"memory\":[1,1]}",
        TIMES "\"ms\":[1],\"used\":[-1],\"memory\":[1]}",
        TIMES "\"ms\":[1],\"used\":[1e300],\"memory\":[1]}",
        TIMES "\"ms\":[1],\"used\":[\"NaN\"],\"memory\":[1]}",
        TIMES "\"ms\":[1],\"used\":[1],\"memory\":[-1]}",
        TIMES "\"ms\":[1],\"used\":[1],\"memory\":[1.5]}",
        TIMES "\"ms\":[9e18],\"used\":[1],\"memory\":[1]}",
        TIMES "\"ms\":{\"a\":1},\"used\":[1],\"memory\":[1]}",
        "{\"fromMs\":-1,\"everyMs\":1,\"ms\":[],\"used\":[],\"memory\":[]}",
        "{\"fromMs\":1,\"everyMs\":0,\"ms\":[],\"used\":[],\"memory\":[]}"};
    struct arena *arena = arena_new();
    struct usage usage = {.n = 77};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(read_text(arena, wrong[i], &usage) == HT_INVALID);
    CHECK(usage.n == 77);
    CHECK(read_text(arena, TIMES "\"ms\":[],\"used\":[],\"memory\":[]}",
                    &usage) == HT_OK &&
          usage.n == 0);
    arena_free(arena);
}

static void it_is_never_too_long(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct usage usage;
    usage_begin(&usage, 1);
    for (int i = 0; i < USAGE_POINTS; i++)
        usage_add(&usage, &(struct usage_point){i + 1, 1, 1});
    usage_write(&usage, &out);
    CHECK(read_text(arena, out.data, &usage) == HT_OK);
    text_clear(&out);
    const char *const keys[] = {"ms", "used", "memory"};
    text_puts(&out, "{\"fromMs\":1,\"everyMs\":1");
    for (size_t k = 0; k < 3; k++) {
        text_printf(&out, ",\"%s\":[", keys[k]);
        for (int i = 0; i <= USAGE_POINTS; i++)
            text_printf(&out, "%s%d", i > 0 ? "," : "", i + 1);
        text_puts(&out, "]");
    }
    text_puts(&out, "}");
    CHECK(read_text(arena, out.data, &usage) == HT_INVALID);
    text_free(&out);
    arena_free(arena);
}

int main(void)
{
    RUN(a_week_keeps_its_total_and_its_peak);
    RUN(what_is_not_known_does_not_count);
    RUN(a_total_gives_means_and_never_goes_back);
    RUN(it_is_read_as_it_was_written);
    RUN(what_is_wrong_changes_nothing);
    RUN(it_is_never_too_long);
    return check_done();
}
