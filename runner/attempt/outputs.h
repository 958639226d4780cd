/* outputs.h - the folders of a trial that outlive its attempts: model,
 * checkpoints, logs. */
#ifndef HT_RUNNER_ATTEMPT_OUTPUTS_H
#define HT_RUNNER_ATTEMPT_OUTPUTS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

enum { OUTPUT_FOLDERS = 3 };
/* Vertex's variable for each, and its name on disk. */
extern const struct pair output_folders[OUTPUT_FOLDERS];

/* STATE/STUDY/TRIAL: all files of a trial, with those of its attempts. */
char *outputs_trial_folder(struct arena *arena, const struct site *site,
                           const struct order_key *key);

/* The folder on this machine above the three, in the arena: the job's
 * outputDir, the folder for its gs:// URL, or else the trial's folder. NULL
 * when they are not on this machine. */
const char *outputs_here(struct arena *arena, const struct site *site,
                         const struct order *order);

/* What trials may have made folders below, and the folder is below: the
 * runner's own, one of --volume-root, or that of buckets. NULL: none. */
const char *outputs_root(const struct site *site, const char *folder);

/* Before a trial's first attempt: the three must be empty, so that it does not
 * continue from a checkpoint of another trial. In the runner's folder, files of
 * a trial of the same number from an earlier database are put aside.
 * HT_PRECONDITION  the job's outputDir has files of another trial
 * HT_IO            they cannot be put aside */
enum ht_status outputs_begin(const struct site *site, const struct order *order,
                             struct ht_error *err);

/* Makes the three for a process, which has the runner's user.
 * HT_PRECONDITION  a file is there
 * HT_IO            a folder cannot be made */
enum ht_status outputs_make(const char *here, struct ht_error *err);

/* Makes the three for a trial that may have any user: all users may write
 * into them. Only the owner may enter the folders made above them, unless
 * trials do so, as in a bucket (`passed`). They are below `root`, where trials
 * may write, so no symbolic link is followed.
 * HT_PRECONDITION  `here` is not below `root`, or a link is in the way
 * HT_IO            a folder cannot be made */
enum ht_status outputs_share(const char *root, const char *here, bool passed,
                             struct ht_error *err);

/* Removes those of a trial that are empty, then the trial's folder. */
void outputs_remove_empty(const struct site *site, const struct order_key *key);

/* The trial's checkpoints that are in the runner's folder; NULL: there are
 * none. */
const char *outputs_checkpoints(struct arena *arena, const struct site *site,
                                const struct order_key *key);

/* Whether gs:// URLs are paths to this order's trainers. */
bool outputs_is_rewritten(const struct site *site, const struct order *order);
/* The text with MOUNT/BUCKET for each gs://BUCKET in it, in the arena. */
const char *outputs_rewrite(struct arena *arena, const char *text,
                            const char *mount);

#endif
