/* bench_trial REPORTS FILE - a trainer that reports as fast as it can, then
 * waits until all is confirmed, and writes both durations. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hypertune/hypertune.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char *argv[])
{
    if (argc < 3)
        return 2;
    const long reports = strtol(argv[1], NULL, 10);
    const double start = now_s();
    for (long i = 1; i <= reports; i++) {
        if (report_hyperparameter_tuning_metric("accuracy", 1.0 / (double)i, i,
                                                NULL) != 0)
            return 3;
    }
    const double called = now_s();
    if (hypertune_flush(60000) != 0)
        return 4;
    const double confirmed = now_s();
    FILE *file = fopen(argv[2], "w");
    if (file == NULL)
        return 5;
    fprintf(file, "%f %f\n", called - start, confirmed - start);
    return fclose(file) != 0;
}
