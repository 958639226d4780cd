/* Which scheduled backups are kept, and their names. */
#include "tuner/backup/retention.h"

#include <string.h>

#include "tests/check.h"

enum { HOUR = 3600000, MOST = 400 };

static size_t kept(size_t n, const int64_t made_ms[], bool keep[])
{
    size_t count = 0;
    retention_choose(n, made_ms, keep);
    for (size_t i = 0; i < n; i++)
        count += keep[i];
    return count;
}

/* One an hour for ten days, the newest at 12:30. */
static void hours_and_days_are_kept(void)
{
    int64_t made_ms[MOST];
    bool keep[MOST];
    const int64_t now_ms = (int64_t)20000 * 24 * HOUR + 12 * HOUR + HOUR / 2;
    for (int i = 0; i < 240; i++)
        made_ms[i] = now_ms - (int64_t)i * HOUR;
    /* 24 hours hold the last one of today and of yesterday. */
    CHECK(kept(240, made_ms, keep) == RETENTION_HOURS + RETENTION_DAYS - 2);
    for (int i = 0; i < RETENTION_HOURS; i++)
        CHECK(keep[i]);
    /* The last ones of the days before: at 23:30. */
    for (int day = 2; day < RETENTION_DAYS; day++)
        CHECK(keep[13 + 24 * (day - 1)]);
    CHECK(!keep[24] && !keep[36] && !keep[239]);
}

static void the_newest_of_an_hour_is_kept(void)
{
    bool keep[3];
    const int64_t hour = (int64_t)480000 * HOUR;
    const int64_t made_ms[] = {hour + 3, hour + 2, hour + 1};
    CHECK(kept(3, made_ms, keep) == 1 && keep[0]);
}

/* A server that was off keeps what it has: hours count that have a backup. */
static void a_pause_removes_nothing(void)
{
    int64_t made_ms[RETENTION_HOURS];
    bool keep[RETENTION_HOURS];
    for (int i = 0; i < RETENTION_HOURS; i++)
        made_ms[i] = (int64_t)(500000 - 50 * i) * HOUR;
    CHECK(kept(RETENTION_HOURS, made_ms, keep) == RETENTION_HOURS);
    CHECK(kept(0, made_ms, keep) == 0);
}

static void a_name_is_its_moment(void)
{
    char name[RETENTION_NAME_BYTES];
    int64_t ms = 0;
    retention_name(name, true, 1795514405678);
    CHECK_TEXT(name, "scheduled-2026-11-24T10-00-05Z");
    CHECK(retention_is_scheduled(name, &ms) && ms == 1795514405000);
    retention_name(name, false, 1795514405678);
    CHECK_TEXT(name, "2026-11-24T10-00-05Z");
    static const char *const others[] = {
        "2026-11-24T10-00-05Z",
        "scheduled-2026-11-24T10:00:05Z",
        "scheduled-2026-11-24T10-00-05",
        "scheduled-2026-13-24T10-00-05Z",
        ".making-scheduled-2026-11-24T10-00-05Z",
        "scheduled-"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!retention_is_scheduled(others[i], &ms));
}

int main(void)
{
    RUN(hours_and_days_are_kept);
    RUN(the_newest_of_an_hour_is_kept);
    RUN(a_pause_removes_nothing);
    RUN(a_name_is_its_moment);
    return check_done();
}
