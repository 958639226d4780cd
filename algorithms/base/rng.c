#include "algorithms/base/rng.h"

#include <math.h>

/* The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014) with the constants that
 * David Stafford called Mix13: a bijection in which each input bit flips
 * each output bit with a probability close to 1/2. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The odd integer next to 2^64 / golden ratio: SplitMix64's own increment. It
 * keeps mix(), whose only fixed point is 0, away from all-zero keys. */
static const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);

uint64_t rng_bits(const struct rng_place *place, uint64_t dimension)
{
    uint64_t z = mix(place->seed + golden);
    z = mix((z ^ place->ordinal) + golden);
    z = mix((z ^ place->draw) + golden);
    return mix((z ^ dimension) + golden);
}

double rng_unit(const struct rng_place *place, uint64_t dimension)
{
    return (double)(rng_bits(place, dimension) >> 11) * 0x1p-53;
}

double rng_normal(const struct rng_place *place, uint64_t dimension)
{
    const double radius = sqrt(-2 * log1p(-rng_unit(place, 2 * dimension)));
    return radius * cos(2 * M_PI * rng_unit(place, 2 * dimension + 1));
}
