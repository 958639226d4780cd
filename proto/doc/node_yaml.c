/* node_yaml.c - YAML as nodes through libyaml: decides what a plain scalar
 * means, refuses anchors, aliases, tags and merge keys. Recursion is bounded by
 * HT_MAX_DEPTH. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "proto/base/limits.h"
#include "proto/doc/node.h"
#include "proto/doc/yaml_hint.h"

/* ---- plain scalars ---- */

static const char decimal[] = "0123456789";

struct word {
    const char *plain;
    enum node_kind kind;
    const char *text;
};

static const struct word words[] = {
    {"", NODE_NULL, "null"},       {"~", NODE_NULL, "null"},
    {"null", NODE_NULL, "null"},   {"Null", NODE_NULL, "null"},
    {"NULL", NODE_NULL, "null"},   {"true", NODE_BOOL, "true"},
    {"True", NODE_BOOL, "true"},   {"TRUE", NODE_BOOL, "true"},
    {"false", NODE_BOOL, "false"}, {"False", NODE_BOOL, "false"},
    {"FALSE", NODE_BOOL, "false"},
};

/* 0x1F and 0o17 in decimal, NULL when it is neither or above 64 bits. */
static const char *read_prefixed(struct arena *arena, const char *plain)
{
    static const char hexadecimal[] = "0123456789abcdefABCDEF";
    if (plain[0] != '0' || (plain[1] != 'x' && plain[1] != 'o'))
        return NULL;
    const bool is_hex = plain[1] == 'x';
    const char *digits = plain + 2;
    if (*digits == '\0' ||
        digits[strspn(digits, is_hex ? hexadecimal : "01234567")] != '\0')
        return NULL;
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, is_hex ? 16 : 8);
    return errno == 0 ? arena_printf(arena, "%llu", value) : NULL;
}

/* The parts of [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
struct parts {
    bool minus;
    const char *whole, *fraction, *exponent;
    size_t n_whole, n_fraction;
};

static bool split(const char *plain, struct parts *parts)
{
    *parts = (struct parts){.minus = *plain == '-'};
    const char *p = plain + (*plain == '-' || *plain == '+');
    parts->whole = p;
    parts->n_whole = strspn(p, decimal);
    p += parts->n_whole;
    parts->fraction = p;
    if (*p == '.') {
        parts->fraction = p + 1;
        parts->n_fraction = strspn(p + 1, decimal);
        p += 1 + parts->n_fraction;
    }
    parts->exponent = p;
    if (parts->n_whole + parts->n_fraction == 0)
        return false;
    if (*p == '\0')
        return true;
    if (*p != 'e' && *p != 'E')
        return false;
    p += 1 + (p[1] == '-' || p[1] == '+');
    return *p != '\0' && p[strspn(p, decimal)] == '\0';
}

static const char *read_decimal(struct arena *arena, const char *plain)
{
    struct parts parts;
    if (!split(plain, &parts))
        return NULL;
    while (parts.n_whole > 1 && *parts.whole == '0') {
        parts.whole++;
        parts.n_whole--;
    }
    return arena_printf(arena, "%s%.*s%s%.*s%s", parts.minus ? "-" : "",
                        parts.n_whole ? (int)parts.n_whole : 1,
                        parts.n_whole ? parts.whole : "0",
                        parts.n_fraction ? "." : "", (int)parts.n_fraction,
                        parts.fraction, parts.exponent);
}

/* The kind of a scalar written without quotes, by the YAML 1.2 core schema;
 * *text is what a node of that kind holds, either `plain` itself, a constant,
 * or memory of the arena. Numbers that JSON has no form for (.inf, .nan, more
 * than 64 bits of hexadecimal) stay text, for the reader above to refuse. */
static enum node_kind read_plain(struct arena *arena, const char *plain,
                                 const char **text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(plain, words[i].plain) == 0) {
            *text = words[i].text;
            return words[i].kind;
        }
    }
    const char *number = read_prefixed(arena, plain);
    if (number == NULL)
        number = read_decimal(arena, plain);
    *text = number != NULL ? number : plain;
    return number != NULL ? NODE_NUMBER : NODE_STRING;
}

/* Whether YAML 1.2 ignores zeros in front of this plain number: 007, -01. */
static bool has_leading_zero(const char *plain)
{
    struct parts parts;
    return split(plain, &parts) && parts.n_whole > 1 && *parts.whole == '0';
}

/* ---- events ---- */

struct reader {
    struct arena *arena;
    struct diag *diag;
    const char *text, *end; /* the document behind a byte order mark */
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    bool stopped;       /* by a fault behind which nothing can be read */
    int depth;          /* lists and maps that are open */
    /* A character whose place is known, and its number from 0. */
    const char *known;
    size_t known_index;
    struct node_place place;
};

