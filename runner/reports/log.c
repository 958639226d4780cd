#include "runner/reports/log.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/utf8.h"
#include "runner/base/folder.h"

/* ---- the segments as one stream ---- */

static int open_segment(const struct log_source *source, int64_t offset)
{
    char name[FOLDER_LOG_NAME_BYTES];
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", source->folder,
                   folder_log_name(name, source->stream, offset));
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* The first byte of the segment `name`, -1 when it is none of this stream. */
static int64_t segment_of(const struct log_source *source, const char *name)
{
    const size_t len = strlen(source->stream);
    if (strncmp(name, source->stream, len) != 0 || name[len] != '.')
        return -1;
    char *end;
    const long long offset = strtoll(name + len + 1, &end, 10);
    return strcmp(end, ".log") == 0 ? offset : -1;
}

/* The nearest kept segment that begins behind the offset, -1 if there is
 * none. */
static int64_t find_later_segment(const struct log_source *source)
{
    int64_t found = -1;
    DIR *dir = opendir(source->folder);
    if (dir == NULL)
        return -1;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const int64_t offset = segment_of(source, entry->d_name);
        if (offset > source->offset && (found < 0 || offset < found))
            found = offset;
    }
    closedir(dir);
    return found;
}

/* Where the stream ends: behind the last byte of its newest segment. */
static int64_t find_end(const struct log_source *source)
{
    int64_t end = 0;
    DIR *dir = opendir(source->folder);
    if (dir == NULL)
        return 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const int64_t offset = segment_of(source, entry->d_name);
        struct stat status;
        if (offset >= 0 && offset < INT64_MAX / 2 &&
            fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(status.st_mode) && offset + status.st_size > end)
            end = offset + status.st_size;
    }
    closedir(dir);
    return end;
}

static size_t read_segment(const struct log_source *source, char *buffer,
                           size_t size)
{
    const int64_t into = source->offset % HT_LOG_SEGMENT;
    const int fd = open_segment(source, source->offset - into);
    if (fd < 0)
        return 0;
    if ((int64_t)size > HT_LOG_SEGMENT - into)
        size = (size_t)(HT_LOG_SEGMENT - into);
    ssize_t n;
    do {
        n = pread(fd, buffer, size, into);
    } while (n < 0 && errno == EINTR);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at)
{
    size_t n = read_segment(source, buffer, size);
    if (n == 0) {
        const int64_t later = find_later_segment(source);
        /* Asked again: the shim may have filled this one up in between. */
        n = read_segment(source, buffer, size);
        if (n == 0 && later > source->offset) {
            source->offset = later;
            n = read_segment(source, buffer, size);
        }
    }
    *at = source->offset;
    source->offset += (int64_t)n;
    return n;
}

/* ---- on its way to the server ---- */

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
    masked_secrets_fini(&ship->secrets);
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
    size_t whole = masked_secrets_whole(&ship->secrets, buffer, len);
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
        masked_secrets_load(&ship->secrets, ship->order, ship->source.folder,
                            ship->credentials);
    len = count_whole(ship, buffer, len, final, more);
    if (len == 0)
        return false; /* the rest of a character or word will come */
    append_clean(out, buffer,
                 masked_secrets_blank(&ship->secrets, buffer, len));
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

/* ---- the last line ---- */

/* Some lines more than the longest secret, which the beginning may cut. */
enum { LOOKED_AT = 2 * MASKED_MOST };

static const char ellipsis[] = "\xe2\x80\xa6";

/* The end of the stream, from the beginning of a line on. */
static void read_end(const char *folder, struct text *end)
{
    struct log_source source = {.folder = folder, .stream = "stderr"};
    const int64_t size = find_end(&source);
    if (size > LOOKED_AT)
        source.offset = size - LOOKED_AT;
    const bool whole = source.offset == 0;
    char buffer[4096];
    int64_t at;
    size_t n;
    while (end->len < LOOKED_AT &&
           (n = log_source_read(&source, buffer, sizeof buffer, &at)) > 0)
        text_append(end, buffer, n);
    if (whole || end->len == 0)
        return;
    const char *newline = memchr(end->data, '\n', end->len);
    const size_t cut =
        newline != NULL ? (size_t)(newline - end->data) + 1 : end->len;
    end->len -= cut;
    memmove(end->data, end->data + cut, end->len);
}

