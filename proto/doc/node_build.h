/* node_build.h - how the readers of JSON and YAML grow a tree of nodes. */
#ifndef HT_PROTO_DOC_NODE_BUILD_H
#define HT_PROTO_DOC_NODE_BUILD_H

#include "proto/doc/node.h"

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
