/* usage_file.h - what a shim has measured of its trainer, read again whenever
 * the file was replaced. */
#ifndef HT_RUNNER_REPORTS_USAGE_FILE_H
#define HT_RUNNER_REPORTS_USAGE_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "proto/job/usage.h"

struct usage_file {     /* zeroed but for the folder */
    const char *folder; /* of the replica; borrowed */
    ino_t inode;        /* of the file that was taken last */
    struct timespec written;
};

/* The series, when there is a new one. Afterwards it is not new any more, also
 * when it cannot be used. */
bool usage_file_take(struct usage_file *file, struct usage *usage);

#endif
