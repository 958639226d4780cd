/* offline.h - what hypertuned does with a backup without serving: `hypertuned
 * verify` and `hypertuned restore`, which `hypertune` runs. */
#ifndef HT_TUNER_OFFLINE_H
#define HT_TUNER_OFFLINE_H

#include <stdbool.h>

/* Whether the first word is one of the two. */
bool offline_is_asked(int argc, char *argv[]);
/* verify PATH | restore COPY DIR [--replace]. Prints what it found or did, or
 * why not; returns the exit code. `fail` as server_run(). */
int offline_run(int argc, char *argv[], const char *fail);

#endif
