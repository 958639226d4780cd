/* diag.h - the errors and warnings found in one document, each with its place.
 *
 * Readers add and continue, so that a person sees every fault at once. Printing
 * is one format, everywhere:
 *
 *     spec.yaml:14:17: error: parameters.lr.min: is 1e-1 but max is 1e-5
 *        14 |   lr: {min: 1e-1, max: 1e-5}
 *           |             ^~~~ must be smaller than max
 */
#ifndef HT_PROTO_DOC_DIAG_H
#define HT_PROTO_DOC_DIAG_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

enum diag_kind { DIAG_ERROR, DIAG_WARNING };

/* In the diagnostics' arena. */
struct diag_item {
    enum diag_kind kind;
    int line, column; /* from 1; 0 when there is no place */
    const char *path; /* field path such as parameters.lr.min; may be "" */
    const char *text; /* what is wrong */
    const char *hint; /* how to repair it, NULL when nothing is known */
    struct diag_item *next;
};

/* `errors` and `warnings` count also what is not kept as an item. */
struct diag {
    struct arena *arena; /* borrowed; owns the items */
    const char *file;    /* name shown before the line */
    const char *source;  /* whole text for excerpts, may be NULL */
    size_t source_len;
    size_t errors, warnings; /* counts */
    struct diag_item *first, **last;
};

/* Makes an empty list; every pointer is borrowed for the life of `diag`. */
void diag_init(struct diag *diag, struct arena *arena, const char *file,
               const char *source, size_t source_len);

/* Adds an item. `path` may be NULL. At most 100 items are kept (all are
 * counted), so a hostile document cannot fill memory. */
__attribute__((format(printf, 5, 6))) void diag_error(struct diag *diag,
                                                      int line, int column,
                                                      const char *path,
                                                      const char *format, ...);
__attribute__((format(printf, 5, 6))) void
diag_warning(struct diag *diag, int line, int column, const char *path,
             const char *format, ...);
/* Sets the hint of the item added last. */
__attribute__((format(printf, 2, 3))) void diag_hint(struct diag *diag,
                                                     const char *format, ...);

/* Appends every item in order of place, with its source line (100 columns of a
 * long one) and a caret, foreign bytes escaped. Without a source the hint
 * is in brackets behind the sentence. */
void diag_print(const struct diag *diag, struct text *out);

#endif
