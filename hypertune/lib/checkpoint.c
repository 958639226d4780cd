/* checkpoint.c - hypertune_checkpoint(): what a trainer says to be whole, in
 * the trial's checkpoints.jsonl, from where its runner takes it. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/report_file.h"
#include "hypertune/lib/report_record.h"
#include "hypertune/lib/reporter.h"

/* The part of the path below the folder; NULL with errno when it is elsewhere,
 * or one of them does not exist. */
static const char *find_below(const char *folder, const char *path,
                              char real[PATH_MAX])
{
    char top[PATH_MAX];
    if (realpath(folder, top) == NULL || realpath(path, real) == NULL)
        return NULL;
    const size_t len = strlen(top);
    if (strncmp(real, top, len) == 0 && real[len] == '\0')
        return ".";
    if (strncmp(real, top, len) == 0 && real[len] == '/')
        return real + len + 1;
    errno = EINVAL;
    return NULL;
}

static int note(const char *trial, const char *below, int64_t step)
{
    char line[RECORD_LINE_BYTES], path[PATH_MAX];
    struct timespec now;
    struct report_file file;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    const int len = report_record_format_checkpoint(now_ms, step, below, line);
    if (len < 0)
        return -len;
    if (snprintf(path, sizeof path, "%s/checkpoints.jsonl", trial) >=
        (int)sizeof path)
        return ENAMETOOLONG;
    report_file_init(&file, path);
    const int rc = report_file_append(&file, line, (size_t)len);
    report_file_close(&file);
    return rc;
}

int hypertune_checkpoint(const char *path, int64_t step)
{
    const char *trial = reporter_trial_folder();
    const char *folder = getenv("AIP_CHECKPOINT_DIR");
    char real[PATH_MAX];
    if (trial == NULL || folder == NULL || *folder == '\0')
        return 0;
    if (strstr(folder, "://") != NULL)
        return 0; /* a bucket: all runners have it */
    const char *below = find_below(folder, path != NULL ? path : folder, real);
    return below != NULL ? note(trial, below, step) : errno;
}
