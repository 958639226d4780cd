/* Times as Slurm writes them: what a spec may say, and what Slurm's commands
 * answer. */
#include "proto/job/slurm.h"
#include "tests/check.h"

static const int64_t second = 1000, minute = 60000, day = INT64_C(86400000);

static void the_first_part_is_minutes_hours_or_days(void)
{
    CHECK(slurm_time_ms("5") == 5 * minute);
    CHECK(slurm_time_ms("30:15") == 30 * minute + 15 * second);
    CHECK(slurm_time_ms("02:00:00") == 120 * minute);
    CHECK(slurm_time_ms("1-12") == day + 720 * minute);
    CHECK(slurm_time_ms("1-12:30") == day + 750 * minute);
    CHECK(slurm_time_ms("7-00:00:01") == 7 * day + second);
}

static void what_is_no_time_is_0(void)
{
    static const char *const texts[] = {
        "",   "UNLIMITED", "NONE",  "1:2:3:4", "1:", ":1", "-1",
        "1-", "1-2-3",     "1:2-3", "+1",      " 1", "1 "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(slurm_time_ms(texts[i]) == 0);
}

static void no_number_is_too_long_for_the_sum(void)
{
    CHECK(slurm_time_ms("999999999-999999999:999999999:999999999") >
          INT64_C(999999999) * day);
    CHECK(slurm_time_ms("9999999999999999999999999991-12:00") == 0);
    CHECK(slurm_time_ms("1-1:1:9999999999") == 0);
}

int main(void)
{
    RUN(the_first_part_is_minutes_hours_or_days);
    RUN(what_is_no_time_is_0);
    RUN(no_number_is_too_long_for_the_sum);
    return check_done();
}
