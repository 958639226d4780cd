/* shell.h - a change of a shell's environment: as words that the shell
 * evaluates, and as a record from which it can be undone. */
#ifndef HT_HYPERTUNE_CLI_FRAME_SHELL_H
#define HT_HYPERTUNE_CLI_FRAME_SHELL_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

enum { SHELL_MAX_VARIABLES = 64 };

struct shell_variable {
    const char *name;
    const char *value; /* NULL: it is not set */
};

/* At most one value for each name; open, zeroed at first. */
struct shell_change {
    struct shell_variable items[SHELL_MAX_VARIABLES];
    size_t n;
};

enum shell_syntax {
    SHELL_POSIX, /* sh, bash, zsh, dash */
    SHELL_FISH
};

/* The value in an environment, "" when it is empty, NULL when it is not there.
 */
const char *shell_value(char *const environment[], const char *name);

/* The change's entry of a variable; NULL: none. */
const struct shell_variable *shell_find(const struct shell_change *change,
                                        const char *name);
/* Sets, or with NULL unsets, a variable in place of an earlier entry. Both
 * texts are borrowed. Entries beyond the room, and names that no shell accepts,
 * are left out. */
void shell_set(struct shell_change *change, const char *name,
               const char *value);

/* Appends a line for each variable, ended by ";", so that it survives an
 * evaluation that makes one line of all. */
void shell_print(const struct shell_change *change, enum shell_syntax syntax,
                 struct text *out);
/* Appends a JSON object of name and value, null for an unset variable. */
void shell_print_record(const struct shell_change *change, struct text *out);
/* The change of such a record, texts in the arena; empty when it is none. */
void shell_read_record(struct arena *arena, const char *record,
                       struct shell_change *change);

#endif
