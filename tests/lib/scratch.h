/* scratch.h - a folder, a launch and a shim for the runner's tests.
 *
 * Every test program owns one temporary folder; waiting is polling with a
 * deadline, never a sleep that hopes. */
#ifndef HT_TESTS_LIB_SCRATCH_H
#define HT_TESTS_LIB_SCRATCH_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/clock.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "tests/check.h"

extern char scratch_root[PATH_MAX / 4]; /* the program's folder */
extern char scratch_shim[PATH_MAX / 2]; /* the program under test */

/* Polls until the condition holds; it fails after PATIENCE_MS. */
#define UNTIL(condition)                                                       \
    do {                                                                       \
        const int64_t until_ = clock_monotonic_ms() + PATIENCE_MS;             \
        while (!(condition) && clock_monotonic_ms() < until_)                  \
            poll(NULL, 0, 5);                                                  \
        CHECK(condition);                                                      \
    } while (0)

/* Makes the folder, and finds the shim of the same build. Call it first. */
void scratch_init(void);

/* Removes the folder and all that is in it. */
void scratch_fini(void);

/* A new empty folder below the root, in a buffer of the caller. */
const char *scratch_folder(char path[PATH_MAX]);

/* Writes launch.json for /bin/sh -c script. */
void scratch_script(const char *folder, const char *script, int64_t timeout_ms,
                    int64_t grace_ms);

/* Starts a shim on a folder; its pid. */
pid_t scratch_start(const char *folder);

/* Waits for the shim; its exit code, or -signal. */
int scratch_wait(pid_t pid);

/* Runs a shim to its end, and reads what it left; OUTCOME_LOST without. */
struct ending scratch_run(const char *folder);

/* The whole file as text; "" when absent. Owned by the caller. */
char *scratch_text(const char *folder, const char *name);

/* Whether the file has the word; false when it is absent. */
bool scratch_file_has(const char *folder, const char *name, const char *word);

#endif
