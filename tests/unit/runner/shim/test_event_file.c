/* runner/shim/event_file.h: scalars of TensorBoard's files, and of files that
 * are none. */
#include "runner/shim/event_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"
#include "tests/lib/event_writer.h"

static struct text said;
static struct ht_error err;
static uint64_t used;

static void note(void *context, const struct event_scalar *scalar)
{
    (void)context;
    text_printf(&said, "%.*s@%lld=%g ", (int)scalar->tag_len, scalar->tag,
                (long long)scalar->step, scalar->value);
}

static enum ht_status read_all(const struct text *file)
{
    text_clear(&said);
    return event_file_read(file->data, file->len, note, NULL, &used, &err);
}

/* ---- messages ---- */

static void put(struct text *out, const void *bytes, size_t len)
{
    text_append(out, bytes, len);
}

static void put_key(struct text *out, unsigned number, unsigned wire)
{
    const char key = (char)(number << 3 | wire);
    put(out, &key, 1);
}

static void put_bytes(struct text *out, unsigned number, const void *bytes,
                      size_t len)
{
    const char size = (char)len;
    put_key(out, number, 2);
    put(out, &size, 1);
    put(out, bytes, len);
}

static void put_number(struct text *out, unsigned number, char value)
{
    put_key(out, number, 0);
    put(out, &value, 1);
}

/* An event of step 7 whose summary has the one value. */
static void put_event(struct text *out, const struct text *value)
{
    struct text summary = {0}, event = {0};
    const double at = 1.5;
    put_bytes(&summary, 1, value->data, value->len);
    put_key(&event, 1, 1);
    put(&event, &at, 8);
    put_number(&event, 2, 7);
    put_bytes(&event, 5, summary.data, summary.len);
    event_writer_record(out, &event);
    text_free(&event);
    text_free(&summary);
}

/* A tensor whose value is in that field. */
static void put_tensor(struct text *out, char dtype, bool shaped,
                       unsigned number, const void *bytes, size_t len)
{
    struct text value = {0}, tensor = {0};
    put_bytes(&value, 1, "t", 1);
    put_number(&tensor, 1, dtype);
    put_bytes(&tensor, 2, "\x12\x02\x08\x01", shaped ? 4 : 0);
    put_bytes(&tensor, number, bytes, len);
    put_bytes(&value, 8, tensor.data, tensor.len);
    put_event(out, &value);
    text_free(&tensor);
    text_free(&value);
}

/* ---- cases ---- */

static void scalars_of_both_kinds_are_read(void)
{
    struct text file = {0};
    const float single = 0.5F;
    const double twice = 0.25;
    const int64_t many = -3;
    event_writer_scalar(&file, "loss", 7, 2);
    event_writer_scalar(&file, "acc", 7, NAN);
    put_tensor(&file, 1, false, 4, &single, 4);
    put_tensor(&file, 1, false, 5, &single, 4);
    put_tensor(&file, 2, false, 6, &twice, 8);
    put_tensor(&file, 3, false, 7, "\x05", 1);
    put_tensor(&file, 9, false, 10, "\x81\x01", 2);
    put_tensor(&file, 9, false, 4, &many, 8);
    CHECK(read_all(&file) == HT_OK && used == file.len);
    CHECK_TEXT(text_string(&said), "loss@7=2 acc@7=nan t@7=0.5 t@7=0.5 "
                                   "t@7=0.25 t@7=5 t@7=129 t@7=-3 ");
    text_free(&file);
}

static void what_is_no_scalar_is_left_out(void)
{
    struct text file = {0}, value = {0}, event = {0};
    const float two[] = {1, 2};
    put_tensor(&file, 1, true, 4, two, 4);
    put_tensor(&file, 1, false, 4, two, 8);
    put_tensor(&file, 7, false, 4, two, 4);
    put_tensor(&file, 1, false, 8, "text", 4);
    put_bytes(&value, 1, "only a tag", 10);
    put_event(&file, &value);
    put_bytes(&event, 3, "brain.Event:2", 13);
    event_writer_record(&file, &event);
    CHECK(read_all(&file) == HT_OK && used == file.len);
    CHECK_TEXT(text_string(&said), "");
    text_free(&event);
    text_free(&value);
    text_free(&file);
}

/* The first bytes of a file that TensorFlow wrote. */
static void sums_are_those_of_tensorflow(void)
{
    static const char head[] = "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22";
    const struct text file = {.data = (char *)(uintptr_t)head, .len = 12};
    CHECK(read_all(&file) == HT_OK && used == 0);
}

static void a_record_waits_until_it_is_whole(void)
{
    struct text file = {0}, part;
    event_writer_scalar(&file, "a", 7, 1);
    const size_t first = file.len;
    event_writer_scalar(&file, "b", 7, 2);
    for (size_t len = 0; len < file.len; len++) {
        part = (struct text){.data = file.data, .len = len};
        CHECK(read_all(&part) == HT_OK);
        CHECK(used == (len < first ? 0 : first));
    }
    text_free(&file);
}

static void damage_is_seen(void)
{
    struct text file = {0};
    event_writer_scalar(&file, "a", 7, 1);
    for (size_t i = 0; i < file.len; i++) {
        file.data[i] ^= 0x10;
        CHECK(read_all(&file) == HT_CORRUPT);
        CHECK_TEXT(text_string(&said), "");
        file.data[i] ^= 0x10;
    }
    text_free(&file);
}

static void long_records_are_passed_over(void)
{
    struct text file = {0};
    const uint64_t len = EVENT_RECORD_BYTES + 1, most = UINT64_MAX;
    uint32_t sum = event_writer_sum((const char *)&len, 8);
    put(&file, &len, 8);
    put(&file, &sum, 4);
    CHECK(read_all(&file) == HT_OK && used == len + 16);
    text_clear(&file);
    sum = event_writer_sum((const char *)&most, 8);
    put(&file, &most, 8);
    put(&file, &sum, 4);
    CHECK(read_all(&file) == HT_CORRUPT);
    text_free(&file);
}

/* With right sums, as a hostile trainer would write it. */
static void nonsense_in_a_record_ends_nothing(void)
{
    static const struct {
        const char *bytes;
        size_t len;
    } events[] = {{"\x2a", 1},
                  {"\x2a\x7f", 2},
                  {"\x2a\x02\x0a\x7f", 4},
                  {"\xff\xff\xff\xff\xff\xff", 6},
                  {"\x0b", 1},
                  {"\x2a\x04\x0a\x02\x42\x7f", 6}};
    struct text file = {0};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct text event = {0};
        put(&event, events[i].bytes, events[i].len);
        event_writer_record(&file, &event);
        text_free(&event);
    }
    event_writer_scalar(&file, "a", 7, 1);
    CHECK(read_all(&file) == HT_OK && used == file.len);
    CHECK_TEXT(text_string(&said), "a@7=1 ");
    text_free(&file);
}

int main(void)
{
    RUN(scalars_of_both_kinds_are_read);
    RUN(what_is_no_scalar_is_left_out);
    RUN(sums_are_those_of_tensorflow);
    RUN(a_record_waits_until_it_is_whole);
    RUN(damage_is_seen);
    RUN(long_records_are_passed_over);
    RUN(nonsense_in_a_record_ends_nothing);
    text_free(&said);
    return check_done();
}
