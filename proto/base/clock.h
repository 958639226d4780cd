/* clock.h - wall time as text, durations as text, and the one monotonic clock.
 *
 * Wall time is milliseconds since 1970 UTC and is only ever shown; every
 * deadline uses monotonic milliseconds, which count through suspend. */
#ifndef HT_PROTO_BASE_CLOCK_H
#define HT_PROTO_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Since 1970 UTC; may jump in either direction, see above. */
int64_t clock_wall_ms(void);
int64_t clock_wall_us(void);
/* CLOCK_BOOTTIME: never falls, counts through suspend, and begins anew when
 * the machine starts, so it is never stored. */
int64_t clock_monotonic_ms(void);
int64_t clock_monotonic_us(void); /* the same, to measure spans */

/* A condition on CLOCK_MONOTONIC, and the moment so many milliseconds from now
 * for its pthread_cond_timedwait(). */
void clock_cond_init(pthread_cond_t *cond);
struct timespec clock_in_ms(int64_t ms);

/* "2026-11-21T03:10:02.123Z", always the same width: a year before 1000 or
 * after 9999 becomes the first or last moment between. Returns the buffer. */
enum { CLOCK_STAMP_BYTES = 32 };
char *clock_stamp(char buffer[CLOCK_STAMP_BYTES], int64_t wall_ms);

/* "2026-11-21T03:10:02.123456000Z", for who compares stamps as texts. */
char *clock_stamp_us(char buffer[CLOCK_STAMP_BYTES], int64_t wall_us);

/* Reads RFC 3339 with Z or an offset, the whole text; false when it is not
 * one, and then nothing is written. Further digits are cut off. Nanoseconds
 * end in the year 2262 and begin in 1677: what is beyond is the last or
 * first. */
bool clock_read_stamp(const char *text, int64_t *wall_ms);
bool clock_read_stamp_ns(const char *text, int64_t *wall_ns);

/* Reads "90", "90s", "1.5h", "2h30m", "250ms" (bare numbers are seconds) and
 * protobuf's "3.5s". Never negative; false when the text is no duration. */
bool clock_read_duration(const char *text, int64_t *ms);

/* "250ms", "4.2s", "7m18s", "2h14m", "3d4h": two units at most, the rest is
 * cut off; "0s" for 0 and below. Returns the buffer. */
enum { CLOCK_DURATION_BYTES = 32 };
char *clock_duration(char buffer[CLOCK_DURATION_BYTES], int64_t ms);

#endif
