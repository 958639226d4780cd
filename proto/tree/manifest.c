#include "proto/tree/manifest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/utf8.h"

enum { CHUNK_TEXT = TREE_NAME + 1 }; /* bytes: "HEX" */

size_t tree_chunks(int64_t bytes)
{
    return (size_t)((bytes + TREE_CHUNK - 1) / TREE_CHUNK);
}

size_t tree_chunk_bytes(int64_t bytes, size_t i)
{
    const int64_t left = bytes - (int64_t)i * TREE_CHUNK;
    return left < TREE_CHUNK ? (size_t)left : TREE_CHUNK;
}

int tree_path_compare(const char *a, const char *b)
{
    return strcmp(a, b);
}

void tree_manifest_name(const char *bytes, size_t len, char name[TREE_NAME])
{
    unsigned char hash[TOKEN_HASH_BYTES];
    token_sha256(hash, bytes, len);
    token_hex(name, hash);
}

enum ht_status tree_name_read(const char *text, struct tree_hash *hash,
                              struct ht_error *err)
{
    struct tree_hash read;
    if (strlen(text) != TREE_NAME - 1 || !token_unhex(read.bytes, text))
        return ht_fail(err, HT_INVALID,
                       "\"%.80s\" is no SHA-256: it has 64 digits of 0-9a-f",
                       text);
    *hash = read;
    return HT_OK;
}

/* --- reading --- */

struct reader {
    const char *at, *end;
    struct arena *arena;
    struct ht_error *err;
    size_t n;                      /* entries before this one */
    const char *shown;             /* path of this one, for errors; or NULL */
    char path[TREE_MOST_PATH + 1]; /* of the last one */
    bool ends[TREE_MOST_PATH + 1]; /* [i]: the first i bytes of `path` are the
                                      path of an entry */
};

__attribute__((format(printf, 3, 4))) static enum ht_status
refuse(struct reader *reader, enum ht_status status, const char *format, ...)
{
    char why[160];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (reader->shown == NULL)
        return ht_fail(reader->err, status, "entries[%zu]: %s", reader->n, why);
    return ht_fail(reader->err, status, "entries[%zu] (\"%.60s\"): %s",
                   reader->n, reader->shown, why);
}

static enum ht_status refuse_form(struct reader *reader, const char *wanted)
{
    return refuse(reader, HT_INVALID,
                  "%s is expected (members have one order and no blanks)",
                  wanted);
}

/* Whether the text is next; passes it. */
static bool pass(struct reader *reader, const char *text)
{
    const size_t len = strlen(text);
    if ((size_t)(reader->end - reader->at) < len ||
        memcmp(reader->at, text, len) != 0)
        return false;
    reader->at += len;
    return true;
}

static const char escaped[] = "\"\\\b\f\n\r\t";
static const char escapes[] = "\"\\bfnrt";

/* The byte that a canonical escape is for, 0: it is none. `at` is behind the
 * backslash, with at least the closing quote after it. */
static char read_escape(struct reader *reader)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = strchr(escapes, *reader->at);
    if (*reader->at != '\0' && found != NULL) {
        reader->at++;
        return escaped[found - escapes];
    }
    const char *low = NULL;
    if (reader->end - reader->at <= 5 || memcmp(reader->at, "u00", 3) != 0 ||
        (reader->at[3] != '0' && reader->at[3] != '1') ||
        reader->at[4] == '\0' || (low = strchr(digits, reader->at[4])) == NULL)
        return '\0';
    const char byte =
        (char)((reader->at[3] == '1' ? 0x10 : 0) + (low - digits));
    if (byte != '\0' && strchr(escaped, byte) != NULL)
        return '\0'; /* it has a shorter one */
    reader->at += 5;
    return byte;
}

/* The JSON string that is next, of 1 to TREE_MOST_PATH bytes. */
static enum ht_status read_string(struct reader *reader, const char **string)
{
    char copy[TREE_MOST_PATH + 1];
    size_t len = 0;
    if (!pass(reader, "\""))
        return refuse_form(reader, "a string");
    while (reader->at < reader->end && *reader->at != '"') {
        char byte = *reader->at++;
        if ((unsigned char)byte < 0x20 || reader->at == reader->end)
            return refuse(reader, HT_INVALID,
                          "a string has a control character or no end");
        if (byte == '\\' && (byte = read_escape(reader)) == '\0')
            return refuse(reader, HT_INVALID,
                          "a string has an escape that is not the canonical "
                          "one, or a NUL");
        if (len == TREE_MOST_PATH)
            return refuse(reader, HT_TOO_LARGE,
                          "a path or target has over %d bytes", TREE_MOST_PATH);
        copy[len++] = byte;
    }
    if (!pass(reader, "\""))
        return refuse_form(reader, "the end of a string");
    if (len == 0 || !utf8_is_valid(copy, len))
        return refuse(reader, HT_INVALID, "a string is empty or not UTF-8");
    *string = arena_strndup(reader->arena, copy, len);
    return HT_OK;
}

