#include "runner/base/disk_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_LEVELS = 32,
    MOST_FILES = 200000,
    BLOCK_BYTES = 512 /* of st_blocks, whatever the file system has */
};

struct count {
    int64_t bytes, enough;
    int files;
};

static void add(struct count *count, int64_t bytes)
{
    count->bytes += bytes;
    if (++count->files > MOST_FILES)
        count->bytes = count->enough + 1;
}

static void count_folder(struct count *count, int fd, int level);

static void count_entry(struct count *count, int folder, const char *name,
                        int level)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    add(count, (int64_t)status.st_blocks * BLOCK_BYTES);
    if (!S_ISDIR(status.st_mode))
        return;
    if (level == MOST_LEVELS)
        add(count, count->enough);
    const int fd =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        count_folder(count, fd, level + 1);
}

/* Closes the descriptor. */
static void count_folder(struct count *count, int fd, int level)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while (count->bytes <= count->enough && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            count_entry(count, fd, entry->d_name, level);
    }
    closedir(dir);
}

int64_t disk_usage_of_folder(const char *path, int64_t enough)
{
    struct count count = {.enough = enough};
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        count_folder(&count, fd, 1);
    return count.bytes;
}
