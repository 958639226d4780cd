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

/* The text is in the bytes that were read, and has no NUL. */
struct event_scalar {
    const char *tag;
    size_t tag_len;
    int64_t step;
    double wall_s; /* since 1970 */
    double value;  /* may be NaN or infinite */
};
typedef void event_take(void *context, const struct event_scalar *scalar);

enum { EVENT_RECORD_BYTES = 8 * 1024 * 1024 }; /* longer ones are no scalars */

/* Gives the scalars of all whole records at the beginning of the bytes. *used:
 * length of these records; what follows is the beginning of one. *skip: of that
 * one, if it has more than EVENT_RECORD_BYTES, its whole length, else 0.
 * HT_CORRUPT  what follows is no record: a sum over it is wrong */
enum ht_status event_file_read(const char *bytes, size_t len, event_take *take,
                               void *context, size_t *used, uint64_t *skip,
                               struct ht_error *err);

#endif
