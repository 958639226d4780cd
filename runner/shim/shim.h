/* shim.h - the supervisor of one replica's trainer: writes its output, records
 * its end and kills what it leaves behind.
 *
 * A folder's trainer is started at most once, however often a shim is started
 * on the folder. The shim needs neither runner nor server. */
#ifndef HT_RUNNER_SHIM_SHIM_H
#define HT_RUNNER_SHIM_SHIM_H

/* Exit codes of the program. */
enum {
    SHIM_DONE = 0,   /* exit.json has the trainer's end */
    SHIM_USAGE = 2,  /* wrong command line */
    SHIM_TAKEN = 5,  /* another shim has, or had, this folder */
    SHIM_FAILED = 1, /* the folder cannot be read or written */
};

/* Runs the trainer of FOLDER/launch.json until no process of it is left.
 * Changes this process: session, child subreaper, signal mask. */
int shim_run(const char *folder);

#endif
