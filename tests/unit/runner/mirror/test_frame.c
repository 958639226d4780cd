/* runner/mirror/frame.h: a frame is read as it was written, in any pieces, and
 * what is none is refused. */
#include "runner/mirror/frame.h"

#include <string.h>

#include "tests/check.h"

static const struct frame sample = {.kind = FRAME_FILE,
                                    .mode = 0640,
                                    .number = UINT64_MAX - 2,
                                    .path = "1/2/3/worker-0/params",
                                    .data = "a\0b\n",
                                    .len = 4};

static bool is_sample(const struct frame *frame)
{
    return frame->kind == sample.kind && frame->mode == sample.mode &&
           frame->number == sample.number &&
           strcmp(frame->path, sample.path) == 0 && frame->len == sample.len &&
           memcmp(frame->data, sample.data, sample.len) == 0 &&
           frame->data[frame->len] == '\0';
}

static void a_frame_is_read_as_it_was_written(void)
{
    struct text out = {0};
    struct frame frame;
    size_t used = 0;
    frame_write(&out, &sample);
    const size_t first = out.len;
    frame_write(&out, &(struct frame){.kind = FRAME_LOOKED});
    CHECK(frame_read(out.data, out.len, &frame, &used, NULL) == HT_OK);
    CHECK(used == first && is_sample(&frame));
    CHECK(frame_read(out.data + used, out.len - used, &frame, &used, NULL) ==
          HT_OK);
    CHECK(frame.kind == FRAME_LOOKED && frame.len == 0 &&
          frame.path[0] == '\0' && used == out.len - first);
    text_free(&out);
}

static void a_part_of_a_frame_is_waited_for(void)
{
    struct text out = {0};
    struct frame frame;
    size_t used = 0;
    frame_write(&out, &sample);
    for (size_t len = 0; len < out.len; len++)
        CHECK(frame_read(out.data, len, &frame, &used, NULL) == HT_NOT_FOUND);
    text_free(&out);
}

static void the_largest_frame_is_read(void)
{
    static char data[FRAME_DATA], path[FRAME_PATH + 1];
    struct text out = {0};
    struct frame frame;
    size_t used = 0;
    memset(path, 'p', FRAME_PATH);
    frame_write(&out, &(struct frame){.kind = FRAME_SOME,
                                      .path = path,
                                      .data = data,
                                      .len = FRAME_DATA});
    CHECK(out.len <= FRAME_MOST);
    CHECK(frame_read(out.data, out.len, &frame, &used, NULL) == HT_OK);
    CHECK(frame.len == FRAME_DATA && strlen(frame.path) == FRAME_PATH);
    text_free(&out);
}

/* Each byte that is not the data's, set to every value: nothing is read that
 * is not there, which the sanitizer sees. */
static void damaged_frames_are_refused_or_read_within_their_bytes(void)
{
    struct text out = {0};
    struct frame frame;
    size_t used = 0;
    frame_write(&out, &sample);
    for (size_t i = 0; i < out.len; i++) {
        const char byte = out.data[i];
        for (int value = 0; value < 256; value++) {
            out.data[i] = (char)value;
            if (frame_read(out.data, out.len, &frame, &used, NULL) != HT_OK)
                continue;
            CHECK(used <= out.len);
            CHECK(frame.path + strlen(frame.path) < out.data + out.len);
            CHECK(frame.data + frame.len < out.data + out.len);
        }
        out.data[i] = byte;
    }
    text_free(&out);
}

static void what_is_no_frame_is_corrupt(void)
{
    struct ht_error err;
    struct frame frame;
    size_t used = 0;
    struct text out = {0};
    CHECK(frame_read("\377\377\377\377", 4, &frame, &used, &err) == HT_CORRUPT);
    CHECK(frame_read("\1\0\0\0", 4, &frame, &used, &err) == HT_CORRUPT);
    frame_write(&out, &(struct frame){.kind = FRAME_LOOKED});
    out.data[4] = FRAME_KINDS;
    CHECK(frame_read(out.data, out.len, &frame, &used, &err) == HT_CORRUPT);
    text_free(&out);
}

int main(void)
{
    RUN(a_frame_is_read_as_it_was_written);
    RUN(a_part_of_a_frame_is_waited_for);
    RUN(the_largest_frame_is_read);
    RUN(damaged_frames_are_refused_or_read_within_their_bytes);
    RUN(what_is_no_frame_is_corrupt);
    return check_done();
}
