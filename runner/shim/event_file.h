/* event_file.h - scalars in the event files of TensorBoard: records of TFRecord
 * with a message tensorflow.Event each.
 *
 * Pure. Read without a library of protocol buffers, of which a static shim
 * would carry a megabyte for five fields. */
#ifndef HT_RUNNER_SHIM_EVENT_FILE_H
#define HT_RUNNER_SHIM_EVENT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

/* The tag is in the bytes that were read, may be any bytes, and is not
 * NUL-terminated. */
struct event_scalar {
    const char *tag;
    size_t tag_len;
    int64_t step;
    double wall_s; /* since 1970 */
    double value;  /* may be NaN or infinite */
};
typedef void event_take(void *context, const struct event_scalar *scalar);

enum {
    EVENT_RECORD_BYTES = 8 * 1024 * 1024, /* longer ones are no scalars */
    EVENT_RECORD_WHOLE = EVENT_RECORD_BYTES + 16 /* with length and sums */
};

/* Gives the scalars of all whole records at the beginning of the bytes. *used:
 * length of these records; what follows is the beginning of one. Records of
 * more than EVENT_RECORD_BYTES are passed over, the last one before all of it
 * is there: then *used is more than `len`.
 * HT_CORRUPT  what follows is no record: a sum over it is wrong */
enum ht_status event_file_read(const char *bytes, size_t len, event_take *take,
                               void *context, uint64_t *used,
                               struct ht_error *err);

#endif
