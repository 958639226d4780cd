/* disk_usage.h - how much of the disk a folder takes that others write to. */
#ifndef HT_RUNNER_BASE_DISK_USAGE_H
#define HT_RUNNER_BASE_DISK_USAGE_H

#include <stdint.h>

/* Bytes of disk of the files below, links not followed. Counting ends early,
 * with what was found, when it is more than `enough`; a tree of very many files
 * or levels counts as that, too. */
int64_t disk_usage_of_folder(const char *path, int64_t enough);

#endif
