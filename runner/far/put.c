/* put.c - what the other side gets of a folder that is watched: the files of
 * ours in it, and how much there is here of theirs. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/whole.h"
#include "runner/attempt/outputs.h"
#include "runner/base/disk.h"
#include "runner/far/parts.h"

enum { MOST_OURS = 64 * 1024 * 1024 /* bytes of a file */ };

struct seen_file {
    int folder; /* descriptor */
    const char *name, *path;
    enum names_file is;
};

static void queue_folder(struct far *far, const char *path)
{
    far_queue(
        far, &(struct frame){.kind = FRAME_FOLDER, .path = path, .mode = 0700});
}

static struct far_sent *get_sent(struct far_watch *watch, const char *path)
{
    for (size_t i = 0; i < watch->n; i++)
        if (strcmp(watch->sent[i].path, path) == 0)
            return &watch->sent[i];
    watch->sent = ht_xrealloc(watch->sent, watch->n + 1, sizeof *watch->sent);
    watch->sent[watch->n] = (struct far_sent){.path = ht_xstrdup(path)};
    return &watch->sent[watch->n++];
}

static void queue_bytes(struct far *far, const char *path, mode_t mode,
                        const struct disk_bytes *bytes)
{
    size_t at = 0;
    do {
        const size_t rest = bytes->len - at;
        const size_t len = rest < FRAME_DATA ? rest : FRAME_DATA;
        const unsigned begins = at == 0 ? 1 : 0;
        const unsigned ends = len == rest ? 2 : 0;
        far_queue(far, &(struct frame){.kind = FRAME_FILE,
                                       .path = path,
                                       .mode = mode & 0777,
                                       .number = begins | ends,
                                       .data = bytes->data + at,
                                       .len = len});
        at += len;
    } while (at < bytes->len);
}

static void put_file(struct far *far, struct far_watch *watch, int folder,
                     const char *name, const char *path)
{
    struct stat is;
    struct disk_bytes bytes;
    struct arena *arena = arena_new();
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct far_sent *sent = get_sent(watch, path);
    if (fd >= 0 && fstat(fd, &is) == 0 &&
        (is.st_ino != sent->is.st_ino ||
         is.st_mtim.tv_sec != sent->is.st_mtim.tv_sec ||
         is.st_mtim.tv_nsec != sent->is.st_mtim.tv_nsec) &&
        disk_read_open(arena, fd, MOST_OURS, &bytes, NULL) == HT_OK) {
        queue_bytes(far, path, is.st_mode, &bytes);
        sent->is = is;
    }
    if (fd >= 0)
        close(fd);
    arena_free(arena);
}

/* Calls for each file of the folder, which is watched or in one that is, with
 * what it is. */
static void each_file(struct far *far, struct far_watch *watch,
                      const char *folder,
                      void (*act)(struct far *far, struct far_watch *watch,
                                  const struct seen_file *file))
{
    char path[FRAME_PATH];
    const size_t skipped = strlen(watch->folder) + 1;
    const int fd =
        openat(far->state, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        act(far, watch,
            &(struct seen_file){
                .folder = fd,
                .name = entry->d_name,
                .path = path,
                .is = names_of(watch->is, watch->extra, path + skipped)});
    }
    if (dir != NULL)
        closedir(dir);
}

static bool is_start(const struct seen_file *file)
{
    return strcmp(file->name, "launch.json") == 0;
}

static void put_ours(struct far *far, struct far_watch *watch,
                     const struct seen_file *file)
{
    if (file->is == NAMES_OURS && !is_start(file))
        put_file(far, watch, file->folder, file->name, file->path);
}

static void put_start(struct far *far, struct far_watch *watch,
                      const struct seen_file *file)
{
    if (file->is == NAMES_OURS && is_start(file))
        put_file(far, watch, file->folder, file->name, file->path);
}

/* The trainer of a pod starts with the last one. */
static void put_folder(struct far *far, struct far_watch *watch,
                       const char *folder)
{
    each_file(far, watch, folder, put_ours);
    each_file(far, watch, folder, put_start);
}

