/* hypertune.h - report metrics from inside a trial.
 *
 * Link with -lhypertune (libc only). Every function may be called from any
 * thread and after fork(); none prints, exits, or blocks for longer than
 * stated. Outside a trial they do nothing and succeed. Reporting never fails
 * the training: a value that could not be sent lies in the trial's report file
 * and is delivered from there.
 *
 * All return 0 on success, else an errno value. */
#ifndef HYPERTUNE_H
#define HYPERTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hypertune_metric {
    const char *name; /* at most 127 bytes, no control characters */
    double value;     /* NaN and infinities are stored but never the best */
};

/* Records one metric at a step; the name and the order of arguments are those
 * of Google's cloudml-hypertune. `tag` NULL or "" means the study's objective;
 * `checkpoint_path` NULL means none.
 * EINVAL  the tag or the path is too long
 * EIO     the record could be neither written nor queued */
int report_hyperparameter_tuning_metric(const char *tag, double value,
                                        int64_t global_step,
                                        const char *checkpoint_path);

/* Records n metrics (1 to 16) of one step together. A negative step means
 * "count for me". */
int hypertune_report(const struct hypertune_metric metrics[], size_t n,
                     int64_t step, const char *checkpoint_path);

/* Says that the checkpoint at `path` is whole, so that the trial may continue
 * from it on any machine: a file or folder below AIP_CHECKPOINT_DIR, NULL for
 * all of that folder. It is sent while the training continues, so replace it
 * by a rename, and change nothing in it. A negative step means none. Needs no
 * server.
 * EINVAL  it is not below AIP_CHECKPOINT_DIR, or the path is too long
 * ENOENT  there is no such file or folder
 * others  the trial's folder cannot be written */
int hypertune_checkpoint(const char *path, int64_t step);

/* Waits until the server has confirmed every report of this process.
 * ETIMEDOUT  some are not confirmed after timeout_ms; nothing is lost, they
 *            stay in the report file
 * ENOTCONN   this trial has no report address */
int hypertune_flush(int timeout_ms);

/* 1 when the trial should end now (early stopping, stop, cancel), else 0. One
 * access(2) call; never touches the network. */
int hypertune_should_stop(void);

#ifdef __cplusplus
}
#endif

#endif
