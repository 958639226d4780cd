/* flags.h - the options of a server program: environment variables, then
 * flags, from one table that also prints --help. */
#ifndef HT_PROTO_BASE_FLAGS_H
#define HT_PROTO_BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

/* The type of the member that a flag sets. */
enum flag_kind {
    FLAG_TEXT,     /* const char * */
    FLAG_COUNT,    /* int64_t, from 0 to FLAG_MOST_COUNT */
    FLAG_POSITIVE, /* int64_t, from 1 to FLAG_MOST_COUNT */
    FLAG_DURATION, /* int64_t milliseconds, written as clock.h reads them */
    FLAG_SWITCH,   /* bool; --share and --share=1 set it, --share=0 unsets it */
    FLAG_ORDER     /* the same, without a variable: not to be inherited */
};

enum { FLAG_MOST_COUNT = 1000 };

struct flag {
    const char *name;     /* without the dashes */
    const char *argument; /* how --help names the value, NULL for a switch */
    enum flag_kind kind;
    size_t offset; /* of the member in the program's options */
    const char *help;
};

/* The flags of a program. A flag's variable is its name in capitals behind the
 * prefix: --report-listen is HYPERTUNED_REPORT_LISTEN. */
struct flags {
    const char *program;
    const char *usage; /* of --help: what follows the program's name */
    const char *about; /* of --help: what the program does */
    const char *prefix;
    const struct flag *items;
    size_t n;
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
