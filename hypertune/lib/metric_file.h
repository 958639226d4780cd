/* metric_file.h - the metric file of cloudml-hypertune, by its own rules.
 *
 * For trials that Google's services, or readers made for them, watch. The last
 * 100 reports, one JSON object a line with sorted keys; every report writes
 * the whole file anew (cloudml-hypertune 0.1.0). One thread at a time. */
#ifndef HT_HYPERTUNE_LIB_METRIC_FILE_H
#define HT_HYPERTUNE_LIB_METRIC_FILE_H

#include <stdint.h>

struct metric_file;

/* Both texts are borrowed; NULL when memory runs out. */
struct metric_file *metric_file_new(const char *path, const char *trial);

/* Adds a report and writes the file, making its folder when missing. Returns 0
 * or an errno: ENOMEM, or what the file system said. */
int metric_file_report(struct metric_file *file, const char *tag, double value,
                       int64_t step, const char *checkpoint);

/* The text of Python's str(float): 0.1, 3.0, 1e-07, nan, inf. */
enum { METRIC_FILE_DOUBLE_BYTES = 40 };
void metric_file_double(char text[METRIC_FILE_DOUBLE_BYTES], double value);

#endif
