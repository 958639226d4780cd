/* flags.h - reads a command line by a table of flags, which has everything
 * about a flag: name, letter, kind, place of the value, help.
 *
 * The command has words, letters and subcommands (flags_parse); a server
 * program has flags alone, each with a variable of the environment
 * (flags_read). */
#ifndef HT_PROTO_BASE_FLAGS_H
#define HT_PROTO_BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/base/words.h"

/* The type of the member that a flag sets. */
enum flag_kind {
    FLAG_TRUE,     /* bool, set to true */
    FLAG_SWITCH,   /* bool; --share and --share=1 set it, --share=0 unsets it */
    FLAG_ORDER,    /* the same, without a variable: not to be inherited */
    FLAG_TEXT,     /* const char * */
    FLAG_LIST,     /* struct words, one item each time it is given */
    FLAG_WHOLE,    /* int64_t, 0 or more; see FLAG_MORE */
    FLAG_COUNT,    /* int64_t, from 0 to FLAG_MOST_COUNT */
    FLAG_POSITIVE, /* int64_t, from 1 to FLAG_MOST_COUNT */
    FLAG_DURATION  /* int64_t milliseconds, written as clock.h reads them */
};

enum { FLAG_MOST_COUNT = 1000 };

/* Where "+" is among the allowed flags, +N is stored as FLAG_MORE - N: so many
 * more than there are. Elsewhere it is no number. */
enum { FLAG_MORE = -2 };

struct flag {
    const char *name;  /* without dashes; NULL ends a table */
    const char *value; /* how help calls the value, NULL: it takes none */
    size_t offset;     /* of the member in the target struct */
    const char *help;  /* one sentence */
    enum flag_kind kind;
    char letter;     /* short form, 0: none */
    bool everywhere; /* allowed for every command */
};

/* A flag of a server program. */
#define FLAG(name, value, kind, offset, help)                                  \
    {                                                                          \
        name, value, offset, help, kind, 0, true                               \
    }

/* The flag of that name; NULL: none. */
const struct flag *flags_find(const struct flag table[], const char *name,
                              size_t len);

/* Reads a count from 0, with `more` also +N from 1, as said above. */
bool flags_read_count(const char *text, bool more, int64_t *value);

/* ---- the command ---- */

struct flags_parser {
    struct arena *arena;
    const struct flag *table;
    void *target;        /* struct that the offsets are of */
    const char *allowed; /* names apart by blanks; "": those everywhere only;
                            with "+" among them counts may be +N; with "*"
                            among them any other --NAME=VALUE is the word
                            NAME=VALUE */
    const char *command; /* for messages: "hypertune list" */
};

struct flags_result {
    struct words words; /* arguments that are no flags */
    struct words rest;  /* what followed "--" */
    bool has_rest;      /* there was a "--" */
};

/* Reads argv[0..argc). Accepts --name value, --name=value, -x value, -xvalue,
 * bundled letters (-qv), and "-" as a word; later values replace earlier ones.
 * The target may be partly written on failure.
 * HT_INVALID  unknown flag, a value is missing, superfluous or malformed */
enum ht_status flags_parse(const struct flags_parser *parser, int argc,
                           char *const argv[], struct flags_result *result,
                           struct ht_error *err);

/* Reads flags up to the first word; *used is the number of entries of argv
 * that it read. For the flags before a command's name. Same failures. */
enum ht_status flags_parse_leading(const struct flags_parser *parser, int argc,
                                   char *const argv[], int *used,
                                   struct ht_error *err);

/* Appends one help line for each flag that is allowed: the command's own
 * (everywhere false) or those allowed everywhere. */
void flags_help(const struct flag table[], const char *allowed, bool everywhere,
                struct text *out);

/* ---- a server program ---- */

/* A flag's variable is its name in capitals behind the prefix:
 * --report-listen is HYPERTUNED_REPORT_LISTEN. */
struct flags {
    const char *program;
    const char *usage; /* of --help: what follows the program's name */
    const char *about; /* of --help: what the program does */
    const char *prefix;
    const struct flag *table;
};

/* Where they are read from; `lookup` is getenv or a test's. */
struct flags_source {
    int argc;
    char *const *argv;
    char *(*lookup)(const char *name);
};

/* Appends what --help or --version print; false when neither is asked. */
bool flags_show(const struct flags *flags, const struct flags_source *source,
                struct text *shown);

/* Sets the members of `options` that variables and flags name, a flag after
 * its variable; strings point into argv and the environment. After a failure
 * some are set.
 * HT_INVALID  an unknown flag, a missing or wrong value */
enum ht_status flags_read(const struct flags *flags,
                          const struct flags_source *source, void *options,
                          struct ht_error *err);

#endif
