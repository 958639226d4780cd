/* document.h - one document read for a test: its tree and what diag said. */
#ifndef HT_TESTS_LIB_DOCUMENT_H
#define HT_TESTS_LIB_DOCUMENT_H

#include <stddef.h>

#include "proto/doc/node.h"

typedef struct node *(*document_reader)(struct arena *, const char *, size_t,
                                        struct diag *);

struct document {
    struct arena *arena;
    struct diag diag;
    struct node *root; /* NULL after errors */
};

/* Reads `len` bytes, named "spec" in messages. */
void document_read(struct document *document, document_reader reader,
                   const char *text, size_t len);
void document_free(struct document *document);

/* Whether the text reads without any error or warning into a tree that prints
 * as `json`, compactly; says what came instead when not. */
int document_is(document_reader reader, const char *text, const char *json);

/* Whether reading fails with a first item "LINE:COLUMN: TEXT" as `want`. */
int document_fails(document_reader reader, const char *text, size_t len,
                   const char *want);

#endif
