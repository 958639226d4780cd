/* spark.h - small curves, bars and histories of block characters within a line.
 */
#ifndef HT_HYPERTUNE_CLI_FRAME_SPARK_H
#define HT_HYPERTUNE_CLI_FRAME_SPARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

/* Appends a curve in 7 levels from its lowest to its highest value. */
void spark_curve(const double values[], size_t n, struct text *out);
/* Appends `width` columns that show how the best of n objectives grew between
 * its first and its newest value. False, with nothing appended, when there are
 * fewer than two finite ones. */
bool spark_history(const double values[], size_t n, bool maximize, size_t width,
                   struct text *out);
/* Appends a bar of `width` columns with the part done/all filled. */
void spark_bar(int64_t done, int64_t all, size_t width, struct text *out);

#endif
