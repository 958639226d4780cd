/* bbob.h - the 24 noiseless functions of "bbob", each in any number of
 * coordinates from 2 to BBOB_MAX_DIM and in as many instances as there are
 * seeds; smaller is better.
 *
 * Written from the definitions in Hansen, Finck, Ros and Auger, "Real-Parameter
 * Black-Box Optimization Benchmarking 2009: Noiseless Functions Definitions",
 * INRIA RR-6829 (https://inria.hal.science/inria-00362633), whose numbers and
 * names of transformations the comments have. */
#ifndef HT_BENCH_BBOB_H
#define HT_BENCH_BBOB_H

#include "bench/bbob_instance.h"

/* ---- transformations; `z` has b->n coordinates ---- */

/* T_osz of one number. */
static double bbob_wave(double x)
{
    if (x == 0)
        return 0;
    const double log_x = log(fabs(x));
    const double waves = x > 0 ? sin(10 * log_x) + sin(7.9 * log_x)
                               : sin(5.5 * log_x) + sin(3.1 * log_x);
    return copysign(exp(log_x + 0.049 * waves), x);
}

static void bbob_wave_all(const struct bbob *b, double z[])
{
    for (size_t i = 0; i < b->n; i++)
        z[i] = bbob_wave(z[i]);
}

/* T_asy with that beta. */
static void bbob_skew(const struct bbob *b, double beta, double z[])
{
    for (size_t i = 0; i < b->n; i++)
        if (z[i] > 0)
            z[i] = pow(z[i], 1 + beta * bbob_share(b, i) * sqrt(z[i]));
}

/* Lambda with that alpha. */
static void bbob_stretch(const struct bbob *b, double alpha, double z[])
{
    for (size_t i = 0; i < b->n; i++)
        z[i] *= pow(alpha, bbob_share(b, i) / 2);
}

static void bbob_from_optimum(const struct bbob *b, const double x[],
                              double z[])
{
    for (size_t i = 0; i < b->n; i++)
        z[i] = x[i] - b->at[i];
}

/* A coordinate, positive where it has the sign of the optimum's. */
static double bbob_towards(const struct bbob *b, const double x[], size_t i)
{
    return b->at[i] < 0 ? -x[i] : x[i];
}

/* The way from the optimum, turned by R. */
static void bbob_turned(const struct bbob *b, const double x[], double z[])
{
    bbob_from_optimum(b, x, z);
    bbob_turn(b, b->r, z);
}

/* Q Lambda R of the way from the optimum. */
static void bbob_turned_twice(const struct bbob *b, double alpha,
                              const double x[], double z[])
{
    bbob_turned(b, x, z);
    bbob_stretch(b, alpha, z);
    bbob_turn(b, b->q, z);
}

/* ---- sums that several functions have ---- */

/* f_pen. */
static double bbob_outside(const struct bbob *b, const double x[])
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += pow(fmax(fabs(x[i]) - BBOB_BOUND, 0), 2);
    return sum;
}

/* Squares, whose factors grow from 1 to that. */
static double bbob_squares(const struct bbob *b, double factor,
                           const double z[])
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += pow(factor, bbob_share(b, i)) * z[i] * z[i];
    return sum;
}

/* What cosines add to squares. */
static double bbob_ripples(const struct bbob *b, const double z[])
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += 10 - 10 * cos(2 * M_PI * z[i]);
    return sum;
}

static double bbob_rastrigin(const struct bbob *b, const double z[])
{
    return bbob_ripples(b, z) + bbob_squares(b, 1, z);
}

static double bbob_rosenbrock_term(const double z[])
{
    return 100 * pow(z[0] * z[0] - z[1], 2) + pow(z[0] - 1, 2);
}

static void bbob_rosenbrock_turned(const struct bbob *b, const double x[],
                                   double z[])
{
    memcpy(z, x, b->n * sizeof *z);
    bbob_turn(b, b->r, z);
    for (size_t i = 0; i < b->n; i++)
        z[i] = bbob_rosenbrock_scale(b) * z[i] + 0.5;
}

static double bbob_rosenbrock(const struct bbob *b, const double z[])
{
    double sum = 0;
    for (size_t i = 0; i + 1 < b->n; i++)
        sum += bbob_rosenbrock_term(z + i);
    return sum;
}

/* ---- f1 to f5: separable ---- */

static double bbob_sphere(const struct bbob *b, const double x[], double z[])
{
    bbob_from_optimum(b, x, z);
    return bbob_squares(b, 1, z);
}

static double bbob_ellipsoid(const struct bbob *b, const double x[], double z[])
{
    bbob_from_optimum(b, x, z);
    bbob_wave_all(b, z);
    return bbob_squares(b, 1e6, z);
}

static double bbob_rastrigin_separable(const struct bbob *b, const double x[],
                                       double z[])
{
    bbob_from_optimum(b, x, z);
    bbob_wave_all(b, z);
    bbob_skew(b, 0.2, z);
    bbob_stretch(b, 10, z);
    return bbob_rastrigin(b, z);
}