/* A whole number without leading zeros, of at most `most`. */
static bool read_number(struct reader *reader, int64_t most, int64_t *number)
{
    const char *begin = reader->at;
    int64_t value = 0;
    while (reader->at < reader->end && *reader->at >= '0' &&
           *reader->at <= '9') {
        const int digit = *reader->at++ - '0';
        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return reader->at > begin && (*begin != '0' || reader->at == begin + 1);
}

/* --- what is safe --- */

static enum ht_status check_parts(struct reader *reader, const char *path)
{
    for (const char *part = path;; part++) {
        const size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.'))
            return refuse(reader, HT_INVALID,
                          "a path is relative, without empty parts, \".\" and "
                          "\"..\"");
        if (len > TREE_MOST_PART)
            return refuse(reader, HT_TOO_LARGE,
                          "a part of the path has over %d bytes",
                          TREE_MOST_PART);
        part += len;
        if (*part == '\0')
            return HT_OK;
    }
}

/* Behind all paths so far, and below none of them. */
static enum ht_status check_place(struct reader *reader, const char *path)
{
    if (reader->n > 0 && tree_path_compare(path, reader->path) <= 0)
        return refuse(reader, HT_INVALID,
                      "entries are sorted by their paths' bytes, each once");
    size_t same = 0;
    while (reader->path[same] != '\0' && reader->path[same] == path[same])
        same++;
    const size_t len = strlen(path);
    memset(reader->ends + same + 1, 0, (len - same) * sizeof *reader->ends);
    for (size_t i = 0; i < len; i++)
        if (path[i] == '/' && reader->ends[i])
            return refuse(reader, HT_INVALID,
                          "it lies below an entry that is a file, a link or "
                          "an empty folder");
    reader->ends[len] = true;
    memcpy(reader->path, path, len + 1);
    return HT_OK;
}

/* ".." counts at the beginning only, where the folders above are no links;
 * behind a name, which may be a link, it could lead out. */
static enum ht_status check_target(struct reader *reader, const char *path,
                                   const char *target)
{
    size_t above = 0;
    bool named = false;
    for (const char *at = path; *at != '\0'; at++)
        above += *at == '/';
    if (target[0] == '/')
        return refuse(reader, HT_INVALID, "the link leads out: \"%.60s\"",
                      target);
    for (const char *part = target; *part != '\0';) {
        const size_t len = strcspn(part, "/");
        const bool up = len == 2 && part[0] == '.' && part[1] == '.';
        if (up && (named || above-- == 0))
            return refuse(reader, HT_INVALID,
                          "the link may lead out: \"%.60s\"", target);
        named |= !up && len > 0 && (len != 1 || part[0] != '.');
        part += len + (part[len] == '/');
    }
    return HT_OK;
}

/* --- entries --- */

static enum ht_status read_chunks(struct reader *reader,
                                  struct tree_entry *entry)
{
    entry->n_chunks = tree_chunks(entry->bytes);
    /* Before memory is taken for them. */
    if (entry->n_chunks > (size_t)(reader->end - reader->at) / CHUNK_TEXT)
        return refuse(reader, HT_INVALID, "%zu chunks are expected",
                      entry->n_chunks);
    struct tree_hash *chunks =
        arena_alloc(reader->arena, entry->n_chunks, sizeof *chunks);
    for (size_t i = 0; i < entry->n_chunks; i++) {
        if (i > 0 && !pass(reader, ","))
            return refuse(reader, HT_INVALID, "%zu chunks are expected",
                          entry->n_chunks);
        if (reader->end - reader->at < CHUNK_TEXT || reader->at[0] != '"' ||
            reader->at[CHUNK_TEXT - 1] != '"' ||
            !token_unhex(chunks[i].bytes, reader->at + 1))
            return refuse(reader, HT_INVALID,
                          "chunks[%zu]: a SHA-256 in lower-case hex is "
                          "expected (%zu chunks in all)",
                          i, entry->n_chunks);
        reader->at += CHUNK_TEXT;
    }
    entry->chunks = chunks;
    return pass(reader, "]}")
               ? HT_OK
               : refuse(reader, HT_INVALID, "%zu chunks are expected",
                        entry->n_chunks);
}

static enum ht_status read_file(struct reader *reader, struct tree_entry *entry)
{
    int64_t mode;
    if (!read_number(reader, 0777, &mode))
        return refuse(reader, HT_INVALID,
                      "mode is a number of permission bits, at most 511");
    entry->mode = (unsigned)mode;
    if (!pass(reader, ",\"bytes\":"))
        return refuse_form(reader, "\"bytes\"");
    /* More than the chunks of a manifest can have. */
    if (!read_number(reader, (int64_t)TREE_MOST_MANIFEST * TREE_CHUNK,
                     &entry->bytes))
        return refuse(reader, HT_INVALID, "bytes is a size");
    if (!pass(reader, ",\"chunks\":["))
        return refuse_form(reader, "\"chunks\"");
    return read_chunks(reader, entry);
}

static enum ht_status read_link(struct reader *reader, struct tree_entry *entry)
{
    entry->kind = TREE_LINK;
    enum ht_status status = read_string(reader, &entry->target);
    assert(status != HT_OK || entry->target != NULL);
    if (status == HT_OK)
        status = check_target(reader, entry->path, entry->target);
    if (status != HT_OK)
        return status;
    return pass(reader, "}") ? HT_OK : refuse_form(reader, "the entry's end");
}

static enum ht_status read_entry(struct reader *reader,
                                 struct tree_entry *entry)
{
    *entry = (struct tree_entry){.kind = TREE_FILE};
    reader->shown = NULL;
    if (reader->n == TREE_MOST_ENTRIES)
        return refuse(reader, HT_TOO_LARGE, "a tree has at most %d entries",
                      TREE_MOST_ENTRIES);
    if (!pass(reader, "{\"path\":"))
        return refuse_form(reader, "{\"path\":");
    enum ht_status status = read_string(reader, &entry->path);
    if (status != HT_OK)
        return status;
    assert(entry->path != NULL);
    reader->shown = entry->path;
    status = check_parts(reader, entry->path);
    if (status == HT_OK)
        status = check_place(reader, entry->path);
    if (status != HT_OK)
        return status;
    if (pass(reader, ",\"mode\":"))
        return read_file(reader, entry);
    if (pass(reader, ",\"link\":"))
        return read_link(reader, entry);
    entry->kind = TREE_FOLDER;
    return pass(reader, ",\"folder\":true}")
               ? HT_OK
               : refuse_form(reader, "\"mode\", \"link\" or \"folder\":true}");
}

static enum ht_status begin(struct reader *reader, struct arena *arena,
                            const char *bytes, size_t len, struct ht_error *err)
{
    *reader = (struct reader){
        .at = bytes, .end = bytes + len, .arena = arena, .err = err};
    if (len > TREE_MOST_MANIFEST)
        return ht_fail(err, HT_TOO_LARGE,
                       "a manifest has at most %d bytes, this one %zu",
                       TREE_MOST_MANIFEST, len);
    return pass(reader, "{\"entries\":[")
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "a manifest begins with {\"entries\":[");
}

