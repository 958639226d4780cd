/* test_ws.c - frames of a WebSocket: all lengths, cut anywhere, and the hostile
 * ones. */

#include <stdlib.h>

#include "runner/kubernetes/ws.h"
#include "tests/check.h"

/* What a reader gave for some bytes. */
struct heard {
    struct text data; /* of messages, "|" after each that ended */
    struct text pings;
    const char *broken; /* NULL: it is not */
    int closes;
};

static void take_part(struct heard *heard, const struct ws_part *part)
{
    switch (part->got) {
    case WS_DATA:
        if (part->begins)
            text_puts(&heard->data, "<");
        if (part->n > 0)
            text_append(&heard->data, part->bytes, part->n);
        if (part->ends)
            text_puts(&heard->data, "|");
        break;
    case WS_PINGED:
        text_append(&heard->pings, part->bytes, part->n);
        break;
    case WS_CLOSED:
        heard->closes++;
        break;
    case WS_BROKEN:
        heard->broken = part->bytes;
        break;
    case WS_NOTHING:
        break;
    }
}

/* In pieces of so many bytes. */
static struct heard hear(const char *bytes, size_t len, size_t piece)
{
    struct ws_reader reader = {.n_head = 0};
    struct heard heard = {.broken = NULL};
    for (size_t at = 0; at < len && heard.broken == NULL; at += piece) {
        const size_t n = len - at < piece ? len - at : piece;
        struct ws_part part;
        size_t used, from = 0;
        do {
            ws_read(&reader, bytes + at + from, n - from, &used, &part);
            from += used;
            take_part(&heard, &part);
        } while (part.got != WS_NOTHING && part.got != WS_BROKEN);
        CHECK(heard.broken != NULL || from == n);
    }
    return heard;
}

static void forget(struct heard *heard)
{
    text_free(&heard->data);
    text_free(&heard->pings);
}

static void messages_are_the_same_wherever_they_are_cut(void)
{
    static const char bytes[] = "\x82\x03"
                                "abc" /* whole */
                                "\x02\x01"
                                "d" /* begins one */
                                "\x89\x02"
                                "hi"       /* a ping in between */
                                "\x00\x00" /* nothing more of it yet */
                                "\x8a\x00" /* a pong that was not asked for */
                                "\x80\x02"
                                "ef"
                                "\x82\x00" /* an empty one */
                                "\x88\x02\x03\xe8";
    for (size_t piece = 1; piece < sizeof bytes; piece++) {
        struct heard heard = hear(bytes, sizeof bytes - 1, piece);
        CHECK_TEXT(heard.data.data, "<abc|<def|<|");
        CHECK_TEXT(heard.pings.data, "hi");
        CHECK(heard.closes == 1 && heard.broken == NULL);
        forget(&heard);
    }
}

/* The answer of a server, as which a client's frame without its mask counts. */
static void unmask(struct text *frame)
{
    unsigned char *bytes = (unsigned char *)frame->data;
    const unsigned length = bytes[1] & 0x7f;
    const size_t head = length == 127 ? 10 : length == 126 ? 4 : 2;
    CHECK((bytes[1] & 0x80) != 0);
    for (size_t i = head + 4; i < frame->len; i++)
        bytes[i] ^= bytes[head + (i - head - 4) % 4];
    bytes[1] &= 0x7f;
    memmove(bytes + head, bytes + head + 4, frame->len - head - 4);
    frame->len -= 4;
}

static void what_is_written_can_be_read_at_each_length(void)
{
    static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t len = lengths[i];
        char *bytes = malloc(len + 1);
        for (size_t j = 0; j < len; j++)
            bytes[j] = (char)('a' + j % 23);
        struct text frame = {0};
        ws_write(&frame, WS_BINARY, bytes, len);
        unmask(&frame);
        struct heard heard = hear(frame.data, frame.len, 4096);
        CHECK(heard.broken == NULL && heard.data.len == len + 2);
        CHECK(memcmp(heard.data.data + 1, bytes, len) == 0);
        forget(&heard);
        text_free(&frame);
        free(bytes);
    }
}

static void masks_differ_from_frame_to_frame(void)
{
    struct text a = {0}, b = {0};
    ws_write(&a, WS_BINARY, "same words", 10);
    ws_write(&b, WS_BINARY, "same words", 10);
    CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) != 0);
    text_free(&a);
    text_free(&b);
}

static const struct {
    const char *bytes;
    size_t len;
    const char *why;
} hostile[] = {
    {"\xc2\x01", 2, "a frame has reserved bits"},
    {"\xa2\x01", 2, "a frame has reserved bits"},
    {"\x92\x01", 2, "a frame has reserved bits"},
    {"\x82\x81", 2, "a frame of the server is masked"},
    {"\x82\x7e\x00\x7d", 4, "a frame's length is longer than it must be"},
    {"\x82\x7f\0\0\0\0\0\0\xff\xff", 10,
     "a frame's length is longer than it must be"},
    {"\x82\x7f\0\0\0\0\x02\0\0\x01", 10, "a frame is too long"},
    {"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10, "a frame is too long"},
    {"\x89\x7e\x00\x7e", 4, "a control frame is too long or in pieces"},
    {"\x08\x00", 2, "a control frame is too long or in pieces"},
    {"\x81\x01", 2, "a frame is of a kind that is not known"},
    {"\x83\x01", 2, "a frame is of a kind that is not known"},
    {"\x8b\x00", 2, "a frame is of a kind that is not known"},
    {"\x80\x01", 2, "a message begins or continues out of turn"},
    {"\x02\x00\x82\x00", 4, "a message begins or continues out of turn"},
};

static void refuses(size_t i, size_t piece)
{
    struct heard heard = hear(hostile[i].bytes, hostile[i].len, piece);
    CHECK_TEXT(heard.broken, hostile[i].why);
    forget(&heard);
}

static void hostile_frames_are_refused_before_their_bytes(void)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        refuses(i, 1);
        refuses(i, 16);
    }
}

static void a_broken_stream_stays_broken(void)
{
    struct ws_reader reader = {.n_head = 0};
    struct ws_part part;
    size_t used;
    ws_read(&reader, "\x82\x81", 2, &used, &part);
    CHECK(part.got == WS_BROKEN && used == 2);
    ws_read(&reader, "\x82\x00", 2, &used, &part);
    CHECK(part.got == WS_BROKEN);
}

/* Any bytes end in some way, and nothing reads beyond them. */
static void noise_does_no_harm(void)
{
    unsigned state = 1;
    for (int round = 0; round < 20000; round++) {
        char *bytes = malloc(64);
        for (size_t i = 0; i < 64; i++) {
            state = state * 1103515245 + 12345;
            bytes[i] = (char)(state >> 16);
        }
        if (round % 2 == 0)
            bytes[0] = (char)0x82;
        struct heard heard = hear(bytes, 64, 1 + (size_t)round % 64);
        CHECK(heard.data.len <= 192);
        forget(&heard);
        free(bytes);
    }
}

int main(void)
{
    RUN(messages_are_the_same_wherever_they_are_cut);
    RUN(what_is_written_can_be_read_at_each_length);
    RUN(masks_differ_from_frame_to_frame);
    RUN(hostile_frames_are_refused_before_their_bytes);
    RUN(a_broken_stream_stays_broken);
    RUN(noise_does_no_harm);
    return check_done();
}
