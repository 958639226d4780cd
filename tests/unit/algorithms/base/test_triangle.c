/* Linear algebra that threads share a library for. */
#include "algorithms/base/triangle.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "tests/check.h"

enum { N = 12, STRIDE = 15, ROWS = 4, THREADS = 4, ROUNDS = 25000 };

/* All that is asked of one matrix. */
struct answers {
    double factor[N * STRIDE], inverse[N * STRIDE], product[N * STRIDE];
    double solved[N], transposed[N], rows[ROWS * N];
};

static void fill(double *numbers, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = sin((double)(i + 1) * (double)(seed + 1));
}

/* Ones beside a diagonal of its own in each: positive definite. */
static void fill_covariance(double *rows, unsigned seed)
{
    for (size_t i = 0; i < (size_t)N * STRIDE; i++)
        rows[i] = 1;
    for (size_t i = 0; i < N; i++)
        rows[i * STRIDE + i] = 2 + seed + (double)i;
}

static void answer(unsigned seed, struct answers *answers)
{
    memset(answers, 0, sizeof *answers);
    fill_covariance(answers->factor, seed);
    fill(answers->solved, N, seed);
    fill(answers->transposed, N, seed);
    fill(answers->rows, (size_t)ROWS * N, seed);
    const struct triangle l = {N, STRIDE, answers->factor};
    const struct triangle inverse = {N, STRIDE, answers->inverse};
    const struct triangle product = {N, STRIDE, answers->product};
    CHECK(triangle_factor(&l));
    memcpy(answers->inverse, answers->factor, sizeof answers->inverse);
    memcpy(answers->product, answers->factor, sizeof answers->product);
    triangle_invert(&inverse);
    CHECK(triangle_invert_product(&product));
    triangle_solve(&l, answers->solved);
    triangle_solve_transposed(&l, answers->transposed);
    triangle_solve_rows(&l, ROWS, answers->rows);
}

static double lower_at(const double *rows, size_t i, size_t j)
{
    return j <= i ? rows[i * STRIDE + j] : 0;
}

static void answers_undo_what_they_are_of(void)
{
    struct answers got;
    double given[N], covariance[N * STRIDE];
    answer(3, &got);
    fill(given, N, 3);
    fill_covariance(covariance, 3);
    for (size_t i = 0; i < N; i++) {
        double solved = 0, transposed = 0, row = 0;
        for (size_t j = 0; j < N; j++) {
            double squared = 0, unit = 0;
            for (size_t k = 0; k < N; k++) {
                squared +=
                    lower_at(got.factor, i, k) * lower_at(got.factor, j, k);
                unit +=
                    lower_at(got.factor, i, k) * lower_at(got.inverse, k, j);
            }
            CHECK(fabs(squared - covariance[i * STRIDE + j]) < 1e-12);
            CHECK(fabs(unit - (i == j ? 1 : 0)) < 1e-12);
            solved += lower_at(got.factor, i, j) * got.solved[j];
            transposed += lower_at(got.factor, j, i) * got.transposed[j];
            row += lower_at(got.factor, i, j) * got.rows[j];
        }
        CHECK(fabs(solved - given[i]) < 1e-12);
        CHECK(fabs(transposed - given[i]) < 1e-12);
        CHECK(fabs(row - given[i]) < 1e-12);
    }
}

static void the_inverse_of_a_product_is_that_of_both(void)
{
    struct answers got;
    answer(5, &got);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum +=
                    lower_at(got.inverse, k, i) * lower_at(got.inverse, k, j);
            CHECK(fabs(lower_at(got.product, i, j) - sum) < 1e-12);
        }
}

static void what_is_no_covariance_has_no_factor(void)
{
    double rows[] = {1, 2, 2, 1};
    const struct triangle covariance = {2, 2, rows};
    CHECK(!triangle_factor(&covariance));
}

struct runner {
    unsigned seed;
    struct answers wanted;
    size_t wrong;
};

static void *run(void *argument)
{
    struct runner *runner = argument;
    struct answers got;
    for (int i = 0; i < ROUNDS; i++) {
        answer(runner->seed, &got);
        runner->wrong += memcmp(&got, &runner->wanted, sizeof got) == 0 ? 0 : 1;
    }
    return NULL;
}

static void threads_get_what_each_would_get_alone(void)
{
    struct runner runners[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){.seed = i};
        answer(i, &runners[i].wanted);
    }
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &runners[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(runners[i].wrong == 0);
    }
}

int main(void)
{
    algorithm_init();
    RUN(answers_undo_what_they_are_of);
    RUN(the_inverse_of_a_product_is_that_of_both);
    RUN(what_is_no_covariance_has_no_factor);
    RUN(threads_get_what_each_would_get_alone);
    return check_done();
}
