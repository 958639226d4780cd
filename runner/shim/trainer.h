/* trainer.h - the trainer's process: its start and the text for its end.
 *
 * The trainer leads its own process group and ends with the process that
 * started it, even when that is killed. Only for single-threaded programs: the
 * kernel ties the death signal to the starting thread. */
#ifndef HT_RUNNER_SHIM_TRAINER_H
#define HT_RUNNER_SHIM_TRAINER_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "runner/base/folder.h"

/* The program that the shim runs; the caller reaps it and closes its
 * outputs. */
struct trainer {
    pid_t pid;      /* also its process group; not reaped yet; in namespaces
                       their first process, which passes signals on */
    int outputs[2]; /* read ends of stdout and stderr, not blocking; owned */
    int status;     /* read end, see trainer_status() */
};

/* Starts the program as a guest, with that uid unless it is 0. False when that
 * failed: then `ending` has outcome, exit code (126, 127 as in shells) and
 * reason, and no process and no descriptor is left. */
bool trainer_start(const struct launch *launch, const char *folder, uid_t uid,
                   struct trainer *trainer, struct ending *ending);

/* Becomes the program, with this process's folder and streams. Returns only
 * when that failed, with the same ending. */
void trainer_become(struct arena *arena, const struct launch *launch,
                    struct ending *ending);

/* The trainer's status, from that which waitpid() gave of `pid`. */
int trainer_status(const struct trainer *trainer, int wait_status);

/* Outcome, code and reason of a status that waitpid() gave. */
void trainer_describe(int wait_status, struct ending *ending);

#endif
