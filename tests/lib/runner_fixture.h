/* runner_fixture.h - folders, a launch and a shim for the runner's tests.
 *
 * Every test program has one temporary folder; waiting is polling with a
 * deadline, never a sleep that hopes. */
#ifndef HT_TESTS_LIB_RUNNER_FIXTURE_H
#define HT_TESTS_LIB_RUNNER_FIXTURE_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/base/folder.h"
#include "tests/check.h"

extern char runner_fixture_root[PATH_MAX / 4];
extern char runner_fixture_shim[PATH_MAX / 2]; /* path of hypertune-shim */

#define UNTIL(condition)                                                       \
    do {                                                                       \
        const int64_t until_ = clock_monotonic_ms() + PATIENCE_MS;             \
        while (!(condition) && clock_monotonic_ms() < until_)                  \
            poll(NULL, 0, 5);                                                  \
        CHECK(condition);                                                      \
    } while (0)

/* Makes the root and finds the shim. */
void runner_fixture_init(void);
void runner_fixture_fini(void); /* removes the root */

/* A new empty folder below the root, in a buffer of the caller. */
const char *runner_fixture_folder(char path[PATH_MAX]);

/* Writes launch.json for /bin/sh -c script. */
void runner_fixture_script(const char *folder, const char *script,
                           int64_t timeout_ms, int64_t grace_ms);
/* Starts a shim on the folder. */
pid_t runner_fixture_start(const char *folder);
/* Waits for the shim; its exit code, or -signal. */
int runner_fixture_wait(pid_t pid);
/* Starts a shim and waits for it; what exit.json contains. */
struct ending runner_fixture_run(const char *folder);

struct order;
/* The order of the lease, which is freed; the caller owns the order. */
struct order *runner_fixture_order(struct text *lease);

/* The whole file as text; "" when absent. Owned by the caller. */
char *runner_fixture_text(const char *folder, const char *name);
bool runner_fixture_file_has(const char *folder, const char *name,
                             const char *word);

#endif
