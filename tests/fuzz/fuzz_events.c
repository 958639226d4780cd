/* Any bytes as an event file of TensorBoard, whole and in two pieces: scalars
 * are within the bytes, and the same either way. Then again with right sums, so
 * that messages are reached, too.
 *
 * fuzz-with: runner */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/crc32c.h"
#include "proto/base/text.h"
#include "runner/shim/event_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
    const char *bytes;
    size_t len;
    struct text said;
};

static void note(void *context, const struct event_scalar *scalar)
{
    struct reading *reading = context;
    if (scalar->tag < reading->bytes || scalar->tag_len == 0 ||
        scalar->tag + scalar->tag_len > reading->bytes + reading->len)
        abort();
    text_append(&reading->said, scalar->tag, scalar->tag_len);
    text_printf(&reading->said, "@%lld=%a/%a ", (long long)scalar->step,
                scalar->value, scalar->wall_s);
}

/* Reads an exact copy; the length of what was used. */
static uint64_t read_bytes(struct reading *reading, const char *bytes,
                           size_t len, enum ht_status *status)
{
    uint64_t used;
    struct ht_error err;
    char *copy = malloc(len > 0 ? len : 1);
    memcpy(copy, bytes, len);
    reading->bytes = copy;
    reading->len = len;
    *status = event_file_read(copy, len, note, reading, &used, &err);
    if (used > len && used <= EVENT_RECORD_BYTES)
        abort();
    free(copy);
    return used;
}

static void read_both_ways(const char *bytes, size_t len, size_t first)
{
    struct reading whole = {0}, pieces = {0};
    enum ht_status status, later;
    const uint64_t used = read_bytes(&whole, bytes, len, &status);
    uint64_t at = read_bytes(&pieces, bytes, first, &later);
    if (later == HT_OK && at < len)
        at += read_bytes(&pieces, bytes + at, len - at, &later);
    if (at != used || later != status || whole.said.len != pieces.said.len ||
        (whole.said.len > 0 &&
         memcmp(whole.said.data, pieces.said.data, whole.said.len) != 0))
        abort();
    text_free(&whole.said);
    text_free(&pieces.said);
}

static void put_sum(char *at, const char *bytes, size_t len)
{
    const uint32_t crc = crc32c(0, bytes, len);
    const uint32_t sum = (crc >> 15 | crc << 17) + 0xa282ead8U;
    memcpy(at, &sum, sizeof sum);
}

/* Each two bytes are the length of the record that begins there. */
static void repair(char *bytes, size_t len)
{
    for (size_t at = 0; at + 16 <= len;) {
        uint16_t size;
        memcpy(&size, bytes + at, sizeof size);
        memset(bytes + at + 2, 0, 6);
        put_sum(bytes + at + 8, bytes + at, 8);
        if (at + 16 + size > len)
            return;
        put_sum(bytes + at + 12 + size, bytes + at + 12, size);
        at += (size_t)16 + size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t len = size - 1, first = len * data[0] / 256;
    char *bytes = malloc(len > 0 ? len : 1);
    memcpy(bytes, data + 1, len);
    read_both_ways(bytes, len, first);
    repair(bytes, len);
    read_both_ways(bytes, len, first);
    free(bytes);
    return 0;
}
