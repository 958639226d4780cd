/* resource_members.h - all members of the resources that lists answer, to any
 * depth, to check the paths of `readMask`. */
#ifndef HT_TUNER_ASK_RESOURCE_MEMBERS_H
#define HT_TUNER_ASK_RESOURCE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

enum member_shape {
    MEMBER_ONE,
    MEMBER_LIST, /* of values or messages */
    MEMBER_MAP,  /* of texts, by keys that people chose */
    MEMBER_OPEN  /* its members are not listed here */
};

struct message; /* a type of the schema */

struct member {
    const char *name; /* camelCase, `name_bytes` of it */
    size_t name_bytes;
    enum member_shape shape;
    const struct message *type; /* of it or its items; NULL: no message */
};

/* The type of that name, such as "Study"; NULL: there is none. */
const struct message *resource_members_of(const char *name);

/* Finds the member that a word of `len` bytes names, in camelCase or
 * snake_case; false: the message has none. */
bool resource_members_find(const struct message *message, const char *word,
                           size_t len, struct member *member);

#endif
