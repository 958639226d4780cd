#include "runner/reports/last_line.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/base/utf8.h"
#include "runner/reports/log_source.h"
#include "runner/reports/masked_secrets.h"

/* Some lines more than the longest secret, which the beginning may cut. */
enum { LOOKED_AT = 2 * HIDDEN_MOST };

static const char ellipsis[] = "\xe2\x80\xa6";

/* The end of the stream, from the beginning of a line on. */
static void read_end(const char *folder, struct text *end)
{
    struct log_source source = {.folder = folder, .stream = "stderr"};
    const int64_t size = log_source_end(&source);
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

/* Appends the beginning of the line, as much as is told. */
static void append_cut(struct text *out, const struct text *line)
{
    const bool fits = line->len <= LAST_LINE_BYTES &&
                      utf8_count(line->data, line->len) <= LAST_LINE_CHARACTERS;
    const size_t most = LAST_LINE_BYTES - (sizeof ellipsis - 1);
    size_t len = fits ? line->len : 0;
    for (size_t i = 0; !fits && i < LAST_LINE_CHARACTERS - 1; i++) {
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

void last_line_text(const struct order *order, const char *replica_folder,
                    const char *credentials, struct text *out)
{
    struct masked_secrets hidden = {0};
    struct text end = {0};
    masked_secrets_load(&hidden, order, replica_folder, credentials);
    if (hidden.loaded)
        read_end(replica_folder, &end);
    if (end.len > 0)
        find_last(end.data, masked_secrets_blank(&hidden, end.data, end.len),
                  out);
    text_free(&end);
    masked_secrets_fini(&hidden);
}
