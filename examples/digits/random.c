#include "examples/digits/random.h"

#include <math.h>

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t random_bits(struct random_stream *stream)
{
    uint64_t z = stream->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double random_unit(struct random_stream *stream)
{
    return (double)(random_bits(stream) >> 11) * 0x1p-53;
}

double random_normal(struct random_stream *stream)
{
    /* Box and Muller's transform; 1 - u is never 0. */
    const double pi = 3.14159265358979323846;
    double radius = sqrt(-2.0 * log(1.0 - random_unit(stream)));
    return radius * cos(2.0 * pi * random_unit(stream));
}

void random_shuffle(struct random_stream *stream, size_t n, size_t items[])
{
    for (size_t left = n; left > 1; left--) {
        size_t other = (size_t)(random_unit(stream) * (double)left);
        size_t kept = items[left - 1];
        items[left - 1] = items[other];
        items[other] = kept;
    }
}
