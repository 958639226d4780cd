#include "hypertune/cli/frame/spark.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

enum { LEVELS = 7, STEPS = 4 };

/* The text of a column at each height. */
struct palette {
    const char *curve[LEVELS];
    const char *history[STEPS + 1];
};

static const struct palette ascii = {{"_", ".", "-", "=", "+", "*", "#"},
                                     {"_", ".", "-", "'", "'"}};
static const struct palette blocks = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇"},
                                      {"▁", "▃", "▅", "▆", "█"}};

static const struct palette *palette(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &blocks : &ascii;
}

void spark_curve(const double values[], size_t n, struct text *out)
{
    const struct palette *shown = palette();
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t i = 0; i < n; i++) {
        double height = high > low ? (values[i] - low) / (high - low) : 0.5;
        size_t level =
            isfinite(height) ? (size_t)(height * (LEVELS - 1) + 0.5) : 0;
        text_puts(out, isfinite(values[i]) ? shown->curve[level] : "?");
    }
}

/* The best of two objectives, either of which may be missing (NaN). */
static double better(double a, double b, bool maximize)
{
    return maximize ? fmax(a, b) : fmin(a, b);
}

bool spark_history(const double values[], size_t n, bool maximize, size_t width,
                   struct text *out)
{
    const struct palette *shown = palette();
    double first = NAN, last = NAN, best = NAN;
    size_t finite = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        finite++;
        first = isnan(first) ? values[i] : first;
        last = better(last, values[i], maximize);
    }
    if (finite < 2)
        return false;
    text_printf(out, "%.3g |", first);
    for (size_t column = 0; column < width; column++) {
        for (; at < (column + 1) * n / width; at++) {
            if (isfinite(values[at]))
                best = better(best, values[at], maximize);
        }
        double low = fmin(first, last), span = fabs(last - first);
        double height = span > 0 ? (best - low) / span : 1;
        text_puts(out,
                  isnan(best) ? " " : shown->history[(size_t)(height * STEPS)]);
    }
    text_printf(out, "| %.3g", last);
    return true;
}

void spark_bar(int64_t done, int64_t all, size_t width, struct text *out)
{
    size_t filled = 0;
    if (all > 0 && done > 0)
        filled = (size_t)((double)(done < all ? done : all) / (double)all *
                          (double)width);
    for (size_t i = 0; i < width; i++)
        text_puts(out, i < filled ? "#" : ".");
}