static struct node *read_node(struct reader *r);

/* libyaml counts characters; its lines also end at U+0085 and U+2028, which no
 * editor shows, so lines and columns are counted here. */
static struct node_place place_of(struct reader *r, yaml_mark_t mark)
{
    if (mark.index < r->known_index) {
        r->known = r->text;
        r->known_index = 0;
        r->place = (struct node_place){1, 1};
    }
    while (r->known_index < mark.index && r->known < r->end) {
        const char *next = r->known + 1;
        while (next < r->end && ((unsigned char)*next & 0xC0) == 0x80)
            next++;
        r->place = node_place_after(r->place, r->known, next);
        r->known = next;
        r->known_index++;
    }
    return r->place;
}

static struct node_place here(struct reader *r)
{
    return place_of(r, r->event.start_mark);
}

__attribute__((format(printf, 3, 4))) static void
fail(struct reader *r, struct node_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(r->arena, format, args);
    va_end(args);
    diag_error(r->diag, place.line, place.column, NULL, "%s", text);
}

/* ---- syntax: libyaml's words made human ---- */

enum fault_place {
    AT_FAULT,    /* shown where libyaml gave up */
    AT_START,    /* shown where the unfinished thing began */
    NAMES_START, /* at the fault, and says on which line the thing began */
};

struct fault {
    const char *problem; /* as libyaml says it */
    enum fault_place place;
    const char *text, *hint;
};

static const struct fault faults[] = {
    {"mapping values are not allowed in this context", AT_FAULT,
     "a ':' is not allowed here",
     "quote text that holds \": \", or check the indentation"},
    {"found unexpected ':'", AT_FAULT, "a ':' is not allowed here",
     "quote text that holds a ':'"},
    {"could not find expected ':'", AT_START, "this key has no ':' after it",
     "write it as \"key: value\""},
    {"did not find expected key", NAMES_START, "expected a key of the map",
     "keys of one map begin in the same column"},
    {"did not find expected '-' indicator", NAMES_START,
     "expected a '-' of the list",
     "items of one list begin in the same column"},
    {"did not find expected ',' or ']'", NAMES_START,
     "expected ',' or ']' in the list", NULL},
    {"did not find expected ',' or '}'", NAMES_START,
     "expected ',' or '}' in the map", NULL},
    {"did not find expected node content", AT_FAULT, "expected a value", NULL},
    {"did not find expected <document start>", AT_FAULT,
     "expected the end of the document", "check the indentation"},
    {"found unexpected end of stream", AT_START,
     "this text has no closing quote", NULL},
    {"found unexpected document indicator", AT_START,
     "this text has no closing quote", NULL},
    {"found unknown escape character", AT_FAULT,
     "there is no such escape in double quotes",
     "use single quotes, where a backslash is itself"},
    {"did not find expected hexdecimal number", AT_FAULT,
     "expected a hexadecimal digit", NULL},
    {"found invalid Unicode character escape code", AT_FAULT,
     "this escape is no Unicode character", NULL},
    {"block sequence entries are not allowed in this context", AT_FAULT,
     "a '-' cannot begin a list here", "begin the list on a line of its own"},
    {"did not find expected alphabetic or numeric character", AT_START,
     "text cannot begin with '*' or '&'", "put it in quotes"},
    {"found undefined tag handle", AT_START, "tags (!name) are not supported",
     "put text that begins with '!' in quotes"},
};

static bool is_indented_by_tab(const struct reader *r)
{
    const char *line = r->known;
    while (line > r->text && line[-1] != '\n')
        line--;
    for (; line < r->end && (*line == ' ' || *line == '\t'); line++) {
        if (*line == '\t')
            return true;
    }
    return false;
}

/* A byte that is not UTF-8, or no character of YAML. */
static void fail_byte(struct reader *r)
{
    size_t at = r->parser.problem_offset;
    size_t len = (size_t)(r->end - r->text);
    at = at < len ? at : len;
    struct node_place place =
        node_place_after((struct node_place){1, 1}, r->text, r->text + at);
    if (strcmp(r->parser.problem, "control characters are not allowed") == 0)
        fail(r, place, "the control character U+%04X is not allowed",
             (unsigned)r->parser.problem_value);
    else
        fail(r, place, "a byte here is not UTF-8");
}

