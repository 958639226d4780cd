#include "runner/reports/log_ship.h"

#include <stddef.h>

#include "proto/base/text.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    SMALL_BYTES = 32 * 1024, /* less than this waits for more */
    SMALL_WAIT_MS = 250
};

void log_ship_init(struct log_ship *ship, const struct order *order,
                   const char *folder, const char *stream,
                   const char *credentials)
{
    *ship = (struct log_ship){.source = {.folder = folder, .stream = stream},
                              .order = order,
                              .credentials = credentials};
}

void log_ship_fini(struct log_ship *ship)
{
    masked_secrets_fini(&ship->hidden);
}

/* Bytes at the end that may be the start of a longer UTF-8 sequence. */
static size_t count_unfinished(const char *bytes, size_t len)
{
    for (size_t n = 1; n <= 3 && n <= len; n++) {
        const unsigned char byte = (unsigned char)bytes[len - n];
        if ((byte & 0xc0) == 0x80)
            continue;
        /* The lead bytes of RFC 3629. */
        const size_t need = byte > 0xf4    ? 1
                            : byte >= 0xf0 ? 4
                            : byte >= 0xe0 ? 3
                            : byte >= 0xc2 ? 2
                                           : 1;
        return need > n ? n : 0;
    }
    return 0;
}

/* Fills the buffer across segments, up to where bytes were dropped. */
static size_t read_chunk(struct log_source source, char *buffer, int64_t *at,
                         bool *more)
{
    size_t len = log_source_read(&source, buffer, CHUNK_BYTES, at);
    *more = len == CHUNK_BYTES;
    while (len > 0 && len < CHUNK_BYTES) {
        int64_t next;
        const size_t n =
            log_source_read(&source, buffer + len, CHUNK_BYTES - len, &next);
        *more = n > 0;
        if (n == 0 || next != *at + (int64_t)len)
            break;
        len += n;
    }
    return len;
}

/* Our own reader of JSON takes no NUL, although it is valid UTF-8. */
static void append_clean(struct text *out, const char *bytes, size_t len)
{
    size_t start = 0;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != '\0')
            continue;
        text_clean(out, bytes + start, i - start);
        text_puts(out, "\xef\xbf\xbd");
        start = i + 1;
    }
    text_clean(out, bytes + start, len - start);
}

/* How much of a chunk can be sent: neither a character nor a secret is cut, as
 * long as the rest may come. With `more` it is there already, and then a chunk
 * that is nothing but the beginning of a secret goes: there is a gap behind. */
static size_t count_whole(const struct log_ship *ship, const char *buffer,
                          size_t len, bool final, bool more)
{
    if (final && !more)
        return len;
    size_t whole = masked_secrets_whole(&ship->hidden, buffer, len);
    whole -= count_unfinished(buffer, whole);
    return whole == 0 && more ? len : whole;
}

bool log_ship_next(struct log_ship *ship, int64_t now, bool final,
                   struct log_chunk *chunk, struct text *out)
{
    char buffer[CHUNK_BYTES];
    bool more;
    if (ship->done)
        return false;
    size_t len = read_chunk(ship->source, buffer, &chunk->offset, &more);
    if (len == 0 || ship->late >= LOG_SOURCE_KEPT) {
        ship->done = final;
        return false;
    }
    if (!final && len < SMALL_BYTES && now - ship->sent_ms < SMALL_WAIT_MS)
        return false;
    if (ship->order != NULL)
        masked_secrets_load(&ship->hidden, ship->order, ship->source.folder,
                            ship->credentials);
    len = count_whole(ship, buffer, len, final, more);
    if (len == 0)
        return false; /* the rest of a character or word will come */
    append_clean(out, buffer, masked_secrets_blank(&ship->hidden, buffer, len));
    chunk->bytes = (int64_t)len;
    ship->sent_ms = now;
    ship->late += final ? chunk->bytes : 0;
    return true;
}

void log_ship_confirm(struct log_ship *ship, const struct log_chunk *chunk,
                      int64_t wanted)
{
    const int64_t end = chunk->offset + chunk->bytes;
    ship->source.offset = wanted > end ? wanted : end;
}
