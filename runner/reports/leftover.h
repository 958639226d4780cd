/* leftover.h - what a metrics file held before the attempt began, and whether
 * anybody has read it since.
 *
 * A copy lies in the attempt's folder, so that a restarted runner knows the
 * same. */
#ifndef HT_RUNNER_REPORTS_LEFTOVER_H
#define HT_RUNNER_REPORTS_LEFTOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/disk.h"

enum { LEFTOVER_BYTES = 64 * 1024 * 1024 };

struct leftover {
    const char *folder; /* the attempt's; borrowed */
    int watch;          /* inotify on the old file, -1: none */
    bool gone;          /* nothing of it can be in the file any more */
};

/* Takes the copy of the open file (-1: there is none) and watches it.
 * HT_PRECONDITION  it is longer than LEFTOVER_BYTES
 * HT_IO            it cannot be read or copied */
enum ht_status leftover_take(struct leftover *leftover, const char *folder,
                             int fd, struct ht_error *err);
/* Continues with the copy that an earlier runner made. */
void leftover_resume(struct leftover *leftover, const char *folder);
void leftover_fini(struct leftover *leftover);

/* The copy, in the arena; empty when there was nothing.
 * HT_IO  it cannot be read */
enum ht_status leftover_read(const struct leftover *leftover,
                             struct arena *arena, struct disk_bytes *bytes,
                             struct ht_error *err);

/* The file was emptied or replaced. When nobody had read it before, what the
 * new one holds is all new; a program that read it may have written the old
 * lines again. */
void leftover_rewritten(struct leftover *leftover);
/* Lines of the file were taken: from now on readers cannot be told apart. */
void leftover_blur(struct leftover *leftover);

#endif
