/* node_json.c - JSON of RFC 8259 as nodes; recursion is bounded by
 * HT_MAX_DEPTH. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/number.h"
#include "proto/base/utf8.h"
#include "proto/doc/node.h"

struct reader {
    struct arena *arena;
    struct diag *diag;
    const char *at, *end;    /* what is not yet read */
    const char *known;       /* a byte at or before `at` ... */
    struct node_place place; /* ... and where it is */
    int depth;               /* lists and maps that are open */
};

static struct node *read_value(struct reader *r);

/* The place of `at`; every byte is counted once however many ask. */
static struct node_place here(struct reader *r)
{
    r->place = node_place_after(r->place, r->known, r->at);
    r->known = r->at;
    return r->place;
}

/* Adds an error at `at`; NULL for the caller to return. */
__attribute__((format(printf, 2, 3))) static void *fail(struct reader *r,
                                                        const char *format, ...)
{
    struct node_place place = here(r);
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(r->arena, format, args);
    va_end(args);
    diag_error(r->diag, place.line, place.column, NULL, "%s", text);
    return NULL;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' ||
                              *r->at == '\r' || *r->at == '\n'))
        r->at++;
}

static bool is_next(const struct reader *r, char byte)
{
    return r->at < r->end && *r->at == byte;
}

static bool starts_with(const struct reader *r, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(r->end - r->at) >= len && memcmp(r->at, word, len) == 0;
}

/* "expected X, found Y" with the mistakes that people make most. */
static void *fail_expected(struct reader *r, const char *expected)
{
    if (r->at == r->end)
        return fail(r, "expected %s, but the document ends", expected);
    size_t n = utf8_sequence(r->at, (size_t)(r->end - r->at));
    if (n == 0)
        return fail(r, "expected %s, found a byte outside UTF-8", expected);
    fail(r, "expected %s, found '%.*s'", expected, (int)n, r->at);
    if (*r->at == '\'')
        diag_hint(r->diag, "JSON writes text in double quotes");
    else if (*r->at == '#' || *r->at == '/')
        diag_hint(r->diag, "JSON has no comments");
    else if (starts_with(r, "True") || starts_with(r, "False"))
        diag_hint(r->diag, "JSON writes true and false in small letters");
    else if (starts_with(r, "None"))
        diag_hint(r->diag, "JSON writes null");
    else if (starts_with(r, "NaN") || starts_with(r, "Infinity") ||
             starts_with(r, "-Infinity"))
        diag_hint(r->diag, "JSON has no such number; write it in quotes");
    return NULL;
}

static struct node *read_word(struct reader *r, const char *word,
                              enum node_kind kind)
{
    if (!starts_with(r, word))
        return fail_expected(r, "a value");
    struct node *node = node_new(r->arena, kind, word, here(r));
    r->at += strlen(word);
    return node;
}

static struct node *read_number(struct reader *r)
{
    size_t len = number_scan(r->at, (size_t)(r->end - r->at));
    if (len == 0)
        return fail_expected(r, "a value");
    struct node_place place = here(r);
    const char *text = arena_strndup(r->arena, r->at, len);
    r->at += len;
    if (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        return fail(r, "no digit is allowed after a leading 0");
    if (is_next(r, '.') || is_next(r, 'e') || is_next(r, 'E'))
        return fail(r, "'%c' is not allowed here in a number", *r->at);
    return node_new(r->arena, NODE_NUMBER, text, place);
}

/* Four hexadecimal digits at `at`; false leaves an error behind. */
static bool read_hex4(struct reader *r, uint32_t *code)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit =
            r->at < r->end && *r->at != '\0' ? strchr(digits, *r->at) : NULL;
        if (digit == NULL) {
            fail_expected(r, "four hexadecimal digits after \\u");
            return false;
        }
        uint32_t n = (uint32_t)(digit - digits);
        value = value << 4 | (n < 16 ? n : n - 6);
        r->at++;
    }
    *code = value;
    return true;
}

