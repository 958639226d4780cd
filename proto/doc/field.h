/* field.h - reading a map by a table of its fields, and keeping what has no
 * effect.
 *
 * A reader of a document is a table: one row per field, with the function that
 * reads it and where the value goes. Every fault is added to the diagnostics
 * with its place and path, and reading continues. */
#ifndef HT_PROTO_DOC_FIELD_H
#define HT_PROTO_DOC_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

enum { FIELD_SYNONYMS = 9 };
struct field_synonym { /* what others call one of our fields or choices */
    const char *ours;  /* may be a field of a field, such as until.time; NULL
                          ends the table */
    const char *hint;  /* NULL: did you mean "OURS"? */
    const char *others[FIELD_SYNONYMS + 1]; /* across - and _ and case, ended
                                               by a NULL */
};

struct kept_list; /* below */

/* What the functions of rows work with; the caller fills it and keeps it while
 * it reads. */
struct field_reader {
    struct diag *diag;
    struct arena *arena; /* home of everything that is read */
    bool null_is_absent; /* Google's JSON: a null member was not said, a
                            duration is in seconds, a map of texts has no
                            numbers */
    const struct field_synonym *synonyms; /* NULL: none */
    struct kept_list *kept; /* takes what has no effect; NULL: no such form */
    struct kept_list *numbered; /* takes the names of enumerations that were
                                   sent as numbers; NULL: not needed */
};

struct place { /* a value in the document */
    const struct node *node;
    const char *path; /* such as parameters.lr.min */
};

struct field_choice { /* a name that an enumeration may have */
    const char *name; /* NULL ends the table */
    int number;       /* its protobuf number, -1: none */
    int value;        /* its enumerator */
};

struct field;
/* Reads the value at `at` into what a row's offset leads to. */
typedef void field_function(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into);

/* One row of a table; constant. Members that its `read` does not use are 0. */
struct field {
    const char *name; /* NULL ends the table, which `rows` continue */
    field_function *read;
    size_t offset;    /* of the result in what the map is read into */
    int64_t min, max; /* bounds of numbers; of lists: most items in max */
    const struct field_choice *choices; /* of field_choose */
    const struct field *rows;           /* of field_map and kept_map */
    field_function *check;              /* of kept_value: reads such a value */
    const char *(*fault)(const char *word); /* of field_word: what is wrong with
                                               it, NULL: nothing */
    bool may_be_empty; /* Google's JSON: then it was not said */
    size_t place; /* of a struct place: where the member is; 0: not stored */
    size_t said;  /* of a bool: whether it was read without a fault; 0: none */
};

/* Reads every member of the map at `at` by its row; a value that is no map and
 * a member without a row are errors. Absent members change nothing. */
void field_read_map(const struct field_reader *reader, struct place at,
                    const struct field fields[], void *into);

/* Has the table a row of that name? */
bool field_is_known(const struct field fields[], const char *name);

/* The member of the map at a place, with its path; its node is NULL when it is
 * absent (or null, when that means absent). */
struct place field_member(const struct field_reader *reader, struct place at,
                          const char *key);
/* The place of `node`, an item of the list or a member of the map at `at`, be
 * it null or not. */
struct place field_item(const struct field_reader *reader, struct place at,
                        const struct node *node, size_t index);
struct place field_child(const struct field_reader *reader, struct place at,
                         const struct node *node);
/* The items of the list at `at`, or what is no list as the only item, and
 * behind them a place without a node. */
const struct place *field_items(const struct field_reader *reader,
                                struct place at);
/* The members of the map at `at` in the same way. */
const struct place *field_members(const struct field_reader *reader,
                                  struct place at);

/* Adds a fault at the value; field_key_error() at its key. */
__attribute__((format(printf, 3, 4))) void
field_error(const struct field_reader *reader, struct place at,
            const char *format, ...);
__attribute__((format(printf, 3, 4))) void
field_warning(const struct field_reader *reader, struct place at,
              const char *format, ...);
__attribute__((format(printf, 3, 4))) void
field_key_error(const struct field_reader *reader, struct place at,
                const char *format, ...);
/* Adds "is missing: WHY" for a member of the map at `at`; WHY may be NULL. */
void field_missing(const struct field_reader *reader, struct place at,
                   const char *key, const char *why);
/* Adds "must be WANTED, not KIND"; false, for use in a return. */
bool field_wrong_kind(const struct field_reader *reader, struct place at,
                      const char *wanted);

/* The number at a place; false after adding a fault. */
bool field_read_real(const struct field_reader *reader, struct place at,
                     double *value);

/* What to write in place of `word`, which is none of the NULL-terminated
 * `names`: the name that others call so, or the nearest one, as a sentence for
 * diag_hint(). NULL when nothing comes near. */
const char *field_meant(const struct field_reader *reader, const char *word,
                        const char *const names[]);

/* Functions of rows. Each writes the member at `offset` only when the value is
 * good. */
field_function field_whole;     /* int64_t within min..max */
field_function field_real;      /* double, within min..max if max is over min */
field_function field_flag;      /* bool */
field_function field_text;      /* const char * */
field_function field_word;      /* const char *, in which `fault` finds none */
field_function field_name;      /* const char *, a name by field_is_name() */
field_function field_metric;    /* const char *, a metric's name */
field_function field_texts;     /* struct strings */
field_function field_scalars;   /* the same of scalars of any kind */
field_function field_pairs;     /* struct pairs from a map of scalars */
field_function field_variables; /* the same, keys being environment names */
field_function field_variable_names; /* struct strings of such names */
field_function field_duration;       /* int64_t milliseconds */
field_function field_bytes;          /* int64_t, a size within min..max */
field_function field_moment;         /* int64_t ms since 1970, from RFC 3339 */
field_function field_choose;         /* an enum */
field_function field_map;            /* whatever `rows` say, from offset */
field_function field_place;          /* struct place: looked at later */
field_function field_skip; /* nothing: known and without meaning here */

/* The row's choice that the value names; NULL after adding an error. */
const struct field_choice *field_choice(const struct field_reader *reader,
                                        struct place at,
                                        const struct field *field);

/* The first name of a value that the table has. */
const char *field_choice_name(const struct field_choice *choice, int value);

/* Reads the list at `at` into texts; scalars of any kind when `scalars`. */
bool field_read_texts(const struct field_reader *reader, struct place at,
                      size_t most, bool scalars, struct strings *texts);

/* A variable that a job may set: a letter or _, then letters, digits and _;
 * none of the runner's own HYPERTUNE_*. Otherwise an error, and a warning when
 * the runner will replace it. */
bool field_is_variable(const struct field_reader *reader, struct place at,
                       const char *name);

/* Whether a program can be started with the text as an argument or the value
 * of a variable, by its length; otherwise an error. */
bool field_is_word(const struct field_reader *reader, struct place at,
                   const char *text);

/* 1 to HT_MAX_NAME bytes without control characters and outer blanks; AI
 * Platform has always allowed "Model Accuracy". Otherwise an error. */
bool field_is_metric(const struct field_reader *reader, struct place at,
                     const char *name);

/* 1 to HT_MAX_NAME letters, digits and _ . / -; otherwise an error. */
bool field_is_name(const struct field_reader *reader, struct place at,
                   const char *name);

/* ---- members that a form knows and that have no effect here ----
 *
 * They are checked like any other, named in a warning each, stored as job.kept,
 * and written back at their place. What is at its default value asks for
 * nothing, so it is kept without a warning. */

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
