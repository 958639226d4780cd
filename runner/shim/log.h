/* log.h - one stream's log in bounded space: its head and its tail.
 *
 * Segments of HT_LOG_SEGMENT bytes are named by the offset of their first
 * byte; the first half of HT_LOG_SEGMENTS stays, the others are the newest. A
 * full disk loses bytes but does not stop the trainer: offsets continue, and
 * lost bytes are read as NUL. */
#ifndef HT_RUNNER_SHIM_LOG_H
#define HT_RUNNER_SHIM_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

struct shim_log {
    int folder;         /* borrowed descriptor of the replica's folder */
    const char *stream; /* "stdout" or "stderr" */
    int fd;             /* the newest segment, -1 when it could not be opened */
    int64_t offset;     /* of the next byte in the whole stream */
    int64_t segment;    /* offset of the newest segment's first byte */
};

/* Starts an empty stream with its first segment.
 * HT_IO  the segment cannot be created */
enum ht_status shim_log_open(struct shim_log *log, int folder,
                             const char *stream, struct ht_error *err);
/* Continues a stream behind its last byte, or starts it. Only for a folder that
 * no trial can write into.
 * HT_IO  the segment cannot be opened */
enum ht_status shim_log_resume(struct shim_log *log, int folder,
                               const char *stream, struct ht_error *err);
/* Never fails, see above; blocks while the disk does. */
void shim_log_append(struct shim_log *log, const char *bytes, size_t len);
/* Syncs the newest segment (older ones were when they filled up). */
void shim_log_close(struct shim_log *log);

#endif
