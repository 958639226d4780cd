/* wildcard.h - patterns of gitignore(5) against the path of a file. */
#ifndef HT_PROTO_TREE_WILDCARD_H
#define HT_PROTO_TREE_WILDCARD_H

#include <stdbool.h>

/* Whether the whole path matches: "*" and "?" and "[a-z]" stay within a part of
 * it, "**" alone between slashes is any number of parts, and a
 * backslash takes the next character as it is. */
bool wildcard_matches(const char *pattern, const char *path);

#endif
