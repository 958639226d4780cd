#include "tuner/placement/usage.h"

#include <math.h>

enum { TRIALS = 10, LEAST_S = 600 };

double placement_half_life(double trial_s)
{
    return TRIALS * trial_s > LEAST_S ? TRIALS * trial_s : LEAST_S;
}

double placement_decay(double seconds, double half_life)
{
    return seconds > 0 ? exp2(-seconds / half_life) : 1;
}

/* The integral of weight * decay over the time that it ran. */
double placement_use(double weight, double seconds, double half_life)
{
    const double rate = log(2) / half_life;
    return seconds > 0 ? weight * -expm1(-rate * seconds) / rate : 0;
}
