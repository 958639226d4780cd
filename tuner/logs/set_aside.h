/* set_aside.h - a damaged logs.db: renamed, a new one in its place, and what
 * could still be read of the former copied there. Logs that cannot be read must
 * not keep the server from its studies, nor those of one trial those of all. */
#ifndef HT_TUNER_LOGS_SET_ASIDE_H
#define HT_TUNER_LOGS_SET_ASIDE_H

#include <limits.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"

/* Renames the file and SQLite's beside it, to `aside`. The caller has closed
 * its connections. `why` is for the server's log. HT_IO. */
enum ht_status logs_set_aside(const char *path, const char *why,
                              char aside[PATH_MAX], struct ht_error *err);
/* Copies every readable chunk of that file, in its order, and says in the
 * server's log how many there were. What cannot be stored is left out. */
void logs_salvage(const char *aside, struct db *to);

#endif