static double bbob_bueche(const struct bbob *b, const double x[], double z[])
{
    bbob_from_optimum(b, x, z);
    bbob_wave_all(b, z);
    bbob_stretch(b, 10, z);
    for (size_t i = 0; i < b->n; i += 2)
        if (z[i] > 0)
            z[i] *= 10;
    return bbob_rastrigin(b, z) + 100 * bbob_outside(b, x);
}

static double bbob_slope(const struct bbob *b, const double x[], double z[])
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        z[i] = fmin(bbob_towards(b, x, i), BBOB_BOUND);
        sum += pow(10, bbob_share(b, i)) * (BBOB_BOUND - z[i]);
    }
    return sum;
}

/* ---- f6 to f9: of low or moderate conditioning ---- */

static double bbob_sector(const struct bbob *b, const double x[], double z[])
{
    bbob_turned_twice(b, 10, x, z);
    for (size_t i = 0; i < b->n; i++)
        if (z[i] * b->at[i] > 0)
            z[i] *= 100;
    return pow(bbob_wave(bbob_squares(b, 1, z)), 0.9);
}

static double bbob_steps(const struct bbob *b, const double x[], double z[])
{
    bbob_turned(b, x, z);
    bbob_stretch(b, 10, z);
    const double first = fabs(z[0]);
    for (size_t i = 0; i < b->n; i++)
        z[i] =
            fabs(z[i]) > 0.5 ? floor(0.5 + z[i]) : floor(0.5 + 10 * z[i]) / 10;
    bbob_turn(b, b->q, z);
    return 0.1 * fmax(first / 1e4, bbob_squares(b, 100, z)) +
           bbob_outside(b, x);
}

static double bbob_rosenbrock_original(const struct bbob *b, const double x[],
                                       double z[])
{
    bbob_from_optimum(b, x, z);
    for (size_t i = 0; i < b->n; i++)
        z[i] = bbob_rosenbrock_scale(b) * z[i] + 1;
    return bbob_rosenbrock(b, z);
}

static double bbob_rosenbrock_rotated(const struct bbob *b, const double x[],
                                      double z[])
{
    bbob_rosenbrock_turned(b, x, z);
    return bbob_rosenbrock(b, z);
}

/* ---- f10 to f14: of high conditioning, one valley ---- */

static double bbob_ellipsoid_turned(const struct bbob *b, const double x[],
                                    double z[])
{
    bbob_turned(b, x, z);
    bbob_wave_all(b, z);
    return bbob_squares(b, 1e6, z);
}

static double bbob_discus(const struct bbob *b, const double x[], double z[])
{
    bbob_turned(b, x, z);
    bbob_wave_all(b, z);
    return bbob_squares(b, 1, z) + (1e6 - 1) * z[0] * z[0];
}

static double bbob_cigar(const struct bbob *b, const double x[], double z[])
{
    bbob_turned(b, x, z);
    bbob_skew(b, 0.5, z);
    bbob_turn(b, b->r, z);
    return 1e6 * bbob_squares(b, 1, z) - (1e6 - 1) * z[0] * z[0];
}

static double bbob_ridge(const struct bbob *b, const double x[], double z[])
{
    bbob_turned_twice(b, 10, x, z);
    const double first = z[0] * z[0];
    z[0] = 0;
    return first + 100 * sqrt(bbob_squares(b, 1, z));
}

static double bbob_powers(const struct bbob *b, const double x[], double z[])
{
    double sum = 0;
    bbob_turned(b, x, z);
    for (size_t i = 0; i < b->n; i++)
        sum += pow(fabs(z[i]), 2 + 4 * bbob_share(b, i));
    return sqrt(sum);
}

/* ---- f15 to f19: many valleys in a clear structure ---- */

static double bbob_rastrigin_turned(const struct bbob *b, const double x[],
                                    double z[])
{
    bbob_turned(b, x, z);
    bbob_wave_all(b, z);
    bbob_skew(b, 0.2, z);
    bbob_turn(b, b->q, z);
    bbob_stretch(b, 10, z);
    bbob_turn(b, b->r, z);
    return bbob_rastrigin(b, z);
}

static double bbob_weierstrass(const struct bbob *b, const double x[],
                               double z[])
{
    const double n = (double)b->n;
    bbob_turned(b, x, z);
    bbob_wave_all(b, z);
    bbob_turn(b, b->q, z);
    bbob_stretch(b, 0.01, z);
    bbob_turn(b, b->r, z);
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        const double height = pow(0.5, k), turns = 2 * M_PI * pow(3, k);
        for (size_t i = 0; i < b->n; i++)
            sum += height * (cos(turns * (z[i] + 0.5)) - cos(turns / 2));
    }
    return 10 * pow(sum / n, 3) + 10 / n * bbob_outside(b, x);
}

