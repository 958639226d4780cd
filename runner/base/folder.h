/* folder.h - the files in a replica's folder by which runner and shim
 * communicate, and whether the folder is still the replica's own.
 *
 * Either side can end and restart at any moment, so all state is in the folder.
 * Format: proto/README.md section 5. */
#ifndef HT_RUNNER_BASE_FOLDER_H
#define HT_RUNNER_BASE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "runner/base/guest.h"

/* What the shim has to run: launch.json. */
struct launch {
    struct strings argv;      /* argv[0] is looked up in the PATH of env */
    struct pairs env;         /* the environment of the trainer */
    struct strings inherited; /* variables that come from the shim's own
                                 environment unless env has them */
    const char *workdir;      /* NULL: the replica's folder */
    const char *copied;       /* workdir is made as a copy of this; or NULL */
    const char *left_out;     /* ... without this relative path; or NULL */
    const char *state;        /* ... and the runner's folder of attempts */
    const char *events;       /* below the replica's folder: where event files
                                 of TensorBoard are; or NULL. A copy is made
                                 without such files */
    struct strings metrics;   /* the names of scalars wanted from there */
    int64_t timeout_ms;       /* 0: none */
    int64_t grace_ms;         /* SIGTERM to SIGKILL */
    const char
        *boot; /* id of the kernel's boot that it is valid for; NULL: any */
    struct guest guest; /* what the trainer may see and use */
    bool in_batch;      /* a job of Slurm, whose warnings the trainer ignores
                           unless it handles them; not on disk */
};

/* Identifies a process for ever; a pid alone is reused. */
struct process {
    pid_t pid;
    uint64_t start; /* field 22 of /proc/PID/stat, clock ticks after boot */
    char boot[40];  /* kernel boot id */
};

/* How the run of a replica ended; names on disk and in messages are those of
 * folder_outcome_name(). */
enum outcome {
    OUTCOME_SUCCEEDED,
    OUTCOME_FAILED,
    OUTCOME_STOPPED,
    OUTCOME_TIMEOUT,
    OUTCOME_LOST /* runner, shim or machine failed, not the trainer */
};

/* The end of a replica: exit.json. */
struct ending {
    enum outcome outcome;
    bool has_exit, has_signal; /* at most one of them */
    int exit, signal;
    char reason[HT_MAX_REASON];
    int64_t started_ms, ended_ms; /* wall clock */
    bool impossible; /* nothing ran, and no runner can run this order; not on
                        disk */
};

/* An order to end a replica: the file `stop`, one line. */
struct stop_order {
    bool kill; /* SIGKILL at once */
    char reason[HT_MAX_REASON];
};

/* A constant text, such as "timeout". */
const char *folder_outcome_name(enum outcome outcome);
/* Sets outcome and reason. */
__attribute__((format(printf, 3, 4))) void folder_end(struct ending *ending,
                                                      enum outcome outcome,
                                                      const char *format, ...);

/* Writes why a working folder cannot be used, from the errno of entering it. */
void folder_describe_workdir(int code, const char *workdir,
                             char reason[HT_MAX_REASON]);

/* Of the files here: a container's user reads them and may remove them; other
 * users cannot enter the attempt's folder. */
enum { FOLDER_FILE_MODE = 0644 };

/* Measurements from event files of TensorBoard, by the shim; and what the name
 * of such a file contains. */
#define FOLDER_EVENTS "events.jsonl"
#define FOLDER_EVENT_FILE "tfevents"

/* What the trainer used, by the shim: proto/job/usage.h. */
#define FOLDER_USAGE "usage.json"

/* The file of a stream that begins with that byte: "stdout.000001048576.log".
 */
enum { FOLDER_LOG_NAME_BYTES = 40 };
char *folder_log_name(char name[FOLDER_LOG_NAME_BYTES], const char *stream,
                      int64_t offset);
/* The runner's messages about a replica: a stream of its logs beside those of
 * the shim. */
#define FOLDER_RUNNER_STREAM "runner"
/* Appends a line to it; if that fails, the line is lost. A trial may write into
 * the folder: no link or pipe there is followed, and the file stays short. */
__attribute__((format(printf, 2, 3))) void
folder_log_line(const char *folder, const char *format, ...);
/* The path of the replica's copy of its working folder, in the arena. */
char *folder_workdir(struct arena *arena, const char *folder);

/* A power cut may lose shim.json and stop, but then it ended the processes,
 * too; the boot id in launch.json prevents a second start.
 *
 * A writer that fails keeps the previous file: HT_IO. Readers return
 * HT_NOT_FOUND when the file is absent, HT_CORRUPT when it is damaged and HT_IO
 * when it cannot be read. */
enum ht_status folder_write_launch(const char *folder,
                                   const struct launch *launch,
                                   struct ht_error *err);
/* The texts are in the arena. HT_CORRUPT also when argv is empty. */
enum ht_status folder_read_launch(struct arena *arena, const char *folder,
                                  struct launch *launch, struct ht_error *err);
/* The identity of the shim's own process, which the shim writes. */
enum ht_status folder_write_shim(const char *folder,
                                 const struct process *process,
                                 struct ht_error *err);
enum ht_status folder_read_shim(const char *folder, struct process *process,
                                struct ht_error *err);
/* Written by the shim when the trainer has ended, or by the runner in its
 * place. Survives a power cut. */
enum ht_status folder_write_exit(const char *folder,
                                 const struct ending *ending,
                                 struct ht_error *err);
enum ht_status folder_read_exit(const char *folder, struct ending *ending,
                                struct ht_error *err);
/* An order to kill replaces one to stop, never the other way round. */
enum ht_status folder_write_stop(const char *folder,
                                 const struct stop_order *order,
                                 struct ht_error *err);
/* HT_TOO_LARGE: the line has more than HT_MAX_REPORT_LINE bytes. */
enum ht_status folder_read_stop(const char *folder, struct stop_order *order,
                                struct ht_error *err);

/* ---- whether the folder is still the replica's ----
 *
 * A trainer runs as the runner's user, so it can remove, move, replace or lock
 * its folder. What is there afterwards is not the trial's. */

/* Names a folder whatever its path is at the time. */
struct folder_id {
    uint64_t device, inode; /* inode 0: not known */
};

/* Gets the folder's id, before anything can run in it. */
void folder_identify(struct folder_id *id, const char *folder);

/* NULL while the path has the folder of that id, or the id is not known; else
 * what the trial did with it, in the same words for all trials. A replaced
 * folder counts as removed. */
const char *folder_fault(const struct folder_id *id, const char *folder);

/* The text for a folder that was removed or emptied. */
extern const char folder_removed[];

/* Makes the folders below `state` on the path to `folder` accessible again,
 * which a trial may have locked or replaced: what is no folder is removed. */
void folder_reclaim(const char *state, const char *folder);

#endif
