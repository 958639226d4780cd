#include "runner/reports/log.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/base/utf8.h"
#include "proto/base/whole.h"
#include "runner/base/credentials.h"
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

struct extent {
    int64_t later; /* where the next segment behind the offset begins; -1 */
    int64_t end;   /* behind the last byte of the newest segment */
};

static struct extent find_extent(const struct log_source *source)
{
    struct extent extent = {.later = -1};
    DIR *dir = opendir(source->folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const int64_t offset = segment_of(source, entry->d_name);
        struct stat status;
        if (offset > source->offset &&
            (extent.later < 0 || offset < extent.later))
            extent.later = offset;
        if (offset >= 0 && offset < INT64_MAX / 2 &&
            fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(status.st_mode) && offset + status.st_size > extent.end)
            extent.end = offset + status.st_size;
    }
    if (dir != NULL)
        closedir(dir);
    return extent;
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
    const ssize_t n = whole_read_at(fd, buffer, size, into);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at)
{
    size_t n = read_segment(source, buffer, size);
    if (n == 0) {
        const int64_t later = find_extent(source).later;
        /* Again: the shim may have filled this one meanwhile. */
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

/* ---- secrets ----
 *
 * A value is masked line by line, so that any line of a key file is masked.
 * Lines of less than MASKED_LEAST bytes are too common to be masked. */

enum { MASKED_LEAST = 8, MASKED_MOST = 16 * 1024 }; /* bytes of one piece */
enum { MOST_PIECES = 1024 };

static void add_piece(struct log_secrets *secrets, const char *bytes,
                      size_t len)
{
    if (len < MASKED_LEAST || secrets->n == MOST_PIECES)
        return;
    char *piece = ht_xcalloc(len + 1, 1);
    memcpy(piece, bytes, len);
    secrets->pieces =
        ht_xrealloc(secrets->pieces, secrets->n + 1, sizeof(char *));
    secrets->pieces[secrets->n++] = piece;
}

static void add_value(struct log_secrets *secrets, const char *value)
{
    while (*value != '\0') {
        size_t len = strcspn(value, "\r\n");
        if (len > MASKED_MOST)
            len = MASKED_MOST;
        add_piece(secrets, value, len);
        value += len;
        value += strspn(value, "\r\n");
    }
}

static bool is_secret(const struct order *order, const char *name)
{
    for (size_t i = 0; i < order->n_secrets; i++) {
        if (strcmp(order->secrets[i].name, name) == 0)
            return true;
    }
    return false;
}

static void add_credentials(struct log_secrets *secrets, struct arena *arena,
                            const char *file)
{
    const struct strings keys = credentials_secrets(arena, file);
    for (size_t i = 0; i < keys.n; i++)
        add_value(secrets, keys.items[i]);
}

/* Reads the values that the replica got from its launch.json, as a secret may
 * have changed since, and the keys from `credentials`, the attempt's copy if
 * there is one. Does nothing when they were read already, or while there is no
 * launch.json. */
static void load_secrets(struct log_secrets *secrets, const struct order *order,
                         const char *replica_folder, const char *credentials)
{
    if (secrets->loaded)
        return;
    struct arena *arena = arena_new();
    struct launch launch;
    if (folder_read_launch(arena, replica_folder, &launch, NULL) == HT_OK) {
        secrets->loaded = true;
        for (size_t i = 0; i < launch.env.n; i++) {
            if (is_secret(order, launch.env.items[i].name))
                add_value(secrets, launch.env.items[i].value);
        }
        add_credentials(secrets, arena, credentials);
    }
    arena_free(arena);
}

static void free_secrets(struct log_secrets *secrets)
{
    for (size_t i = 0; i < secrets->n; i++)
        free(secrets->pieces[i]);
    free(secrets->pieces);
    *secrets = (struct log_secrets){.n = 0};
}

/* The longest beginning of the piece, but not all of it, at the end. */
static size_t count_begun(const char *piece, const char *bytes, size_t len)
{
    size_t n = strlen(piece) - 1;
    if (n > len)
        n = len;
    while (n > 0 && memcmp(bytes + len - n, piece, n) != 0)
        n--;
    return n;
}

/* Where the piece begins that the cut goes through, else the cut. */
static size_t move_before(const char *piece, const char *bytes, size_t len,
                          size_t cut)
{
    const size_t n = strlen(piece);
    const size_t from = cut > n ? cut - n + 1 : 0;
    const size_t to = len - cut > n ? cut + n - 1 : len;
    const char *found = memmem(bytes + from, to - from, piece, n);
    return found != NULL && (size_t)(found - bytes) < cut
               ? (size_t)(found - bytes)
               : cut;
}

/* The end of what can be sent at or before `cut`, so that no piece that is
 * complete is cut. */
static size_t before_pieces(const struct log_secrets *secrets,
                            const char *bytes, size_t len, size_t cut)
{
    for (size_t i = 0; cut > 0 && cut < len && i < secrets->n;) {
        const size_t before = move_before(secrets->pieces[i], bytes, len, cut);
        i = before < cut ? 0 : i + 1; /* the new place may cut another */
        cut = before;
    }
    return cut;
}

/* How many of the bytes can be sent before the next come, so that no piece is
 * cut, complete or begun. */
static size_t count_uncut(const struct log_secrets *secrets, const char *bytes,
                          size_t len)
{
    size_t cut = len;
    for (size_t i = 0; i < secrets->n; i++) {
        const size_t whole = len - count_begun(secrets->pieces[i], bytes, len);
        cut = whole < cut ? whole : cut;
    }
    return before_pieces(secrets, bytes, len, cut);
}

static void mark(const char *piece, const char *bytes, size_t len, bool marks[])
{
    const size_t n = strlen(piece);
    const char *at = bytes, *end = bytes + len;
    while ((at = memmem(at, (size_t)(end - at), piece, n)) != NULL) {
        memset(marks + (at - bytes), true, n);
        at += n;
    }
}

/* Replaces the pieces by "***", in place; returns the new length, which is
 * never more. */
static size_t mask_secrets(const struct log_secrets *secrets, char *bytes,
                           size_t len)
{
    static const char blank[] = "***";
    if (secrets->n == 0)
        return len;
    bool *marks = ht_xcalloc(len + 1, sizeof *marks);
    for (size_t i = 0; i < secrets->n; i++)
        mark(secrets->pieces[i], bytes, len, marks);
    size_t kept = 0;
    for (size_t i = 0; i < len; i++) {
        if (!marks[i]) {
            bytes[kept++] = bytes[i];
        } else if (i == 0 || !marks[i - 1]) {
            memcpy(bytes + kept, blank, sizeof blank - 1);
            kept += sizeof blank - 1;
        }
    }
    free(marks);
    return kept;
}

/* ---- sent to the server ---- */

enum {
    CHUNK_BYTES = 64 * 1024,
    LEAST_BYTES = 512,       /* of a chunk, however slow the link */
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
    free_secrets(&ship->secrets);
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

/* hypertune's reader of JSON refuses NUL, although it is valid UTF-8. */
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

/* How much of a chunk can be sent: neither a character nor a secret is cut
 * while its rest may come. With `more` bytes follow already, so a chunk that is
 * only the beginning of a secret is sent: there is a gap behind it. */
static size_t count_whole(const struct log_ship *ship, const char *buffer,
                          size_t len, bool final, bool more)
{
    if (final && !more)
        return len;
    size_t whole = count_uncut(&ship->secrets, buffer, len);
    whole -= count_unfinished(buffer, whole);
    return whole == 0 && more ? len : whole;
}

/* At most `most` of the bytes, all of which can be sent; more when a secret or
 * a character would be cut. */
static size_t count_most(const struct log_ship *ship, const char *buffer,
                         size_t len, size_t most)
{
    if (len <= most)
        return len;
    size_t cut = before_pieces(&ship->secrets, buffer, len, most);
    cut -= count_unfinished(buffer, cut);
    return cut > 0 ? cut : len;
}

bool log_ship_next(struct log_ship *ship, int64_t now, bool final, size_t most,
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
    most = most > LEAST_BYTES ? most : LEAST_BYTES;
    if (!final && len < SMALL_BYTES && len < most &&
        now - ship->sent_ms < SMALL_WAIT_MS)
        return false;
    if (ship->order != NULL)
        load_secrets(&ship->secrets, ship->order, ship->source.folder,
                     ship->credentials);
    len = count_whole(ship, buffer, len, final, more);
    if (len == 0)
        return false; /* the rest of a character or secret will come */
    len = count_most(ship, buffer, len, most);
    append_clean(out, buffer, mask_secrets(&ship->secrets, buffer, len));
    chunk->bytes = (int64_t)len;
    ship->sent_ms = now;
    ship->late += final ? chunk->bytes : 0;
    return true;
}

void log_ship_confirm(struct log_ship *ship, const struct log_chunk *chunk,
                      int64_t wanted)
{
    const bool has_it = wanted > chunk->offset;
    ship->source.offset = has_it ? wanted : chunk->offset + chunk->bytes;
}

/* ---- the last line ---- */

/* More than the longest secret, since the beginning may cut one. */
enum { LOOKED_AT = 2 * MASKED_MOST };

static const char ellipsis[] = "\xe2\x80\xa6";

/* The end of the stream, from the beginning of a line on. */
static void read_end(const char *folder, struct text *end)
{
    struct log_source source = {.folder = folder, .stream = "stderr"};
    const int64_t size = find_extent(&source).end;
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

/* Bytes of the control sequence that begins here with an ESC. */
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

/* Appends the visible part of the line; true when it has a letter, a digit or
 * anything beyond ASCII. */
static bool show_line(const char *line, size_t len, struct text *out)
{
    struct text clean = {0};
    text_clean(&clean, line, len);
    bool has_text = false;
    for (size_t i = 0, n; i < clean.len; i += n) {
        const char *at = clean.data + i;
        n = utf8_sequence(at, clean.len - i);
        if (*at == '\033')
            n = count_command(at, clean.len - i);
        else if (*at == '\t')
            text_puts(out, " ");
        else if (!text_steers_terminal(utf8_decode(at, n)))
            text_append(out, at, n);
        has_text |= n > 1 ? *at != '\033' : isalnum((unsigned char)*at) != 0;
    }
    text_free(&clean);
    return has_text;
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
    return byte == '\n' || byte == '\r'; /* progress bars rewrite their line */
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
    struct log_secrets secrets = {0};
    struct text end = {0};
    load_secrets(&secrets, order, replica_folder, credentials);
    if (secrets.loaded)
        read_end(replica_folder, &end);
    if (end.len > 0)
        find_last(end.data, mask_secrets(&secrets, end.data, end.len), out);
    text_free(&end);
    free_secrets(&secrets);
}