/* The code point after "\u", which may take a second escape. */
static bool read_unicode(struct reader *r, uint32_t *code)
{
    uint32_t low;
    here(r); /* errors about the whole escape point behind it */
    if (!read_hex4(r, code))
        return false;
    if (*code == 0)
        return fail(r, "\\u0000 is not allowed in text") != NULL;
    if (*code < 0xD800 || *code > 0xDFFF)
        return true;
    if (*code >= 0xDC00 || !starts_with(r, "\\u"))
        return fail(r, "\\u%04x is half of a surrogate pair", *code) != NULL;
    r->at += 2;
    if (!read_hex4(r, &low))
        return false;
    if (low < 0xDC00 || low > 0xDFFF)
        return fail(r, "\\u%04x is half of a surrogate pair", *code) != NULL;
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* One escape after its backslash, written to *out. */
static bool read_escape(struct reader *r, char **out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char bytes[] = "\"\\/\b\f\n\r\t";
    if (is_next(r, 'u')) {
        uint32_t code;
        r->at++;
        if (!read_unicode(r, &code))
            return false;
        *out += utf8_encode(*out, code);
        return true;
    }
    const char *name =
        r->at < r->end && *r->at != '\0' ? strchr(names, *r->at) : NULL;
    if (name == NULL)
        return fail_expected(r, "one of \" \\ / b f n r t u after \\") != NULL;
    *(*out)++ = bytes[name - names];
    r->at++;
    return true;
}

/* Copies one character that is not an escape. */
static bool copy_character(struct reader *r, char **out)
{
    if ((unsigned char)*r->at < 0x20) {
        fail(r, "control byte 0x%02x in text", (unsigned)(unsigned char)*r->at);
        diag_hint(r->diag, *r->at == '\n' ? "the text's closing \" is missing"
                                          : "write it as an escape");
        return false;
    }
    size_t n = utf8_sequence(r->at, (size_t)(r->end - r->at));
    if (n == 0)
        return fail(r, "byte 0x%02x is not UTF-8",
                    (unsigned)(unsigned char)*r->at) != NULL;
    memcpy(*out, r->at, n);
    *out += n;
    r->at += n;
    return true;
}

/* The bytes up to the closing quote: room enough for the decoded text, as no
 * escape is shorter than its character. */
static size_t raw_length(const struct reader *r)
{
    const char *p = r->at;
    while (p < r->end && *p != '"')
        p += *p == '\\' && r->end - p > 1 ? 2 : 1;
    return (size_t)(p - r->at);
}

static const char *read_text(struct reader *r)
{
    struct node_place start = here(r);
    r->at++;
    char *text = arena_alloc(r->arena, raw_length(r) + 1, 1);
    char *out = text;
    while (r->at < r->end && *r->at != '"') {
        bool ok;
        if (*r->at == '\\') {
            r->at++;
            ok = read_escape(r, &out);
        } else {
            ok = copy_character(r, &out);
        }
        if (!ok)
            return NULL;
    }
    if (r->at == r->end)
        return fail(r,
                    "the text that begins at line %d, column %d has no "
                    "closing quote",
                    start.line, start.column);
    r->at++;
    return text;
}

/* After an item: true when another follows, false at the end of the list or
 * map or, with *ok false, at an error. */
static bool next_item(struct reader *r, char close, bool *ok)
{
    skip_blanks(r);
    if (is_next(r, close)) {
        r->at++;
        return false;
    }
    if (!is_next(r, ',')) {
        fail_expected(r, close == ']' ? "',' or ']'" : "',' or '}'");
        *ok = false;
        return false;
    }
    r->at++;
    skip_blanks(r);
    if (is_next(r, close)) {
        fail(r, "expected another item after ','");
        diag_hint(r->diag, "remove the comma before '%c'", close);
        *ok = false;
        return false;
    }
    return true;
}

static struct node *read_member(struct reader *r)
{
    if (!is_next(r, '"'))
        return fail_expected(r, "a key in double quotes");
    struct node_place place = here(r);
    const char *key = read_text(r);
    if (key == NULL)
        return NULL;
    skip_blanks(r);
    if (!is_next(r, ':'))
        return fail_expected(r, "':' after the key");
    r->at++;
    struct node *member = read_value(r);
    if (member == NULL)
        return NULL;
    member->key = key;
    member->key_line = place.line;
    member->key_column = place.column;
    return member;
}

static struct node *read_children(struct reader *r, enum node_kind kind)
{
    if (++r->depth > HT_MAX_DEPTH)
        return fail(r, "lists and maps nest deeper than %d levels",
                    HT_MAX_DEPTH);
    const char close = kind == NODE_MAP ? '}' : ']';
    struct node *parent = node_new(r->arena, kind, NULL, here(r));
    struct node *tail = NULL;
    r->at++;
    skip_blanks(r);
    bool ok = true, more = !is_next(r, close);
    r->at += !more;
    while (more) {
        struct node *child = kind == NODE_MAP ? read_member(r) : read_value(r);
        if (child == NULL)
            return NULL;
        node_append(parent, &tail, child);
        more = next_item(r, close, &ok);
    }
    if (!ok)
        return NULL;
    if (kind == NODE_MAP)
        node_check_keys(parent, r->diag);
    r->depth--;
    return parent;
}

static struct node *read_value(struct reader *r)
{
    skip_blanks(r);
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        return read_children(r, NODE_MAP);
    case '[':
        return read_children(r, NODE_LIST);
    case '"': {
        struct node_place place = here(r);
        const char *text = read_text(r);
        return text ? node_new(r->arena, NODE_STRING, text, place) : NULL;
    }
    case 't':
        return read_word(r, "true", NODE_BOOL);
    case 'f':
        return read_word(r, "false", NODE_BOOL);
    case 'n':
        return read_word(r, "null", NODE_NULL);
    default:
        return read_number(r);
    }
}

struct node *node_read_long_json(struct arena *arena, const char *text,
                                 size_t len, struct diag *diag)
{
    struct reader r = {.arena = arena, .diag = diag, .place = {1, 1}};
    r.at = text;
    r.end = text + len;
    if (starts_with(&r, "\xEF\xBB\xBF"))
        r.at += 3; /* RFC 8259 lets a reader ignore a byte order mark */
    r.known = r.at;
    size_t errors = diag->errors;
    struct node *root = read_value(&r);
    if (root == NULL)
        return NULL;
    skip_blanks(&r);
    if (r.at < r.end)
        return fail_expected(&r, "the end of the document");
    return diag->errors == errors ? root : NULL;
}

struct node *node_read_json(struct arena *arena, const char *text, size_t len,
                            struct diag *diag)
{
    if (len <= HT_MAX_SPEC)
        return node_read_long_json(arena, text, len, diag);
    diag_error(diag, 0, 0, NULL,
               "the document has %zu bytes, at most %d are allowed", len,
               HT_MAX_SPEC);
    return NULL;
}

const struct node *node_read_stored(struct arena *arena, const char *json)
{
    struct diag diag;
    if (json == NULL || json[0] == '\0')
        return NULL;
    diag_init(&diag, arena, "stored", NULL, 0);
    return node_read_json(arena, json, strlen(json), &diag);
}
