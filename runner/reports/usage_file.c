#include "runner/reports/usage_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "runner/base/folder.h"

/* A replaced file is another one, or was written later. */
static bool is_new(struct usage_file *file)
{
    struct stat found;
    const int dir = open(file->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool there = dir >= 0 && fstatat(dir, FOLDER_USAGE, &found,
                                           AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    if (!there || (found.st_ino == file->inode &&
                   found.st_mtim.tv_sec == file->written.tv_sec &&
                   found.st_mtim.tv_nsec == file->written.tv_nsec))
        return false;
    file->inode = found.st_ino;
    file->written = found.st_mtim;
    return true;
}

bool usage_file_take(struct usage_file *file, struct usage *usage)
{
    const struct node *map;
    if (!is_new(file))
        return false;
    struct arena *arena = arena_new();
    const bool read = disk_read_json(arena, file->folder, FOLDER_USAGE, &map,
                                     NULL) == HT_OK &&
                      usage_read(map, usage, NULL) == HT_OK;
    arena_free(arena);
    return read;
}