static double bbob_schaffers(const struct bbob *b, double alpha,
                             const double x[], double z[])
{
    bbob_turned(b, x, z);
    bbob_skew(b, 0.5, z);
    bbob_turn(b, b->q, z);
    bbob_stretch(b, alpha, z);
    double sum = 0;
    for (size_t i = 0; i + 1 < b->n; i++) {
        const double s = hypot(z[i], z[i + 1]);
        sum += sqrt(s) * (1 + pow(sin(50 * pow(s, 0.2)), 2));
    }
    return pow(sum / (double)(b->n - 1), 2) + 10 * bbob_outside(b, x);
}

static double bbob_schaffers_10(const struct bbob *b, const double x[],
                                double z[])
{
    return bbob_schaffers(b, 10, x, z);
}

static double bbob_schaffers_1000(const struct bbob *b, const double x[],
                                  double z[])
{
    return bbob_schaffers(b, 1000, x, z);
}

static double bbob_griewank(const struct bbob *b, const double x[], double z[])
{
    bbob_rosenbrock_turned(b, x, z);
    double sum = 0;
    for (size_t i = 0; i + 1 < b->n; i++) {
        const double s = bbob_rosenbrock_term(z + i);
        sum += s / 4000 - cos(s);
    }
    return 10 * sum / (double)(b->n - 1) + 10;
}

/* ---- f20 to f24: many valleys in a weak structure ---- */

static double bbob_schwefel(const struct bbob *b, const double x[], double z[])
{
    for (size_t i = 0; i < b->n; i++)
        z[i] = 2 * bbob_towards(b, x, i) - BBOB_SCHWEFEL;
    for (size_t i = b->n - 1; i > 0; i--)
        z[i] += 0.25 * z[i - 1];
    bbob_stretch(b, 10, z);
    double sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        z[i] += BBOB_SCHWEFEL;
        sum += z[i] * sin(10 * sqrt(fabs(z[i])));
    }
    return 4.189828872724339 - sum / (double)b->n + 100 * bbob_outside(b, z);
}

static double bbob_gallagher(const struct bbob *b, const double x[], double z[])
{
    double highest = 0;
    memcpy(z, x, b->n * sizeof *z);
    bbob_turn(b, b->r, z);
    for (size_t k = 0; k < b->n_peaks; k++) {
        const struct bbob_peak *peak = &b->peaks[k];
        double way = 0;
        for (size_t i = 0; i < b->n; i++)
            way += peak->narrow[i] * pow(z[i] - peak->at[i], 2);
        highest = fmax(highest, peak->weight * exp(-way / (2 * (double)b->n)));
    }
    return pow(bbob_wave(10 - highest), 2) + bbob_outside(b, x);
}

static double bbob_katsuura(const struct bbob *b, const double x[], double z[])
{
    const double n = (double)b->n;
    double product = 1;
    bbob_turned_twice(b, 100, x, z);
    for (size_t i = 0; i < b->n; i++) {
        double sum = 0;
        for (int j = 1; j <= 32; j++) {
            const double fine = ldexp(z[i], j);
            sum += ldexp(fabs(fine - nearbyint(fine)), -j);
        }
        product *= pow(1 + (double)(i + 1) * sum, 10 / pow(n, 1.2));
    }
    return 10 / (n * n) * (product - 1) + bbob_outside(b, x);
}

static double bbob_lunacek(const struct bbob *b, const double x[], double z[])
{
    const double n = (double)b->n, s = 1 - 1 / (2 * sqrt(n + 20) - 8.2);
    const double other = -sqrt((BBOB_LUNACEK * BBOB_LUNACEK - 1) / s);
    double here = 0, there = n;
    for (size_t i = 0; i < b->n; i++) {
        const double turned = 2 * bbob_towards(b, x, i);
        z[i] = turned - BBOB_LUNACEK;
        here += z[i] * z[i];
        there += s * pow(turned - other, 2);
    }
    bbob_turn(b, b->r, z);
    bbob_stretch(b, 100, z);
    bbob_turn(b, b->q, z);
    return fmin(here, there) + bbob_ripples(b, z) + 1e4 * bbob_outside(b, x);
}

/* How much worse than the optimum. */
static inline double bbob_regret(const struct bbob *b, const double x[])
{
    static double (*const functions[])(const struct bbob *, const double[],
                                       double[]) = {bbob_sphere,
                                                    bbob_ellipsoid,
                                                    bbob_rastrigin_separable,
                                                    bbob_bueche,
                                                    bbob_slope,
                                                    bbob_sector,
                                                    bbob_steps,
                                                    bbob_rosenbrock_original,
                                                    bbob_rosenbrock_rotated,
                                                    bbob_ellipsoid_turned,
                                                    bbob_discus,
                                                    bbob_cigar,
                                                    bbob_ridge,
                                                    bbob_powers,
                                                    bbob_rastrigin_turned,
                                                    bbob_weierstrass,
                                                    bbob_schaffers_10,
                                                    bbob_schaffers_1000,
                                                    bbob_griewank,
                                                    bbob_schwefel,
                                                    bbob_gallagher,
                                                    bbob_gallagher,
                                                    bbob_katsuura,
                                                    bbob_lunacek};
    double z[BBOB_MAX_DIM];
    return functions[b->function - 1](b, x, z);
}

#endif
