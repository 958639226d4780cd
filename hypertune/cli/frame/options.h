/* options.h - reads a command line by a table of options, which has everything
 * about an option: name, letter, kind, place of the value, help. */
#ifndef HT_HYPERTUNE_CLI_FRAME_OPTIONS_H
#define HT_HYPERTUNE_CLI_FRAME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/base/words.h"

enum option_kind {
    OPTION_FLAG,  /* bool, set to true */
    OPTION_TEXT,  /* const char * */
    OPTION_WHOLE, /* int64_t, 0 or more; see OPTION_MORE */
    OPTION_SPAN,  /* int64_t milliseconds, "90s", "2h30m" */
    OPTION_LIST   /* struct words, one item each time it is given */
};

/* Where "+" is among the allowed options, +N is stored as OPTION_MORE - N: so
 * many more than there are. Elsewhere it is no number. */
enum { OPTION_MORE = -2 };

struct option_spec {
    const char *name;      /* without dashes; NULL ends a table */
    char letter;           /* short form, 0: none */
    bool everywhere;       /* a global option, allowed for every command */
    enum option_kind kind; /* type behind `offset` */
    size_t offset;         /* of the field in the target struct */
    const char *value;     /* how help calls the value, NULL for a flag */
    const char *help;      /* one line */
};

struct options_parser {
    struct arena *arena;
    const struct option_spec *table; /* ended by a NULL name */
    void *target;                    /* struct that the offsets are of */
    const char *allowed; /* names apart by blanks; "" : global ones only; with
                            "+" among them counts may be +N; with
                            "*" among them any other --NAME=VALUE is the word
                            NAME=VALUE */
    const char *command; /* for messages: "hypertune list" */
};

struct option_result {
    struct words words; /* arguments that are no options */
    struct words rest;  /* what followed "--" */
    bool has_rest;      /* there was a "--" */
};

/* The option of that name; NULL: none. */
const struct option_spec *cli_options_find(const struct option_spec table[],
                                           const char *name, size_t len);

/* Reads a count from 0, with `more` also +N from 1, as said above. */
bool cli_options_count(const char *text, bool more, int64_t *value);

/* Reads argv[0..argc). Accepts --name value, --name=value, -x value, -xvalue,
 * bundled flags (-qv), and "-" as a word; later values replace earlier ones.
 * The target may be partly written on failure.
 * HT_INVALID  unknown option, a value is missing, superfluous or malformed */
enum ht_status cli_options_parse(const struct options_parser *parser, int argc,
                                 char *const argv[],
                                 struct option_result *result,
                                 struct ht_error *err);

/* Reads options up to the first word; *used is the number of entries of argv
 * that it read. For the options before a command's name. Same failures. */
enum ht_status cli_options_parse_leading(const struct options_parser *parser,
                                         int argc, char *const argv[],
                                         int *used, struct ht_error *err);

/* Appends one help line for each option that is allowed: the command's own
 * (global false) or those allowed everywhere. */
void cli_options_help(const struct option_spec table[], const char *allowed,
                      bool global, struct text *out);

#endif
