/* strings.h - texts that others own: a list of them, and names with values. */
#ifndef HT_PROTO_BASE_STRINGS_H
#define HT_PROTO_BASE_STRINGS_H

#include <stddef.h>

struct strings {
    size_t n;
    const char *const *items;
};

struct pair { /* one variable, label or option */
    const char *name, *value;
};

struct pairs {
    size_t n;
    const struct pair *items;
};

#endif
