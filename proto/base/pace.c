#include "proto/base/pace.h"

enum {
    START_BYTES = 16 * 1024, /* before anything was measured */
    STEP_BYTES = 1024,
    LONG_MS = 1000, /* a message that takes longer delays those behind it, and
                       grows in steps */
    SHRINK = 4      /* times that: the next has half */
};

static size_t at_most(size_t a, size_t b)
{
    return a < b ? a : b;
}

void pace_init(struct pace *pace, size_t most)
{
    *pace = (struct pace){
        .batch = at_most(START_BYTES, most), .most = most, .threshold = most};
}

void pace_failed(struct pace *pace, size_t len)
{
    if (pace->failed == 0)
        pace->failed = len;
    pace->batch = 0;
}

static void end_failure(struct pace *pace, bool stored)
{
    const size_t half = pace->failed / 2;
    pace->batch = stored ? pace->failed : 0;
    pace->threshold = stored              ? pace->most
                      : half > STEP_BYTES ? half
                                          : STEP_BYTES;
    pace->failed = 0;
}

void pace_answered(struct pace *pace, size_t len, bool stored, int64_t ms)
{
    if (pace->failed > 0)
        end_failure(pace, stored);
    else if (2 * len < pace->batch)
        return; /* its size was not tried */
    if (ms > (int64_t)SHRINK * LONG_MS)
        pace->batch = len / 2;
    else if (ms > LONG_MS || pace->batch >= pace->threshold)
        pace->batch += STEP_BYTES;
    else
        pace->batch = 2 * (len > pace->batch ? len : pace->batch);
    pace->batch = at_most(pace->batch, pace->most);
}
