#include "algorithms/base/triangle.h"

#include <pthread.h>

#include <gsl/gsl_cblas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

static pthread_mutex_t buffers = PTHREAD_MUTEX_INITIALIZER;

static gsl_matrix_view view_of(const struct triangle *triangle)
{
    return gsl_matrix_view_array_with_tda(triangle->rows, triangle->n,
                                          triangle->n, triangle->stride);
}

bool triangle_factor(const struct triangle *covariance)
{
    gsl_matrix_view view = view_of(covariance);
    pthread_mutex_lock(&buffers);
    const int code = gsl_linalg_cholesky_decomp1(&view.matrix);
    pthread_mutex_unlock(&buffers);
    return code == GSL_SUCCESS;
}

bool triangle_invert_product(const struct triangle *l)
{
    gsl_matrix_view view = view_of(l);
    pthread_mutex_lock(&buffers);
    const int code = gsl_linalg_cholesky_invert(&view.matrix);
    pthread_mutex_unlock(&buffers);
    return code == GSL_SUCCESS;
}

void triangle_invert(const struct triangle *l)
{
    gsl_matrix_view view = view_of(l);
    pthread_mutex_lock(&buffers);
    gsl_linalg_tri_invert(CblasLower, CblasNonUnit, &view.matrix);
    pthread_mutex_unlock(&buffers);
}

static void solve(const struct triangle *l, CBLAS_TRANSPOSE_t transposed,
                  double v[])
{
    pthread_mutex_lock(&buffers);
    cblas_dtrsv(CblasRowMajor, CblasLower, transposed, CblasNonUnit, (int)l->n,
                l->rows, (int)l->stride, v, 1);
    pthread_mutex_unlock(&buffers);
}

void triangle_solve(const struct triangle *l, double v[])
{
    solve(l, CblasNoTrans, v);
}

void triangle_solve_transposed(const struct triangle *l, double v[])
{
    solve(l, CblasTrans, v);
}

void triangle_solve_rows(const struct triangle *l, size_t m, double rows[])
{
    pthread_mutex_lock(&buffers);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                (int)m, (int)l->n, 1.0, l->rows, (int)l->stride, rows,
                (int)l->n);
    pthread_mutex_unlock(&buffers);
}
