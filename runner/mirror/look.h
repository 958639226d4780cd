/* look.h - on the login node: what is new in the folders that the runner
 * watches, sent in an order by which it may conclude from one file that others
 * are complete.
 *
 * exit.json of a replica is sent after all that its trial wrote before, and
 * the files of the elements, which tell that a trial is over, after those of
 * the attempts. Trials write into these folders: no link is followed, and only
 * files that names.h knows are read. One thread at a time. */
#ifndef HT_RUNNER_MIRROR_LOOK_H
#define HT_RUNNER_MIRROR_LOOK_H

#include <stdbool.h>

#include "runner/mirror/frame.h"
#include "runner/mirror/names.h"

struct look;

/* False: the connection is gone. */
typedef bool look_send(void *context, const struct frame *frame);

/* `root`: the open folder that all paths are relative to; borrowed. */
struct look *look_new(int root, look_send *send, void *context);
void look_free(struct look *look);

/* From now on, as if nothing of it had been sent; `extra` may be "". */
void look_watch(struct look *look, const char *folder, enum names_folder is,
                const char *extra);
/* The runner has so much of a file, which ends with these bytes: a file of that
 * begin is continued. A path in no folder that is watched is ignored. */
void look_have(struct look *look, const char *path, int64_t size,
               const char *tail, size_t n_tail);
void look_forget(struct look *look, const char *folder);

enum look_result {
    LOOK_ALL,  /* what was there when it began has been sent */
    LOOK_MORE, /* there is more: look again soon */
    LOOK_CLOSED
};
/* Looks once, at each folder. */
enum look_result look_round(struct look *look);

#endif
