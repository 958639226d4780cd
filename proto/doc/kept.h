/* kept.h - members that a form knows and that have no effect here.
 *
 * They are checked like any other, told in a warning each, stored as
 * job.kept, and written back at their place. What is at its default value
 * asks for nothing, so it is kept without a warning. */
#ifndef HT_PROTO_DOC_KEPT_H
#define HT_PROTO_DOC_KEPT_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"

/* A member that is known and echoed but has no effect here. */
struct kept {
    const char *path; /* "trialJobSpec.network"; of Vertex where it has one */
    const char *json; /* its value */
    struct kept *next;
};

struct kept_list {
    struct kept *first, **last;
};

/* Makes an empty list; it must not move while a reader points to it. */
void kept_init(struct kept_list *list);

/* Rows of a table: what `check` of the row has nothing against is kept. */
field_function kept_value;
field_function kept_text;   /* the same of a text */
field_function kept_choice; /* kept as its name */

/* The members of the message, by `rows` that keep; an empty one is kept too. */
field_function kept_map;

/* Of the message that both forms have for the key of an encryption. */
extern const struct field kept_encryption_rows[];

/* Keeps the value at `at` without a word. */
void kept_silently(const struct field_reader *reader, struct place at);
/* The same of an enumeration's value, by its name. */
void kept_name(const struct field_reader *reader, struct place at,
               const struct field_choice *choice);

/* Adds the name of an enumeration at its place to a list. */
void kept_add_name(struct kept_list *list, struct arena *arena, struct place at,
                   const struct field_choice *choice);

/* Whether a text from outside can be such a path: names, some with the index
 * of an item behind them, joined by dots. */
bool kept_is_path(const char *text);

/* Puts the value where its path leads from `root`: members by name, items of
 * lists by index; what is missing on the way is made, what is there already is
 * replaced. */
void kept_put(cJSON *root, const struct kept *kept);

#endif
