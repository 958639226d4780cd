/* usage.h - how much of one device (the processors with the memory, or a GPU) a
 * replica used while it ran, as a series of bounded length.
 *
 * A full series is halved: two neighbours become one, and the next points come
 * half as often. So a run of a week has as many points as one of an hour. */
#ifndef HT_PROTO_JOB_USAGE_H
#define HT_PROTO_JOB_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

enum { USAGE_POINTS = 240, USAGE_FIRST_MS = 500 };

struct usage_point {
    int64_t until_ms; /* since the beginning: where its time ends, which begins
                         with the end of the point before */
    double used;      /* mean in that time: cores, or the part of a GPU's time
                         from 0 to 1; below 0: not known */
    int64_t memory;   /* bytes, the most that was seen then; below 0: not
                         known */
};

struct usage {
    int64_t from_ms;  /* wall clock: when it begins */
    int64_t every_ms; /* how far apart new points should be */
    size_t n;
    struct usage_point points[USAGE_POINTS];
};

void usage_begin(struct usage *usage, int64_t from_ms);
/* Its until_ms is later than that of the last point. */
void usage_add(struct usage *usage, const struct usage_point *point);

/* A series made of a total that only grows. */
struct usage_counter {
    struct usage usage;
    int64_t began_at; /* monotonic */
    int64_t total_us; /* when the last point ended */
};

void usage_counter_begin(struct usage_counter *counter, int64_t now,
                         int64_t wall_ms, int64_t total_us);
/* Adds the point that ends `now`; none when no time has passed, and one that is
 * much shorter than others is joined with the last. A total that
 * seems to go back counts as unchanged, until it is higher again. */
void usage_count(struct usage_counter *counter, int64_t now, int64_t total_us,
                 int64_t memory);
/* For how long after its last sending or writing a series is not sent or
 * written again, so that a long run does it seldom. */
int64_t usage_pause_ms(const struct usage_counter *counter, int64_t now);

/* Appends {"fromMs":0,"everyMs":500,"ms":[...],"used":[...],"memory":[...]},
 * with null for what is not known. */
void usage_write(const struct usage *usage, struct text *out);
/* Reads it back, from anyone: *usage is set only when all of it is right.
 * HT_INVALID  it is no such object */
enum ht_status usage_read(const struct node *map, struct usage *usage,
                          struct ht_error *err);

#endif
