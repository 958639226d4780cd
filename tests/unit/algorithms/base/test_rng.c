#include <math.h>
#include <stdint.h>

#include "algorithms/base/rng.h"
#include "tests/check.h"

static void the_same_place_gives_the_same_bits(void)
{
    const struct rng_place place = {1, 2, 3};
    CHECK(rng_bits(&place, 4) == rng_bits(&place, 4));
    /* Written down once: a study of last year must replay next year. */
    const struct rng_place first = {0, 0, 0};
    CHECK(rng_bits(&first, 0) == UINT64_C(0x2130748AAAC80268));
    CHECK(rng_bits(&place, 4) == UINT64_C(0xD55CCD4AEB3CCAFB));
}

static int flipped(uint64_t a, uint64_t b)
{
    return __builtin_popcountll(a ^ b);
}

static void each_coordinate_changes_about_half_of_the_bits(void)
{
    int total[4] = {0};
    enum { PLACES = 4000 };
    for (uint64_t i = 0; i < PLACES; i++) {
        const struct rng_place at = {i, i + 1, i % 64};
        const struct rng_place seed = {i ^ 1, i + 1, i % 64};
        const struct rng_place ordinal = {i, (i + 1) ^ 1, i % 64};
        const struct rng_place draw = {i, i + 1, (i % 64) ^ 1};
        uint64_t bits = rng_bits(&at, 0);
        total[0] += flipped(bits, rng_bits(&seed, 0));
        total[1] += flipped(bits, rng_bits(&ordinal, 0));
        total[2] += flipped(bits, rng_bits(&draw, 0));
        total[3] += flipped(bits, rng_bits(&at, 1));
    }
    /* Mean of PLACES * 64 fair coins; five standard deviations are 0.005. */
    for (int i = 0; i < 4; i++)
        CHECK(fabs(total[i] / (PLACES * 64.0) - 0.5) < 0.005);
}

/* 100 cells, 100,000 draws along one coordinate. The 99.99 % point of a
 * chi-square with 99 degrees of freedom is 161. */
static double chi_square(int coordinate)
{
    enum { CELLS = 100, DRAWS = 100000 };
    int count[CELLS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t at[4] = {7, 7, 7, 7};
        at[coordinate] = i;
        const struct rng_place place = {at[0], at[1], at[2]};
        double u = rng_unit(&place, at[3]);
        CHECK(u >= 0.0 && u < 1.0);
        count[(int)(u * CELLS)]++;
    }
    double sum = 0.0, expected = (double)DRAWS / CELLS;
    for (int i = 0; i < CELLS; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void counting_along_any_coordinate_is_uniform(void)
{
    for (int i = 0; i < 4; i++)
        CHECK(chi_square(i) < 161.0);
}

int main(void)
{
    RUN(the_same_place_gives_the_same_bits);
    RUN(each_coordinate_changes_about_half_of_the_bits);
    RUN(counting_along_any_coordinate_is_uniform);
    return check_done();
}
