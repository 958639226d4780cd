#include "tuner/base/disk_room.h"

#include <stdio.h>
#include <sys/statvfs.h>

#include "tuner/base/budget.h"

static double percent_free(const struct disk_room *room)
{
    return 100.0 * (double)room->free_bytes / (double)room->total_bytes;
}

struct disk_room disk_room_look(const char *folder)
{
    return disk_room_after(folder, 0);
}

struct disk_room disk_room_after(const char *folder, int64_t bytes)
{
    struct disk_room room = {.state = DISK_ROOM};
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0)
        return room;
    room.free_bytes = (int64_t)(disk.f_bavail * (uint64_t)disk.f_frsize);
    room.free_bytes = room.free_bytes > bytes ? room.free_bytes - bytes : 0;
    room.total_bytes = (int64_t)(disk.f_blocks * (uint64_t)disk.f_frsize);
    const double percent = percent_free(&room);
    if (percent < (double)budget_of(BUDGET_DISK_RESERVE))
        room.state = DISK_RESERVED;
    else if (percent < (double)budget_of(BUDGET_DISK_WARNING))
        room.state = DISK_LOW;
    return room;
}

const char *disk_room_text(const struct disk_room *room,
                           char text[DISK_ROOM_TEXT])
{
    text[0] = '\0';
    if (room->state == DISK_LOW)
        snprintf(text, DISK_ROOM_TEXT,
                 "the disk of the data folder has %.1f %% free: below %lld %% "
                 "no new trials begin",
                 percent_free(room), (long long)budget_of(BUDGET_DISK_RESERVE));
    if (room->state == DISK_RESERVED)
        snprintf(text, DISK_ROOM_TEXT,
                 "the disk of the data folder has %.1f %% free: no new trials "
                 "begin until %lld %% are, running ones continue; free some",
                 percent_free(room), (long long)budget_of(BUDGET_DISK_RESERVE));
    return text;
}
