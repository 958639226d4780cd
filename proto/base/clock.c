#include "proto/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
enum { DAY = 24 * HOUR };

/* Microseconds. */
static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_wall_us(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_wall_ms(void)
{
    return clock_wall_us() / 1000;
}

int64_t clock_monotonic_us(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

void clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec clock_in_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

int64_t clock_monotonic_ms(void)
{
    return clock_monotonic_us() / 1000;
}

/* Years 1000 to 9999, the ones with the promised width. */
static int64_t clamp_stamp(int64_t wall_ms)
{
    const int64_t first = -30610224000000, last = 253402300799999;
    return wall_ms < first ? first : wall_ms > last ? last : wall_ms;
}

/* The text before the milliseconds; returns its length. */
static size_t stamp_seconds(char buffer[CLOCK_STAMP_BYTES], int64_t wall_ms,
                            int *ms)
{
    *ms = (int)((wall_ms % 1000 + 1000) % 1000);
    time_t seconds = (time_t)((wall_ms - *ms) / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    return strftime(buffer, CLOCK_STAMP_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
}

char *clock_stamp(char buffer[CLOCK_STAMP_BYTES], int64_t wall_ms)
{
    int ms;
    size_t n = stamp_seconds(buffer, clamp_stamp(wall_ms), &ms);
    snprintf(buffer + n, CLOCK_STAMP_BYTES - n, ".%03dZ", ms);
    return buffer;
}

char *clock_stamp_us(char buffer[CLOCK_STAMP_BYTES], int64_t wall_us)
{
    int us = (int)((wall_us % 1000 + 1000) % 1000), ms;
    size_t n = stamp_seconds(buffer, clamp_stamp((wall_us - us) / 1000), &ms);
    snprintf(buffer + n, CLOCK_STAMP_BYTES - n, ".%03d%03d000Z", ms, us);
    return buffer;
}

/* Moves *text over exactly n digits. */
static bool read_digits(const char **text, int n, int *value)
{
    int read = 0;
    for (int i = 0; i < n; i++) {
        char digit = (*text)[i];
        if (digit < '0' || digit > '9')
            return false;
        read = read * 10 + (digit - '0');
    }
    *text += n;
    *value = read;
    return true;
}

static bool read_byte(const char **text, char byte)
{
    if (**text != byte)
        return false;
    (*text)++;
    return true;
}

/* The first nine digits of ".123456"; nothing at all is 0 ns. */
static bool read_fraction_ns(const char **text, int *ns)
{
    *ns = 0;
    if (!read_byte(text, '.'))
        return true;
    int n = 0, scale = 100000000;
    for (; **text >= '0' && **text <= '9'; (*text)++, n++) {
        *ns += (**text - '0') * scale;
        scale /= 10;
    }
    return n > 0;
}

static bool read_offset(const char **text, int *minutes)
{
    if (read_byte(text, 'Z') || read_byte(text, 'z')) {
        *minutes = 0;
        return true;
    }
    int hour, minute, sign = **text == '-' ? -1 : 1;
    if (!read_byte(text, '+') && !read_byte(text, '-'))
        return false;
    if (!read_digits(text, 2, &hour) || !read_byte(text, ':') ||
        !read_digits(text, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *minutes = sign * (hour * 60 + minute);
    return true;
}

static bool read_date(const char **text, struct tm *tm)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!read_digits(text, 4, &tm->tm_year) || !read_byte(text, '-') ||
        !read_digits(text, 2, &tm->tm_mon) || !read_byte(text, '-') ||
        !read_digits(text, 2, &tm->tm_mday))
        return false;
    int year = tm->tm_year;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 ||
        tm->tm_mday > days[tm->tm_mon - 1] + (leap && tm->tm_mon == 2))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    return true;
}

/* Second 60 is a leap second; timegm() makes it the next minute's first. */
static bool read_time(const char **text, struct tm *tm)
{
    return read_digits(text, 2, &tm->tm_hour) && read_byte(text, ':') &&
           read_digits(text, 2, &tm->tm_min) && read_byte(text, ':') &&
           read_digits(text, 2, &tm->tm_sec) && tm->tm_hour <= 23 &&
           tm->tm_min <= 59 && tm->tm_sec <= 60;
}

static bool read_stamp(const char *text, int64_t *seconds, int *ns)
{
    struct tm tm = {0};
    int minutes;
    if (!read_date(&text, &tm))
        return false;
    if (!read_byte(&text, 'T') && !read_byte(&text, 't'))
        return false;
    if (!read_time(&text, &tm) || !read_fraction_ns(&text, ns) ||
        !read_offset(&text, &minutes) || *text != '\0')
        return false;
    *seconds = (int64_t)timegm(&tm) - (int64_t)minutes * 60;
    return true;
}

bool clock_read_stamp(const char *text, int64_t *wall_ms)
{
    int64_t seconds;
    int ns;
    if (!read_stamp(text, &seconds, &ns))
        return false;
    *wall_ms = seconds * 1000 + ns / 1000000;
    return true;
}

bool clock_read_stamp_ns(const char *text, int64_t *wall_ns)
{
    int64_t seconds;
    int ns;
    if (!read_stamp(text, &seconds, &ns))
        return false;
    if (__builtin_mul_overflow(seconds, 1000000000, wall_ns) ||
        __builtin_add_overflow(*wall_ns, ns, wall_ns))
        *wall_ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    return true;
}

struct unit {
    const char *name;
    int64_t ms;
};

/* Falling, and "ms" before "m" would also do: names are compared whole. */
static const struct unit units[] = {
    {"d", DAY}, {"h", HOUR}, {"m", MINUTE}, {"s", SECOND}, {"ms", 1}};
enum { N_UNITS = sizeof units / sizeof *units };

/* A decimal number as whole part and billionths. */
struct amount {
    int64_t whole, billionths;
};

static bool read_amount(const char **text, struct amount *amount)
{
    const char *p = *text;
    int64_t whole = 0, billionths = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *p - '0', &whole))
            return false;
    }
    if (p == *text)
        return false;
    if (*p == '.') {
        const char *first = ++p;
        for (int64_t scale = 100000000; *p >= '0' && *p <= '9'; p++) {
            billionths += (*p - '0') * scale;
            scale /= 10;
        }
        if (p == first)
            return false;
    }
    *text = p;
    *amount = (struct amount){whole, billionths};
    return true;
}

