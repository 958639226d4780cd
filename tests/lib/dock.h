/* dock.h - attempts at an engine that does what it is told:
 * tests/tools/fake_engine.py, whose containers are processes of this machine.
 */
#ifndef HT_TESTS_LIB_DOCK_H
#define HT_TESTS_LIB_DOCK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runner/attempt/attempt.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/engine.h"
#include "tests/check.h"
#include "tests/lib/scratch.h"

struct dock { /* a fake engine and a runner's state, in a folder of their own */
    char root[PATH_MAX];
    char socket[PATH_MAX + 16], host[PATH_MAX + 32], script[PATH_MAX + 16];
    char journal[PATH_MAX + 16], memory[PATH_MAX + 16], state[PATH_MAX + 16];
    char kit[PATH_MAX];
    const char *dialect;
    pid_t fake;
    struct site site;
    struct attempts fleet;
};

struct attempt_text {    /* what of a lease the tests vary */
    const char *script;  /* of the master */
    const char *worker;  /* NULL: there is none */
    const char *members; /* of the lease, each with a comma behind */
    const char *replica; /* members of each replica, likewise */
};

/* ---- the fake engine ---- */

/* Starts the engine again, with what it remembers. */
void dock_start_fake(struct dock *dock);

/* Kills the engine, as a crash would. */
void dock_kill_fake(struct dock *dock);

/* The next requests are served by this script. */
void dock_play(const struct dock *dock, const char *script);

/* A runner begins that has the state folder; its log says why it cannot. */
void dock_open_engine(struct dock *dock);

/* The runner ends; what it started runs on. */
void dock_close_engine(struct dock *dock);

/* An engine of that dialect with this script, and a runner of it. */
void dock_open(struct dock *dock, const char *dialect, const char *script);

/* Ends both; the folder stays. */
void dock_close(struct dock *dock);

/* ---- attempts ---- */

/* Starts the attempt of a lease. */
struct attempt *dock_start(struct dock *dock, const struct attempt_text *what);

/* Whether it has ended, after another tick. */
bool dock_has_ended(struct attempt *run);

/* Whether it has started, after another tick. */
bool dock_is_running(struct attempt *run);

/* Whether the runner's stream of the master has these words. */
bool dock_has_told(const struct attempt *run, const char *words);

/* Containers and networks that the engine has. */
size_t dock_count_left(const struct dock *dock);

/* Lines of the journal with these words. */
size_t dock_count_calls(const struct dock *dock, const char *words);

/* As somebody else would; the status is not of interest. */
void dock_call(const struct dock *dock, const char *method, const char *path,
               const char *json);

/* The runner of now dies, and the next one takes up what lies there. */
struct attempt *dock_live_again(struct dock *dock);

/* Whether the master's folder has the file, after another tick. */
bool dock_has_file(struct attempt *run, const char *name);

/* Runs one to its end; the reason is checked, and that nothing is left. */
void dock_expect(const char *dialect, const char *script,
                 const struct attempt_text *what, enum outcome outcome,
                 const char *reason);

#endif
