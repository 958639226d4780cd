#include "runner/reports/leftover.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the attempt's folder. */
static const char copy_file[] = "metrics.before";
static const char mark_gone[] = "metrics.rewritten";

/* Without a watch nobody knows whether it was read: it counts as if. */
static void watch(struct leftover *leftover, int fd)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    leftover->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (leftover->watch >= 0 &&
        inotify_add_watch(leftover->watch, name,
                          IN_ACCESS | IN_CLOSE_NOWRITE | IN_MODIFY) < 0)
        leftover_blur(leftover);
}

enum ht_status leftover_take(struct leftover *leftover, const char *folder,
                             int fd, struct ht_error *err)
{
    struct stat status = {.st_size = 0};
    *leftover = (struct leftover){.folder = folder, .watch = -1};
    if (fd >= 0 && fstat(fd, &status) != 0)
        return ht_fail_errno(err, errno, "cannot look at the metrics file");
    if (status.st_size > LEFTOVER_BYTES)
        return ht_fail(err, HT_PRECONDITION,
                       "the metrics file has %lld bytes of earlier runs, at "
                       "most %d are told apart from new ones: move it away",
                       (long long)status.st_size, LEFTOVER_BYTES);
    struct arena *arena = arena_new();
    struct disk_bytes bytes = {.data = "", .len = 0};
    enum ht_status result = HT_OK;
    if (status.st_size > 0)
        result = disk_read_open(arena, fd, LEFTOVER_BYTES, &bytes, err);
    if (result == HT_OK)
        result =
            disk_write(folder, copy_file, bytes.data, bytes.len, 0600, err);
    if (result == HT_OK && bytes.len > 0)
        watch(leftover, fd);
    arena_free(arena);
    return result;
}

void leftover_resume(struct leftover *leftover, const char *folder)
{
    *leftover = (struct leftover){
        .folder = folder, .watch = -1, .gone = disk_has(folder, mark_gone)};
}

void leftover_blur(struct leftover *leftover)
{
    if (leftover->watch >= 0)
        close(leftover->watch);
    leftover->watch = -1;
}

void leftover_fini(struct leftover *leftover)
{
    leftover_blur(leftover);
}

enum ht_status leftover_read(const struct leftover *leftover,
                             struct arena *arena, struct disk_bytes *bytes,
                             struct ht_error *err)
{
    *bytes = (struct disk_bytes){.data = "", .len = 0};
    const enum ht_status status = disk_read(arena, leftover->folder, copy_file,
                                            LEFTOVER_BYTES, bytes, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

/* Emptying counts as writing; a reader that came after it read new lines. */
static bool was_read(const struct leftover *leftover)
{
    _Alignas(struct inotify_event) char events[4096];
    ssize_t n;
    while ((n = read(leftover->watch, events, sizeof events)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event =
                (const struct inotify_event *)(const void *)(events + at);
            if ((event->mask & IN_MODIFY) != 0)
                return false;
            if ((event->mask &
                 (IN_ACCESS | IN_CLOSE_NOWRITE | IN_Q_OVERFLOW)) != 0)
                return true;
            at += (ssize_t)sizeof *event + event->len;
        }
    }
    return false;
}

void leftover_rewritten(struct leftover *leftover)
{
    if (leftover->watch >= 0 && !was_read(leftover)) {
        leftover->gone = true;
        (void)disk_mark(leftover->folder, mark_gone, NULL);
    }
    leftover_blur(leftover);
}
