/* ws.c - nothing here trusts the server: each length has a bound. */
#include "runner/kubernetes/ws.h"

#include <string.h>

#include "proto/base/token.h"

enum {
    FIN = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    LENGTH = 0x7f,
    LENGTH_16 = 126, /* two bytes with the length follow */
    LENGTH_64 = 127, /* eight */
    MASK_BYTES = 4
};

/* ---- reading ---- */

static size_t head_size(const struct ws_reader *reader)
{
    if (reader->n_head < 2)
        return 2;
    switch (reader->head[1] & LENGTH) {
    case LENGTH_16:
        return 4;
    case LENGTH_64:
        return 10;
    default:
        return 2;
    }
}

static uint64_t length_of(const struct ws_reader *reader)
{
    const size_t size = head_size(reader);
    uint64_t length = 0;
    for (size_t i = 2; i < size; i++)
        length = length << 8 | reader->head[i];
    return size > 2 ? length : reader->head[1] & LENGTH;
}

static bool is_control(const struct ws_reader *reader)
{
    return (reader->head[0] & 8) != 0;
}

static bool is_last(const struct ws_reader *reader)
{
    return (reader->head[0] & FIN) != 0;
}

/* Why a head is none; NULL: it is one. */
static const char *find_fault(const struct ws_reader *reader)
{
    const uint64_t length = length_of(reader);
    const size_t size = head_size(reader);
    const int opcode = reader->head[0] & OPCODE;
    if ((reader->head[0] & RESERVED) != 0)
        return "a frame has reserved bits";
    if ((reader->head[1] & MASKED) != 0)
        return "a frame of the server is masked";
    if ((size == 4 && length < LENGTH_16) || (size == 10 && length <= 0xffff))
        return "a frame's length is longer than it must be";
    if (length > WS_MOST)
        return "a frame is too long";
    if (opcode == WS_CLOSE || opcode == WS_PING || opcode == WS_PONG)
        return length > WS_CONTROL || !is_last(reader)
                   ? "a control frame is too long or in pieces"
                   : NULL;
    if (opcode != WS_MORE && opcode != WS_BINARY)
        return "a frame is of a kind that is not known";
    if ((opcode == WS_MORE) != reader->in_message)
        return "a message begins or continues out of turn";
    return NULL;
}

/* Takes bytes of the head; true: it is complete. */
static bool take_head(struct ws_reader *reader, const char *bytes, size_t len,
                      size_t *used)
{
    while (reader->n_head < head_size(reader)) {
        if (*used == len)
            return false;
        reader->head[reader->n_head++] = (unsigned char)bytes[(*used)++];
    }
    return true;
}

static void begin_frame(struct ws_reader *reader)
{
    reader->has_head = true;
    reader->left = length_of(reader);
    if (is_control(reader)) {
        reader->n_control = 0;
    } else {
        reader->is_first = reader->is_first || !reader->in_message;
        reader->in_message = !is_last(reader);
    }
}

static void end_frame(struct ws_reader *reader)
{
    reader->has_head = false;
    reader->n_head = 0;
}

/* Bytes of a message as they are in the input. */
static void give_data(struct ws_reader *reader, const char *bytes, size_t n,
                      struct ws_part *part)
{
    reader->left -= n;
    *part = (struct ws_part){.got = WS_DATA,
                             .bytes = bytes,
                             .n = n,
                             .begins = reader->is_first,
                             .ends = reader->left == 0 && is_last(reader)};
    reader->is_first = false;
    if (reader->left == 0)
        end_frame(reader);
}

/* True: the part is one that the caller must see. */
static bool give_control(struct ws_reader *reader, const char *bytes, size_t n,
                         struct ws_part *part)
{
    const int opcode = reader->head[0] & OPCODE;
    memcpy(reader->control + reader->n_control, bytes, n);
    reader->n_control += n;
    reader->left -= n;
    if (reader->left > 0)
        return false;
    end_frame(reader);
    *part = (struct ws_part){.got = opcode == WS_PING ? WS_PINGED : WS_CLOSED,
                             .bytes = reader->control,
                             .n = reader->n_control};
    return opcode != WS_PONG;
}

void ws_read(struct ws_reader *reader, const char *bytes, size_t len,
             size_t *used, struct ws_part *part)
{
    *used = 0;
    *part = (struct ws_part){.got = WS_NOTHING};
    for (;;) {
        if (!reader->has_head) {
            if (!take_head(reader, bytes, len, used))
                return;
            const char *fault = find_fault(reader);
            if (fault != NULL) {
                /* The head stays, so that it is broken the next time, too. */
                *part = (struct ws_part){.got = WS_BROKEN, .bytes = fault};
                return;
            }
            begin_frame(reader);
        }
        const size_t there = len - *used;
        const size_t n = there < reader->left ? there : (size_t)reader->left;
        if (n == 0 && reader->left > 0)
            return;
        const char *at = bytes + *used;
        *used += n;
        if (!is_control(reader)) {
            give_data(reader, at, n, part);
            return;
        }
        if (give_control(reader, at, n, part))
            return;
        *part = (struct ws_part){.got = WS_NOTHING};
    }
}

/* ---- writing ---- */

static void put_head(struct text *out, enum ws_opcode opcode, size_t len)
{
    unsigned char head[10] = {(unsigned char)(FIN | (unsigned)opcode)};
    size_t size = 2;
    if (len < LENGTH_16) {
        head[1] = (unsigned char)len;
    } else {
        size = len <= 0xffff ? 4 : 10;
        head[1] = size == 4 ? LENGTH_16 : LENGTH_64;
        for (size_t i = size - 1, rest = len; i >= 2; i--, rest >>= 8)
            head[i] = (unsigned char)rest;
    }
    head[1] |= MASKED;
    text_append(out, (const char *)head, size);
}

void ws_write(struct text *out, enum ws_opcode opcode, const char *bytes,
              size_t len)
{
    /* Of the kernel, as RFC 6455, 10.3 wants it: no one who chooses the bytes
     * knows what is on the wire. */
    const uint64_t random = token_random64();
    char mask[MASK_BYTES];
    memcpy(mask, &random, sizeof mask);
    put_head(out, opcode, len);
    text_append(out, mask, sizeof mask);
    const size_t from = out->len;
    if (len > 0)
        text_append(out, bytes, len);
    for (size_t i = 0; i < len; i++)
        out->data[from + i] = (char)(out->data[from + i] ^ mask[i % 4]);
}
