/* disk_room.h - whether the disk of the data folder has room for more trials,
 * by the budgets disk-warning and disk-reserve. */
#ifndef HT_TUNER_BASE_DISK_ROOM_H
#define HT_TUNER_BASE_DISK_ROOM_H

#include <stdint.h>

enum disk_state {
    DISK_ROOM,
    DISK_LOW,     /* worth a warning */
    DISK_RESERVED /* what is left is for trials that run: no new ones */
};

struct disk_room {
    enum disk_state state;
    int64_t free_bytes, total_bytes; /* for this server; total 0: unknown */
};

/* Asks the system now. A disk that it has no answer for has room. */
struct disk_room disk_room_look(const char *folder);

/* The same once so many bytes more are used. */
struct disk_room disk_room_after(const char *folder, int64_t bytes);

enum { DISK_ROOM_TEXT = 200 };
/* What is wrong and what to do, a sentence; "" while there is room. */
const char *disk_room_text(const struct disk_room *room,
                           char text[DISK_ROOM_TEXT]);

#endif