/* Moves *text over the letters of a unit; N_UNITS when there is none such. */
static size_t read_unit(const char **text)
{
    size_t len = strspn(*text, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < N_UNITS; i++) {
        if (strlen(units[i].name) == len &&
            memcmp(units[i].name, *text, len) == 0) {
            *text += len;
            return i;
        }
    }
    return N_UNITS;
}

/* total += amount units, to the nearest millisecond. */
static bool add_amount(int64_t *total, struct amount amount, int64_t unit_ms)
{
    int64_t whole, fraction;
    fraction = (amount.billionths * unit_ms + 500000000) / 1000000000;
    return !__builtin_mul_overflow(amount.whole, unit_ms, &whole) &&
           !__builtin_add_overflow(*total, whole, total) &&
           !__builtin_add_overflow(*total, fraction, total);
}

/* Units must fall: "30m2h" is more likely a slip than a wish. */
bool clock_read_duration(const char *text, int64_t *ms)
{
    struct amount amount;
    int64_t total = 0;
    const char *p = text;
    size_t next = 0; /* the largest unit that may still come */
    do {
        if (!read_amount(&p, &amount))
            return false;
        bool is_bare = *p == '\0' && next == 0;
        size_t unit = is_bare ? 3 : read_unit(&p);
        if (unit < next || unit == N_UNITS ||
            !add_amount(&total, amount, units[unit].ms))
            return false;
        next = unit + 1;
    } while (*p != '\0');
    *ms = total;
    return true;
}

/* The unit at `i` and, unless it is 0, the next smaller one. */
static char *two_units(char buffer[CLOCK_DURATION_BYTES], int64_t ms, size_t i)
{
    long long large = ms / units[i].ms;
    long long small = ms % units[i].ms / units[i + 1].ms;
    if (small == 0)
        snprintf(buffer, CLOCK_DURATION_BYTES, "%lld%s", large, units[i].name);
    else
        snprintf(buffer, CLOCK_DURATION_BYTES, "%lld%s%lld%s", large,
                 units[i].name, small, units[i + 1].name);
    return buffer;
}

char *clock_duration(char buffer[CLOCK_DURATION_BYTES], int64_t ms)
{
    if (ms >= MINUTE)
        return two_units(buffer, ms, ms >= DAY ? 0 : ms >= HOUR ? 1 : 2);
    int tenths = (int)(ms % SECOND / 100);
    if (ms <= 0)
        snprintf(buffer, CLOCK_DURATION_BYTES, "0s");
    else if (ms < SECOND)
        snprintf(buffer, CLOCK_DURATION_BYTES, "%dms", (int)ms);
    else if (tenths == 0)
        snprintf(buffer, CLOCK_DURATION_BYTES, "%ds", (int)(ms / SECOND));
    else
        snprintf(buffer, CLOCK_DURATION_BYTES, "%d.%ds", (int)(ms / SECOND),
                 tenths);
    return buffer;
}
