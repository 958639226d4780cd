/* disk_reserve.h - the file DIR/reserve: room that a server gives free when it
 * starts on a full disk, for the files that it cannot run without. */
#ifndef HT_TUNER_BASE_DISK_RESERVE_H
#define HT_TUNER_BASE_DISK_RESERVE_H

#include <stdbool.h>

#include "tuner/base/disk_room.h"

enum { DISK_RESERVE_BYTES = 1024 * 1024 };

/* Removes the file when the disk has less than its length free. */
void disk_reserve_release(const char *folder);
/* Makes it where it is missing and the disk has room for more. */
void disk_reserve_keep(const char *folder, const struct disk_room *room);
/* Whether too little is free for a start, and there is no file to remove. */
bool disk_reserve_is_used_up(const char *folder);

#endif