static void fail_fault(struct reader *r, const struct fault *fault)
{
    bool has_start = r->parser.context != NULL;
    struct node_place start = place_of(r, r->parser.context_mark);
    const char *start_at = r->known;
    struct node_place place = place_of(r, r->parser.problem_mark);
    const bool at_start = fault->place == AT_START && has_start;
    if (at_start)
        fail(r, start, "%s", fault->text);
    else if (fault->place == NAMES_START && has_start)
        fail(r, place, "%s that began on line %d", fault->text, start.line);
    else
        fail(r, place, "%s", fault->text);
    const char *hint =
        yaml_hint(r->arena, r->text, at_start ? start_at : r->known, r->end);
    if (hint == NULL)
        hint = fault->hint;
    if (hint != NULL)
        diag_hint(r->diag, "%s", hint);
}

/* Says what libyaml found wrong; the hint is ours. */
static void fail_syntax(struct reader *r)
{
    if (r->parser.error == YAML_MEMORY_ERROR)
        ht_out_of_memory();
    if (r->parser.error == YAML_READER_ERROR) {
        fail_byte(r);
        return;
    }
    struct node_place place = place_of(r, r->parser.problem_mark);
    if (is_indented_by_tab(r)) {
        fail(r, place, "a tab indents this line");
        diag_hint(r->diag, "YAML is indented by blanks only");
        return;
    }
    if (strcmp(r->parser.problem,
               "found character that cannot start any token") == 0) {
        fail(r, place, "text cannot begin with '%c'",
             r->known < r->end ? *r->known : ' ');
        diag_hint(r->diag, "put it in quotes");
        return;
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(r->parser.problem, faults[i].problem) == 0) {
            fail_fault(r, &faults[i]);
            return;
        }
    }
    fail(r, place, "%s", r->parser.problem);
}

/* ---- events ---- */

/* Makes the next event the current one; false once the reader has stopped. */
static bool next_event(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event)) {
        fail_syntax(r);
        r->stopped = true;
    }
    return !r->stopped;
}

static bool skip_events(struct reader *r, int n)
{
    while (n > 0 && next_event(r))
        n--;
    return n == 0;
}

static bool is_event(const struct reader *r, yaml_event_type_t type)
{
    return r->event.type == type;
}

static void refuse_anchor(struct reader *r, const yaml_char_t *anchor)
{
    if (anchor == NULL)
        return;
    fail(r, here(r), "anchors (&%s) are not supported", (const char *)anchor);
    diag_hint(r->diag, "write the value out wherever it is needed; text that "
                       "begins with '&' needs quotes");
}

/* libyaml writes "!!str" out as "tag:yaml.org,2002:str". */
static void refuse_tag(struct reader *r, const yaml_char_t *tag)
{
    static const char core[] = "tag:yaml.org,2002:";
    const char *name = (const char *)tag;
    if (name == NULL)
        return;
    if (strncmp(name, core, strlen(core)) == 0)
        fail(r, here(r), "tags (!!%s) are not supported", name + strlen(core));
    else
        fail(r, here(r), "tags (%s) are not supported", name);
    diag_hint(r->diag, "remove it; quotes make text");
}

