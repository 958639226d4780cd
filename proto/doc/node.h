/* node.h - a document from outside as one tree that remembers its places; a key
 * given twice is refused, in YAML and JSON.
 *
 * JSON and YAML become the same tree, so every reader above is written once
 * and every complaint can name file:line:column. A tree is in the arena it
 * was read into and is never changed afterwards. */
#ifndef HT_PROTO_DOC_NODE_H
#define HT_PROTO_DOC_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/doc/diag.h"

/* JSON's kinds; YAML's documents have the same. */
enum node_kind {
    NODE_NULL,   /* text is "null" */
    NODE_BOOL,   /* text is "true" or "false" */
    NODE_NUMBER, /* text is the number as it was written, in JSON's grammar */
    NODE_STRING, /* text is decoded UTF-8 without NUL bytes */
    NODE_LIST,   /* children are the items */
    NODE_MAP     /* children carry keys, unique within the map */
};

/* A value with its place in the document; all of it is in the arena. */
struct node {
    enum node_kind kind;
    const char *text;         /* scalars only, NUL-terminated; else NULL */
    const char *key;          /* of a map's child; else NULL */
    int line, column;         /* of the value, from 1 */
    int key_line, key_column; /* of the key, from 1; 0 without a key */
    size_t count;             /* children */
    struct node *first;       /* first child, NULL when empty */
    struct node *next;        /* next sibling */
};

/* Reads one whole document. On any fault the place and the reason are added to
 * diag and NULL is returned.
 *
 * JSON is strict RFC 8259: no trailing text, no duplicate keys, no comments,
 * valid UTF-8, no \u0000, at most HT_MAX_DEPTH levels, HT_MAX_SPEC bytes.
 * YAML is one document, HT_MAX_YAML bytes, YAML 1.2 core scalars (only true
 * and false are booleans), without anchors, aliases, tags, merge keys. Numbers
 * that JSON writes otherwise (0x1F, +.5) are in JSON's form; .inf, .nan are
 * text. */
struct node *node_read_json(struct arena *arena, const char *text, size_t len,
                            struct diag *diag);
/* As node_read_json() in every other respect. */
struct node *node_read_yaml(struct arena *arena, const char *text, size_t len,
                            struct diag *diag);
/* JSON of any length, for text that the caller has bounded. */
struct node *node_read_long_json(struct arena *arena, const char *text,
                                 size_t len, struct diag *diag);
/* JSON whose faults are reported to no one, such as a stored text; NULL when it
 * is NULL, empty or wrong. */
const struct node *node_read_stored(struct arena *arena, const char *json);
/* JSON when the first byte that is not white space is '{' or '[', else YAML. */
struct node *node_read(struct arena *arena, const char *text, size_t len,
                       struct diag *diag);
/* The same of any length, for text that the caller has bounded. */
struct node *node_read_long(struct arena *arena, const char *text, size_t len,
                            struct diag *diag);

/* The child of a map by key, NULL when absent or `map` is NULL or no map. */
const struct node *node_find(const struct node *map, const char *key);
/* The first child of that member, NULL when it is absent or empty: where a loop
 * over the items of a list begins. */
const struct node *node_first(const struct node *map, const char *key);
/* The first child of a list or map, NULL when it is empty or `list` is NULL. */
const struct node *node_items(const struct node *list);
/* A loop over `start`, which may be NULL, and the siblings after it. A name
 * that is declared cannot be in parentheses.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define NODE_EACH(item, start)                                                 \
    for (const struct node *item = (start); item != NULL; item = item->next)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Conversions; false when the kind or the text does not fit (range, fraction,
 * not finite). Numbers accept NODE_NUMBER and, as Google's clients send int64
 * as text, NODE_STRING holding just a number. 1e3 and 5.0 are integers too. */
bool node_int64(const struct node *node, int64_t *value);
bool node_double(const struct node *node, double *value); /* finite only */
/* The texts "NaN", "Infinity" and "-Infinity", for which JSON has no number. */
bool node_special_double(const struct node *node, double *value);
/* NODE_BOOL only: texts such as "true" are none. */
bool node_bool(const struct node *node, bool *value);
/* The text of a NODE_STRING, else NULL. */
const char *node_string(const struct node *node);

/* Convenience for documents that our own programs wrote: the member's value,
 * or the fallback when it is absent or of another kind. */
int64_t node_get_int(const struct node *map, const char *key, int64_t fallback);
/* Also the texts of node_special_double(), so the result may be not finite. */
double node_get_double(const struct node *map, const char *key,
                       double fallback); /* also "NaN", "Infinity" texts */
/* Borrowed from the tree, or the fallback itself. */
const char *node_get_string(const struct node *map, const char *key,
                            const char *fallback);
/* False is a value, too: the fallback is for an absent member. */
bool node_get_bool(const struct node *map, const char *key, bool fallback);

/* Appends a node as block YAML 1.2; every text that could be read as another
 * kind is quoted. */
void node_write_yaml(const struct node *node, struct text *out);

const char *node_kind_name(enum node_kind kind); /* "a list", "text", ... */

/* ---- for the readers of JSON and YAML, which grow a tree ---- */

struct node_place {
    int line, column; /* from 1 */
};

/* A node without parent; `text` is borrowed and NULL for lists and maps. */
struct node *node_new(struct arena *arena, enum node_kind kind,
                      const char *text, struct node_place place);

/* Makes `child` the last child of `parent`; *tail is its last child so far,
 * NULL at first, and is moved on. */
void node_append(struct node *parent, struct node **tail, struct node *child);

/* Adds an error for every key of the map that was given before in it. */
void node_check_keys(const struct node *map, struct diag *diag);

/* The line and column of the byte `to`, counting from `from` whose place is
 * known. Lines end with "\n"; columns count code points. */
struct node_place node_place_after(struct node_place place, const char *from,
                                   const char *to);

#endif
