/* release.h - which releases of our programs work together: the same one, and
 * the one before and after it. */
#ifndef HT_PROTO_BASE_RELEASE_H
#define HT_PROTO_BASE_RELEASE_H

#include <stdbool.h>

/* Does a program of the release `theirs`, "MAJOR.MINOR.PATCH" with anything
 * behind it, work with one of `ours`? They do within one major release when the
 * minor ones are at most one apart. True for a text that is no release. */
bool release_fits(const char *ours, const char *theirs);

#endif
