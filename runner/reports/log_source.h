/* log_source.h - a stream that a shim wrote in segments, read as one. */
#ifndef HT_RUNNER_REPORTS_LOG_SOURCE_H
#define HT_RUNNER_REPORTS_LOG_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/limits.h"

/* More than this is not what a shim that has ended left behind: a trial may
 * have made segments of its own, without end. */
enum { LOG_SOURCE_KEPT = (HT_LOG_SEGMENTS + 1) * HT_LOG_SEGMENT };

struct log_source {
    const char *folder; /* of the replica; borrowed */
    const char *stream; /* "stdout", "stderr", "runner" */
    int64_t offset;     /* of the next byte wanted */
};

/* Where the stream ends: behind the last byte of its newest segment. */
int64_t log_source_end(const struct log_source *source);

/* Copies up to `size` bytes from the offset on and moves it behind them. When
 * those bytes were dropped, the offset first moves to the next kept ones.
 * *at is the place of the first byte. Returns 0 when there are none yet. */
size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at);

#endif
