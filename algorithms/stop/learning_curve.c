#include "algorithms/stop/learning_curve.h"

#include <math.h>

#include "algorithms/base/order.h"
#include "algorithms/stop/stop_study.h"

/* Point i; false when the goal was not reported there. */
static bool reported(const struct learning_curve *curve, size_t i,
                     double *value)
{
    *value = curve->of->points[i].values[curve->goal];
    return isfinite(*value) != 0;
}

size_t learning_curve_count(const struct learning_curve *curve, double at)
{
    size_t n = 0;
    double value;
    for (size_t i = 0; i < curve->of->n && curve->of->points[i].at <= at; i++)
        n += reported(curve, i, &value);
    return n;
}

bool learning_curve_best(const struct learning_curve *curve, double at,
                         double *best)
{
    bool found = false;
    double value, most = 0;
    for (size_t i = 0; i < curve->of->n && curve->of->points[i].at <= at; i++) {
        if (!reported(curve, i, &value) || (found && value <= most))
            continue;
        most = value;
        found = true;
    }
    if (found)
        *best = most;
    return found;
}

bool learning_curve_mean(const struct learning_curve *curve, double at,
                         double *mean)
{
    double value, sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < curve->of->n && curve->of->points[i].at <= at; i++) {
        if (!reported(curve, i, &value))
            continue;
        sum += value;
        n++;
    }
    if (n > 0)
        *mean = sum / (double)n;
    return n > 0;
}

bool learning_curve_value(const struct learning_curve *curve, double at,
                          double *value)
{
    const struct stop_point *points = curve->of->points;
    double before = 0, next;
    size_t from = 0;
    bool found = false;
    for (size_t i = 0; i < curve->of->n; i++) {
        if (!reported(curve, i, &next))
            continue;
        if (points[i].at > at && found) {
            const double share =
                (at - points[from].at) / (points[i].at - points[from].at);
            *value = before + share * (next - before);
            return true;
        }
        before = next;
        from = i;
        found = true;
        if (points[i].at >= at)
            break;
    }
    if (found)
        *value = before;
    return found;
}

bool learning_curve_end(const struct learning_curve *curve, double *at)
{
    double value;
    for (size_t i = curve->of->n; i > 0; i--)
        if (reported(curve, i - 1, &value)) {
            *at = curve->of->points[i - 1].at;
            return true;
        }
    return false;
}

double learning_curve_median(size_t n, double values[])
{
    order_numbers(n, values);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
