#include "runner/mirror/frame.h"

#include <assert.h>
#include <string.h>

/* The length of the rest, kind, mode, number, length of the path; then the
 * path, a NUL, the data, a NUL. Numbers begin with their lowest byte. */
enum { LENGTH = 4, KIND = 1, MODE = 4, NUMBER = 8, PATH = 2 };
enum { FIXED = KIND + MODE + NUMBER + PATH + 2 };

static void put(struct text *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(value >> (8 * i) & 0xff);
        text_append(out, &byte, 1);
    }
}

static uint64_t get(const char **at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)(*at)[i] << (8 * i);
    *at += bytes;
    return value;
}

void frame_write(struct text *out, const struct frame *frame)
{
    const char *path = frame->path != NULL ? frame->path : "";
    const size_t len = strlen(path);
    assert(len <= FRAME_PATH && frame->len <= FRAME_DATA);
    put(out, FIXED + len + frame->len, LENGTH);
    put(out, frame->kind, KIND);
    put(out, frame->mode, MODE);
    put(out, frame->number, NUMBER);
    put(out, len, PATH);
    text_append(out, path, len + 1);
    if (frame->len > 0)
        text_append(out, frame->data, frame->len);
    text_append(out, "", 1);
}

enum ht_status frame_read(const char *bytes, size_t len, struct frame *frame,
                          size_t *used, struct ht_error *err)
{
    const char *at = bytes;
    if (len < LENGTH)
        return HT_NOT_FOUND;
    const size_t rest = (size_t)get(&at, LENGTH);
    if (rest < FIXED || rest > FIXED + FRAME_PATH + FRAME_DATA)
        return ht_fail(err, HT_CORRUPT, "a frame of %zu bytes", rest);
    if (len < LENGTH + rest)
        return HT_NOT_FOUND;
    const uint64_t kind = get(&at, KIND);
    struct frame read = {.mode = (unsigned)get(&at, MODE),
                         .number = get(&at, NUMBER)};
    const size_t path = (size_t)get(&at, PATH);
    if (kind < FRAME_HELLO || kind >= FRAME_KINDS)
        return ht_fail(err, HT_CORRUPT, "a frame of kind %d", (int)kind);
    if (path > FRAME_PATH || path + FIXED > rest)
        return ht_fail(err, HT_CORRUPT, "a frame with a path too long");
    read.kind = (enum frame_kind)kind;
    read.path = at;
    read.data = at + path + 1;
    read.len = rest - FIXED - path;
    if (strnlen(at, path + 1) != path || read.data[read.len] != '\0' ||
        read.len > FRAME_DATA)
        return ht_fail(err, HT_CORRUPT, "a frame without its ends");
    *frame = read;
    *used = LENGTH + rest;
    return HT_OK;
}