/* Bytes of the terminal's command that begins here with an ESC. */
static size_t count_command(const char *bytes, size_t len)
{
    const char kind = (char)(len > 1 ? bytes[1] : '\0');
    size_t n = kind == '[' || kind == ']' ? 2 : 1;
    if (kind == ']') { /* a text up to BEL or ESC \ */
        while (n < len && bytes[n] != '\a' && bytes[n - 1] != '\033')
            n++;
    } else { /* parameters, then one final byte */
        const char end = kind == '[' ? '@' : '0';
        while (n < len && bytes[n] >= 0x20 && bytes[n] < end)
            n++;
    }
    return n < len && (unsigned char)bytes[n] < 0x80 ? n + 1 : n;
}

/* Appends what a person sees of the line; true when that says something. */
static bool show_line(const char *line, size_t len, struct text *out)
{
    struct text clean = {0};
    text_clean(&clean, line, len);
    bool speaks = false;
    for (size_t i = 0, n; i < clean.len; i += n) {
        const char *at = clean.data + i;
        n = utf8_sequence(at, clean.len - i);
        if (*at == '\033')
            n = count_command(at, clean.len - i);
        else if (*at == '\t')
            text_puts(out, " ");
        else if (!text_steers_terminal(utf8_decode(at, n)))
            text_append(out, at, n);
        speaks |= n > 1 ? *at != '\033' : isalnum((unsigned char)*at) != 0;
    }
    text_free(&clean);
    return speaks;
}

static void trim(struct text *line)
{
    const size_t blank = strspn(line->data, " ");
    line->len -= blank;
    memmove(line->data, line->data + blank, line->len + 1);
    while (line->len > 0 && line->data[line->len - 1] == ' ')
        line->data[--line->len] = '\0';
}

/* Appends the beginning of the line, as much as is shown. */
static void append_cut(struct text *out, const struct text *line)
{
    const bool fits =
        line->len <= LOG_LAST_LINE_BYTES &&
        utf8_count(line->data, line->len) <= LOG_LAST_LINE_CHARACTERS;
    const size_t most = LOG_LAST_LINE_BYTES - (sizeof ellipsis - 1);
    size_t len = fits ? line->len : 0;
    for (size_t i = 0; !fits && i < LOG_LAST_LINE_CHARACTERS - 1; i++) {
        const size_t n = utf8_sequence(line->data + len, line->len - len);
        if (len + n > most)
            break;
        len += n;
    }
    text_append(out, line->data, len);
    if (!fits)
        text_puts(out, ellipsis);
}

static bool ends_line(char byte)
{
    return byte == '\n' || byte == '\r'; /* bars of progress rewrite theirs */
}

static void find_last(const char *bytes, size_t len, struct text *out)
{
    struct text line = {0};
    bool found = false;
    while (len > 0 && !found) {
        size_t from = len;
        while (from > 0 && !ends_line(bytes[from - 1]))
            from--;
        text_clear(&line);
        found = show_line(bytes + from, len - from, &line);
        len = from > 0 ? from - 1 : 0;
    }
    if (found) {
        trim(&line);
        append_cut(out, &line);
    }
    text_free(&line);
}

void log_last_line(const struct order *order, const char *replica_folder,
                   const char *credentials, struct text *out)
{
    struct masked_secrets secrets = {0};
    struct text end = {0};
    masked_secrets_load(&secrets, order, replica_folder, credentials);
    if (secrets.loaded)
        read_end(replica_folder, &end);
    if (end.len > 0)
        find_last(end.data, masked_secrets_blank(&secrets, end.data, end.len),
                  out);
    text_free(&end);
    masked_secrets_fini(&secrets);
}
