/* program.h - our programs on this machine: where each is, and whether one
 * works in a folder. */
#ifndef HT_PROTO_BASE_PROGRAM_H
#define HT_PROTO_BASE_PROGRAM_H

#include <stdbool.h>

#include "proto/base/arena.h"

/* The path of that program beside this executable, as built and installed;
 * else the bare name for a search in PATH. */
char *program_find(struct arena *arena, const char *name);

/* Does a program hold this lock file by flock(2), as a server holds its data
 * folder's and a runner its state's? False when there is no such file. */
bool program_holds(const char *lock);

#endif