/* `more`: whether an entry was read; false at the end. */
static enum ht_status next(struct reader *reader, struct tree_entry *entry,
                           bool *more)
{
    *more = false;
    if (reader->at + 2 == reader->end && pass(reader, "]}"))
        return HT_OK;
    if (reader->n > 0 && !pass(reader, ",")) {
        reader->shown = NULL;
        return refuse_form(reader, "a further entry, or ]} as the end");
    }
    const enum ht_status status = read_entry(reader, entry);
    *more = status == HT_OK;
    reader->n += *more;
    return status;
}

enum ht_status tree_manifest_read(struct arena *arena, const char *bytes,
                                  size_t len, struct tree_manifest *manifest,
                                  struct ht_error *err)
{
    struct reader reader;
    struct tree_manifest read = {0};
    struct tree_entry entry;
    bool more = true;
    enum ht_status status = begin(&reader, arena, bytes, len, err);
    while (status == HT_OK && more) {
        status = next(&reader, &entry, &more);
        if (!more)
            break;
        read.entries = arena_grow(arena, read.entries, read.n, sizeof entry);
        read.entries[read.n++] = entry;
    }
    if (status == HT_OK)
        *manifest = read;
    return status;
}

enum ht_status tree_manifest_visit(struct arena *arena, const char *bytes,
                                   size_t len, tree_visit *visit, void *context,
                                   struct ht_error *err)
{
    struct reader reader;
    struct tree_entry entry;
    bool more = true;
    enum ht_status status = begin(&reader, arena, bytes, len, err);
    while (status == HT_OK && more) {
        arena_reset(arena);
        status = next(&reader, &entry, &more);
        if (more)
            status = visit(context, &entry, err);
    }
    return status;
}