/* The text of the current scalar, in the arena. */
static const char *copy_scalar(struct reader *r)
{
    const char *value = (const char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    if (memchr(value, '\0', len) != NULL)
        fail(r, here(r), "a NUL character (\\0) is not allowed in text");
    return arena_strndup(r->arena, value, len);
}

static bool is_plain(const struct reader *r)
{
    return r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static struct node *read_scalar(struct reader *r)
{
    refuse_anchor(r, r->event.data.scalar.anchor);
    refuse_tag(r, r->event.data.scalar.tag);
    struct node_place place = here(r);
    enum node_kind kind = NODE_STRING;
    const char *text = copy_scalar(r);
    if (is_plain(r)) {
        if (has_leading_zero(text)) {
            diag_warning(r->diag, place.line, place.column, NULL,
                         "%s is read as a number without its leading zero",
                         text);
            diag_hint(r->diag, "put it in quotes if it is text");
        }
        kind = read_plain(r->arena, text, &text);
    }
    return node_new(r->arena, kind, text, place);
}

/* The key that the current event is, NULL after an error. */
static const char *read_key(struct reader *r)
{
    if (!is_event(r, YAML_SCALAR_EVENT)) {
        if (!is_event(r, YAML_ALIAS_EVENT))
            fail(r, here(r), "a key must be text, not a list or a map");
        read_node(r);
        return NULL;
    }
    refuse_anchor(r, r->event.data.scalar.anchor);
    refuse_tag(r, r->event.data.scalar.tag);
    const char *key = copy_scalar(r);
    if (is_plain(r) && *key == '\0') {
        fail(r, here(r), "there is no key before this ':'");
        return NULL;
    }
    if (is_plain(r) && strcmp(key, "<<") == 0) {
        fail(r, here(r), "merge keys (<<) are not supported");
        diag_hint(r->diag, "write the members out");
        return NULL;
    }
    return key;
}

/* A key and its value; the node has no key when that was wrong. */
static struct node *read_member(struct reader *r)
{
    struct node_place place = here(r);
    const char *key = read_key(r);
    if (r->stopped || !next_event(r))
        return NULL;
    struct node *member = read_node(r);
    if (member == NULL || key == NULL)
        return member;
    member->key = key;
    member->key_line = place.line;
    member->key_column = place.column;
    return member;
}

static struct node *read_children(struct reader *r, enum node_kind kind)
{
    const bool is_map = kind == NODE_MAP;
    struct node *parent = node_new(r->arena, kind, NULL, here(r));
    struct node *tail = NULL;
    if (++r->depth > HT_MAX_DEPTH) {
        fail(r, here(r), "lists and maps nest deeper than %d levels",
             HT_MAX_DEPTH);
        r->stopped = true;
        return NULL;
    }
    const yaml_event_type_t end =
        is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    while (next_event(r) && !is_event(r, end)) {
        struct node *child = is_map ? read_member(r) : read_node(r);
        if (child == NULL)
            return NULL;
        if (!is_map || child->key != NULL)
            node_append(parent, &tail, child);
    }
    if (r->stopped)
        return NULL;
    if (is_map)
        node_check_keys(parent, r->diag);
    r->depth--;
    return parent;
}

/* The node that the current event begins; NULL once the reader has stopped. */
static struct node *read_node(struct reader *r)
{
    if (is_event(r, YAML_SCALAR_EVENT))
        return read_scalar(r);
    if (is_event(r, YAML_SEQUENCE_START_EVENT)) {
        refuse_anchor(r, r->event.data.sequence_start.anchor);
        refuse_tag(r, r->event.data.sequence_start.tag);
        return read_children(r, NODE_LIST);
    }
    if (is_event(r, YAML_MAPPING_START_EVENT)) {
        refuse_anchor(r, r->event.data.mapping_start.anchor);
        refuse_tag(r, r->event.data.mapping_start.tag);
        return read_children(r, NODE_MAP);
    }
    fail(r, here(r), "aliases (*%s) are not supported",
         (const char *)r->event.data.alias.anchor);
    diag_hint(r->diag,
              "write the value out; text that begins with '*' needs quotes");
    return node_new(r->arena, NODE_NULL, "null", here(r));
}

/* STREAM-START DOCUMENT-START node DOCUMENT-END STREAM-END, and nothing else.
 */
static struct node *read_document(struct reader *r)
{
    if (!skip_events(r, 2))
        return NULL;
    if (is_event(r, YAML_STREAM_END_EVENT)) {
        diag_error(r->diag, 0, 0, NULL, "the document is empty");
        return NULL;
    }
    if (!next_event(r))
        return NULL;
    struct node *root = read_node(r);
    if (root == NULL || !skip_events(r, 2))
        return NULL;
    if (!is_event(r, YAML_STREAM_END_EVENT)) {
        fail(r, here(r), "a second document begins here");
        diag_hint(r->diag, "keep one document in a file");
    }
    return root;
}

/* Of any length. */
static struct node *read_yaml(struct arena *arena, const char *text, size_t len,
                              struct diag *diag)
{
    struct reader r = {.arena = arena, .diag = diag, .place = {1, 1}};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    r.text = r.known = text;
    r.end = text + len;
    if (!yaml_parser_initialize(&r.parser))
        ht_out_of_memory();
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    size_t errors = diag->errors;
    struct node *root = read_document(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return diag->errors == errors ? root : NULL;
}

struct node *node_read_yaml(struct arena *arena, const char *text, size_t len,
                            struct diag *diag)
{
    if (len <= HT_MAX_YAML)
        return read_yaml(arena, text, len, diag);
    diag_error(diag, 0, 0, NULL,
               "the document has %zu bytes, at most %d are allowed", len,
               HT_MAX_YAML);
    return NULL;
}

static bool is_json(const char *text, size_t len)
{
    size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < len && (text[at] == ' ' || text[at] == '\t' ||
                        text[at] == '\r' || text[at] == '\n'))
        at++;
    return at < len && (text[at] == '{' || text[at] == '[');
}

struct node *node_read(struct arena *arena, const char *text, size_t len,
                       struct diag *diag)
{
    return is_json(text, len) ? node_read_json(arena, text, len, diag)
                              : node_read_yaml(arena, text, len, diag);
}

struct node *node_read_long(struct arena *arena, const char *text, size_t len,
                            struct diag *diag)
{
    return is_json(text, len) ? node_read_long_json(arena, text, len, diag)
                              : read_yaml(arena, text, len, diag);
}
