#include "tuner/base/disk_reserve.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/log.h"

static void path_of(const char *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/reserve", folder);
}

/* A disk of unknown length is never full. */
static bool is_short(const struct disk_room *room)
{
    return room->total_bytes > 0 && room->free_bytes < DISK_RESERVE_BYTES;
}

void disk_reserve_release(const char *folder)
{
    char path[PATH_MAX];
    const struct disk_room room = disk_room_look(folder);
    path_of(folder, path);
    if (is_short(&room) && unlink(path) == 0)
        log_event(LOG_WARN, "disk.reserve",
                  "file=%s why=\"it is removed, since the disk is full\"",
                  path);
}

void disk_reserve_keep(const char *folder, const struct disk_room *room)
{
    char path[PATH_MAX];
    struct stat found;
    path_of(folder, path);
    if (room->state != DISK_ROOM ||
        room->free_bytes < 2 * (int64_t)DISK_RESERVE_BYTES ||
        lstat(path, &found) == 0)
        return;
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (posix_fallocate(fd, 0, DISK_RESERVE_BYTES) != 0)
        unlink(path);
    close(fd);
}

bool disk_reserve_is_used_up(const char *folder)
{
    char path[PATH_MAX];
    struct stat found;
    const struct disk_room room = disk_room_look(folder);
    path_of(folder, path);
    return is_short(&room) && lstat(path, &found) != 0;
}
