#include "algorithms/stop/hyperband.h"

#include <math.h>

#include "algorithms/stop/asha.h"

/* One rung more in a ladder says hardly more; its trials would be too few to
 * be compared with. */
enum { MOST_BRACKETS = 5 };

size_t hyperband_brackets(const struct early_stop *options)
{
    const struct asha_ladder whole = asha_ladder(options);
    const int64_t rungs = asha_reached(&whole, whole.top) + 1;
    return rungs < MOST_BRACKETS ? (size_t)rungs + 1 : MOST_BRACKETS;
}

/* The n-th fraction of a sequence whose every run covers 0 to 1 evenly:
 * multiples of the golden ratio. */
static double fraction(uint64_t n)
{
    return (double)((n * UINT64_C(0x9E3779B97F4A7C15)) >> 11) * 0x1p-53;
}

size_t hyperband_bracket(const struct early_stop *options, uint64_t ordinal)
{
    const size_t n = hyperband_brackets(options);
    const double factor = asha_ladder(options).factor;
    double share[MOST_BRACKETS], sum = 0;
    for (size_t b = 0; b < n; b++) {
        share[b] = pow(factor, (double)(n - 1 - b)) / (double)(n - b);
        sum += share[b];
    }
    double left = fraction(ordinal) * sum;
    size_t b = 0;
    while (b + 1 < n && left >= share[b])
        left -= share[b++];
    return b;
}

static struct asha_ladder choose(const struct early_stop *options,
                                 uint64_t ordinal)
{
    struct asha_ladder ladder = asha_ladder(options);
    ladder.first =
        asha_place(&ladder, (int64_t)hyperband_bracket(options, ordinal));
    return ladder;
}

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    asha_judge(study, current, choose, verdict);
}

static bool promote(const struct stop_study *study, bool last, size_t *chosen)
{
    return asha_promote(study, choose, last, chosen);
}

const struct stop_rule hyperband_rule = {
    .name = "hyperband", .judge = judge, .promote = promote};
