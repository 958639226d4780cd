/* event_folder.h - follows the event files of TensorBoard below a folder of the
 * trial: their scalars become records in FOLDER_EVENTS of the replica's folder.
 *
 * A scalar is a metric's when the metric's name is its tag, or ends with the
 * tag and begins with the last folders that its file is in: loss, eval/loss,
 * runs/eval/loss. Scalars of two folders or tags for one metric are a fault
 * that ends the trial, since nothing says which one is meant; but one that
 * needs nothing beyond the metric's name to be found hides the others.
 *
 * What is written has no end, so a file is read while it grows, in bounded
 * memory. Links are not followed. */
#ifndef HT_RUNNER_SHIM_EVENT_FOLDER_H
#define HT_RUNNER_SHIM_EVENT_FOLDER_H

#include <stdint.h>
#include <sys/types.h>

#include "runner/base/folder.h"

struct event_folder;

/* Before the trainer starts, whose user will be `uid`, 0: this process's. Texts
 * are borrowed. *events NULL: the launch names no folder.
 * HT_IO  the file of records cannot be made */
enum ht_status event_folder_begin(const struct launch *launch,
                                  const char *folder, uid_t uid,
                                  struct event_folder **events,
                                  struct ht_error *err);

/* Monotonic: when to call event_folder_tick(); INT64_MAX for NULL. */
int64_t event_folder_due(const struct event_folder *events);
/* Reads a bounded amount of what is new, when it is due. Returns the fault that
 * ends the trial, borrowed; NULL: there is none. */
const char *event_folder_tick(struct event_folder *events, int64_t now);

/* Reads all that is left, once all writers have ended. Returns the fault as
 * above. On a full disk it tries again for up to a minute; *lost: in the end
 * some records could not be written. */
const char *event_folder_end(struct event_folder *events, bool *lost);

void event_folder_free(struct event_folder *events); /* accepts NULL */

#endif
