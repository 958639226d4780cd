#include "tests/lib/event_writer.h"

#include <string.h>

uint32_t event_writer_sum(const char *bytes, size_t len)
{
    uint32_t crc = ~0U;
    for (size_t i = 0; i < len * 8; i++) {
        const uint32_t bit = (unsigned char)bytes[i / 8] >> i % 8 & 1;
        crc = (crc ^ bit) & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

void event_writer_record(struct text *out, const struct text *event)
{
    const uint64_t len = event->len;
    const uint32_t head = event_writer_sum((const char *)&len, 8);
    const uint32_t foot = event_writer_sum(event->data, event->len);
    text_append(out, (const char *)&len, 8);
    text_append(out, (const char *)&head, 4);
    text_append(out, event->data, event->len);
    text_append(out, (const char *)&foot, 4);
}

static void put_byte(struct text *out, size_t byte)
{
    const char c = (char)byte;
    text_append(out, &c, 1);
}

void event_writer_scalar(struct text *out, const char *tag, int step,
                         float value)
{
    struct text event = {0};
    const double at = 1.5;
    const size_t len = strlen(tag);
    put_byte(&event, 1 << 3 | 1);
    text_append(&event, (const char *)&at, 8);
    put_byte(&event, 2 << 3);
    put_byte(&event, (size_t)step);
    put_byte(&event, 5 << 3 | 2);
    put_byte(&event, len + 9);
    put_byte(&event, 1 << 3 | 2);
    put_byte(&event, len + 7);
    put_byte(&event, 1 << 3 | 2);
    put_byte(&event, len);
    text_append(&event, tag, len);
    put_byte(&event, 2 << 3 | 5);
    text_append(&event, (const char *)&value, 4);
    event_writer_record(out, &event);
    text_free(&event);
}