/* Calls for each folder in the watched one. */
static void each_inner(struct far *far, struct far_watch *watch,
                       void (*act)(struct far *far, struct far_watch *watch,
                                   const char *folder))
{
    char path[FRAME_PATH];
    struct stat is;
    const int fd =
        openat(far->state, watch->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        (void)snprintf(path, sizeof path, "%s/%s", watch->folder,
                       entry->d_name);
        if (entry->d_name[0] != '.' &&
            names_is_inner(watch->is, entry->d_name) &&
            fstatat(fd, entry->d_name, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(is.st_mode))
            act(far, watch, path);
    }
    if (dir != NULL)
        closedir(dir);
}

static void put_inner(struct far *far, struct far_watch *watch,
                      const char *folder)
{
    if (watch->is == NAMES_ATTEMPT)
        queue_folder(far, folder);
    put_folder(far, watch, folder);
}

/* ---- what is here ---- */

static void have_file(struct far *far, int folder, const char *name,
                      const char *path)
{
    struct stat is;
    char tail[FRAME_TAIL];
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0) {
        const int64_t len = is.st_size < FRAME_TAIL ? is.st_size : FRAME_TAIL;
        if (whole_read_at(fd, tail, (size_t)len, is.st_size - len) == len)
            far_queue(far, &(struct frame){.kind = FRAME_HAVE,
                                           .path = path,
                                           .number = (uint64_t)is.st_size,
                                           .data = tail,
                                           .len = (size_t)len});
    }
    close(fd);
}

static void have_theirs(struct far *far, struct far_watch *watch,
                        const struct seen_file *file)
{
    (void)watch;
    if (file->is == NAMES_WHOLE || file->is == NAMES_GROWS)
        have_file(far, file->folder, file->name, file->path);
}

static void have_folder(struct far *far, struct far_watch *watch,
                        const char *folder)
{
    each_file(far, watch, folder, have_theirs);
}

static void have_extra(struct far *far, const struct far_watch *watch)
{
    char path[FRAME_PATH];
    if (*watch->extra == '\0')
        return;
    (void)snprintf(path, sizeof path, "%s/%s", watch->folder, watch->extra);
    have_file(far, far->state, path, path);
}

/* The trial's own folders, which outlive it, are beside its attempts'. */
static void queue_outputs(struct far *far, const struct far_watch *watch)
{
    char path[FRAME_PATH];
    const char *slash = strrchr(watch->folder, '/');
    for (size_t i = 0; slash != NULL && i < OUTPUT_FOLDERS; i++) {
        (void)snprintf(path, sizeof path, "%.*s/%s",
                       (int)(slash - watch->folder), watch->folder,
                       output_folders[i].value);
        queue_folder(far, path);
    }
}

static void put_aside(struct far *far, const struct far_watch *watch)
{
    char path[FRAME_PATH], aside[FRAME_PATH];
    const char *slash = strrchr(watch->folder, '/');
    (void)snprintf(path, sizeof path, "%.*s", (int)(slash - watch->folder),
                   watch->folder);
    const int len = snprintf(aside, sizeof aside, "%s.before-%lld", path,
                             (long long)clock_wall_ms());
    far_queue(far, &(struct frame){.kind = FRAME_RENAME,
                                   .path = path,
                                   .data = aside,
                                   .len = (size_t)len});
}

void far_tell(struct far *far, struct far_watch *watch)
{
    for (size_t i = 0; i < watch->n; i++)
        free(watch->sent[i].path);
    watch->n = 0;
    if (watch->fresh)
        put_aside(far, watch);
    watch->fresh = false;
    queue_folder(far, watch->folder);
    if (watch->is == NAMES_ATTEMPT)
        queue_outputs(far, watch);
    far_queue(far, &(struct frame){.kind = FRAME_WATCH,
                                   .path = watch->folder,
                                   .number = watch->is,
                                   .data = watch->extra,
                                   .len = strlen(watch->extra)});
    have_folder(far, watch, watch->folder);
    each_inner(far, watch, have_folder);
    have_extra(far, watch);
    put_folder(far, watch, watch->folder);
    each_inner(far, watch, put_inner);
}

void far_put_ours(struct far *far, struct far_watch *watch, const char *folder)
{
    put_folder(far, watch, folder);
    if (strcmp(folder, watch->folder) == 0 && watch->is == NAMES_ATTEMPT)
        each_inner(far, watch, put_folder);
}
