#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/bbob.h"
#include "tests/check.h"

static struct bbob b;

/* Without what is random: the optimum in the middle, no rotations, one peak. */
static void plain(int function)
{
    bbob_init(&b, function, 3, 1);
    memset(b.at, 0, sizeof b.at);
    memset(b.r, 0, sizeof b.r);
    for (size_t i = 0; i < 3; i++)
        b.r[i][i] = 1;
    memcpy(b.q, b.r, sizeof b.q);
    b.n_peaks = 1;
    memset(b.peaks[0].at, 0, sizeof b.peaks[0].at);
    for (size_t i = 0; i < 3; i++)
        b.peaks[0].narrow[i] = 1;
}

static bool is_at(double x0, double x1, double x2, double want)
{
    const double x[] = {x0, x1, x2}, got = bbob_regret(&b, x);
    if (fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
        return true;
    printf("# f%d: got %.12g, want %.12g\n", b.function, got, want);
    return false;
}

static void one_is_where_the_waves_of_a_number_cross_it(void)
{
    CHECK(bbob_wave(0) == 0);
    CHECK(bbob_wave(1) == 1);
    CHECK(bbob_wave(-1) == -1);
    CHECK(fabs(bbob_wave(M_E) - exp(1 + 0.049 * (sin(10) + sin(7.9)))) < 1e-12);
    CHECK(fabs(bbob_wave(-M_E) + exp(1 + 0.049 * (sin(5.5) + sin(3.1)))) <
          1e-12);
}

static void separable_functions_have_the_values_of_the_definition(void)
{
    plain(1);
    CHECK(is_at(1, 2, 3, 14));
    plain(2);
    CHECK(is_at(1, 1, -1, 1 + 1e3 + 1e6));
    plain(3);
    CHECK(is_at(1, 0, 0, 1));
    CHECK(is_at(0, 0, 1, 20 - 10 * cos(2 * M_PI * sqrt(10))));
    plain(4);
    CHECK(is_at(1, 0, 0, 100));
    CHECK(is_at(-1, 0, 0, 1));
    plain(5);
    b.at[0] = b.at[1] = 5;
    b.at[2] = -5;
    CHECK(is_at(4, 5, -5, 1));
    CHECK(is_at(5, 5, -4, 10));
    CHECK(is_at(6, 7, -8, 0));
}

static void functions_of_one_valley_have_the_values_of_the_definition(void)
{
    plain(6);
    CHECK(is_at(1, 0, 0, 1));
    b.at[0] = 1;
    CHECK(is_at(2, 0, 0, pow(bbob_wave(1e4), 0.9)));
    plain(7);
    CHECK(is_at(0.155, 0, 0, 0.004));
    CHECK(is_at(0.9, 0, 0, 0.1));
    /* 6 is stretched to 10.67, rounded to 11; 1 is what lies outside. */
    CHECK(is_at(0, 6, 0, 0.1 * 10 * 121 + 1));
    plain(8);
    CHECK(is_at(-1, -1, -1, 2));
    plain(9);
    CHECK(is_at(-0.5, -0.5, -0.5, 2));
    plain(10);
    CHECK(is_at(1, 1, -1, 1 + 1e3 + 1e6));
    plain(11);
    CHECK(is_at(1, 1, -1, 1e6 + 2));
    plain(12);
    CHECK(is_at(1, 1, -1, 1 + 2e6));
    plain(13);
    CHECK(is_at(1, 0, 1, 1 + 100 * sqrt(10)));
    plain(14);
    CHECK(is_at(1, 1, 1, sqrt(3)));
}

static void functions_of_many_valleys_have_the_values_of_the_definition(void)
{
    plain(15);
    CHECK(is_at(1, 0, 0, 1));
    plain(16);
    CHECK(is_at(1, 0, 0, 0)); /* a whole period */
    plain(17);
    CHECK(is_at(1, 0, 0, pow((1 + pow(sin(50), 2)) / 2, 2)));
    plain(18);
    CHECK(is_at(
        0, 0, 1,
        pow(pow(1000, 0.25) * (1 + pow(sin(50 * pow(1000, 0.1)), 2)) / 2, 2)));
    plain(19);
    CHECK(is_at(-0.5, -0.5, -0.5, 10.0 / 4000 - 10 * cos(1) + 10));
    plain(21);
    CHECK(is_at(1, 0, 0, pow(bbob_wave(10 - 10 * exp(-1.0 / 6)), 2)));
    CHECK(is_at(100, 0, 0, pow(bbob_wave(10), 2) + 95 * 95));
    plain(23);
    CHECK(is_at(1, 0, 0, 0));
    CHECK(is_at(0.25, 0, 0, 10.0 / 9 * (pow(1.25, 10 / pow(3, 1.2)) - 1)));
    plain(24); /* in the middle both funnels have 18.75 */
    CHECK(is_at(0, 0, 0, 18.75 + 20 + 10 - 10 * cos(5 * M_PI * sqrt(10))));
}

/* At two points, the second one outside, what the functions of pycma 4
 * (cma/bbobbenchmarks.py) have, given the same place and the same rotations. */
static void all_have_the_values_of_another_implementation(void)
{
    static const double points[2][3] = {{0.6, -1.7, 2.3}, {-5.5, 0.3, 4.9}};
    static const double values[BBOB_FUNCTIONS][2] = {
        {8.54, 54.35},
        {5942756.99878363, 23556207.3229467},
        {143.174944447797, 1016.27549807512},
        {6020.59869442475, 23661.3507771815},
        {52.5872603231281, 26.3627050027914},
        {16.7671229923445, 214.170021843355},
        {45.6, 2898.44},
        {1855.62, 37713},
        {4735.8, 118975.72},
        {431295.91967507, 28014484.6454253},
        {3256573.59340364, 95400.6257190442},
        {3132368.97418183, 30340139.4117041},
        {271.483232879431, 1815.43771228016},
        {5.56064348794274, 168.098812384264},
        {37.2651903986823, 361.19499810118},
        {124.85009370462, 98.1241654143832},
        {12.5281540854914, 22.8566630435736},
        {44.2386713134878, 190.016292053233},
        {19.5703903562516, 157.657771395952},
        {3212.22923838113, 24879.5940626107},
        {74.6550067909896, 86.815401122535},
        {74.6550067909896, 86.815401122535},
        {7.92600585541312, 3.90686451359836},
        {52.4444972038529, 2581.76587879116}};
    for (int f = 1; f <= BBOB_FUNCTIONS; f++) {
        plain(f);
        for (size_t i = 0; i < 3; i++) {
            if (f == 5)
                b.at[i] = 5;
            b.peaks[0].narrow[i] = (double)i + 1;
            for (size_t j = 0; j < 3; j++) {
                b.r[i][j] = j == (i + 1) % 3;
                b.q[i][j] = i == 2            ? j == 2
                            : j < 2 && j != i ? 1 - 2.0 * (double)i
                                              : 0;
            }
        }
        for (size_t k = 0; k < 2; k++)
            CHECK(is_at(points[k][0], points[k][1], points[k][2],
                        values[f - 1][k]));
    }
}

/* Many instances of each function. */
static void all_have_their_value_at_the_optimum_and_are_worse_elsewhere(void)
{
    static const size_t sizes[] = {2, 3, 5, 20, BBOB_MAX_DIM};
    for (int f = 1; f <= BBOB_FUNCTIONS; f++)
        for (size_t k = 0; k < 15; k++) {
            struct rng_place place = {7, k, 0};
            bbob_init(&b, f, sizes[k % 5], k);
            CHECK(fabs(bbob_regret(&b, b.at)) < 1e-9);
            CHECK(fabs(b.optimum) <= 1000);
            for (size_t i = 0; i < b.n; i++)
                CHECK(fabs(b.at[i]) <= (f == 5 ? 5 : 4));
            for (; place.draw < 100; place.draw++) {
                double x[BBOB_MAX_DIM];
                for (size_t i = 0; i < b.n; i++)
                    x[i] = bbob_uniform(&place, i, 5);
                CHECK(bbob_regret(&b, x) > 0);
            }
        }
}

static void rotations_keep_distances(void)
{
    bbob_init(&b, 10, 20, 3);
    for (size_t i = 0; i < b.n; i++)
        for (size_t j = 0; j < b.n; j++) {
            double r = 0, q = 0;
            for (size_t k = 0; k < b.n; k++) {
                r += b.r[i][k] * b.r[j][k];
                q += b.q[i][k] * b.q[j][k];
            }
            CHECK(fabs(r - (i == j)) < 1e-12);
            CHECK(fabs(q - (i == j)) < 1e-12);
        }
    CHECK(memcmp(b.r, b.q, sizeof b.r) != 0);
}

static void a_seed_gives_the_same_instance_and_another_one_another(void)
{
    static struct bbob other;
    const double x[] = {1, -2, 3, -4, 0.5};
    for (int f = 1; f <= BBOB_FUNCTIONS; f++) {
        bbob_init(&b, f, 5, 1);
        bbob_init(&other, f, 5, 1);
        CHECK(memcmp(&b, &other, sizeof b) == 0);
        bbob_init(&other, f, 5, 2);
        CHECK(other.optimum != b.optimum);
        CHECK(bbob_regret(&other, x) != bbob_regret(&b, x));
    }
}

int main(void)
{
    RUN(one_is_where_the_waves_of_a_number_cross_it);
    RUN(separable_functions_have_the_values_of_the_definition);
    RUN(functions_of_one_valley_have_the_values_of_the_definition);
    RUN(functions_of_many_valleys_have_the_values_of_the_definition);
    RUN(all_have_the_values_of_another_implementation);
    RUN(all_have_their_value_at_the_optimum_and_are_worse_elsewhere);
    RUN(rotations_keep_distances);
    RUN(a_seed_gives_the_same_instance_and_another_one_another);
    return check_done();
}
