/* shim.h - the supervisor of one replica's trainer: owns its output, its end
 * and whatever it leaves behind.
 *
 * A folder's trainer is started at most once, however often a shim is started
 * on the folder. The shim needs neither runner nor server to finish its work.
 */
#ifndef HT_RUNNER_SHIM_SHIM_H
#define HT_RUNNER_SHIM_SHIM_H

/* Exit codes of the program. */
enum {
    SHIM_DONE = 0,   /* exit.json tells how the trainer ended */
    SHIM_USAGE = 2,  /* wrong command line */
    SHIM_TAKEN = 5,  /* another shim has, or had, this folder */
    SHIM_FAILED = 1, /* the folder cannot be read or written */
};

/* Runs the trainer that FOLDER/launch.json describes until nothing of it is
 * left. Takes over the process: session, child subreaper, signal mask. */
int shim_run(const char *folder);

#endif
