/* receive.c - what comes from the place: nothing in it is trusted, as
 * trials make names and contents there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/whole.h"
#include "proto/tree/beneath.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/safe_path.h"
#include "runner/far/parts.h"

enum { FAULT_MS = 60000 }; /* for which one is shown */

/* The folder of the file, made if it is missing; -1 with errno. */
static int open_parent(const struct far *far, const char *path,
                       const char **name)
{
    static const struct safe_path_modes modes = {.parents = 0700, .last = 0700};
    char parent[FRAME_PATH + 1];
    int fd = beneath_open_parent(far->state, path, name);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    (void)snprintf(parent, sizeof parent, "%.*s",
                   (int)(strrchr(path, '/') - path), path);
    if (safe_path_make(far->site->state, parent, &modes, NULL) != HT_OK)
        return -1;
    return beneath_open_parent(far->state, path, name);
}

static enum ht_status write_some(int folder, const char *name,
                                 const struct frame *frame,
                                 struct ht_error *err)
{
    struct stat is;
    const int64_t at = (int64_t)frame->number;
    const int fd = openat(folder, name,
                          O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
                              O_NOCTTY | O_CLOEXEC,
                          FOLDER_FILE_MODE);
    if (fd < 0 || fstat(fd, &is) != 0 || !S_ISREG(is.st_mode)) {
        if (fd >= 0)
            close(fd);
        return ht_fail(err, HT_IO, "cannot open %s", frame->path);
    }
    enum ht_status status = HT_OK;
    if (at != 0 && is.st_size != at)
        status = ht_fail(err, HT_CORRUPT, "a part of %s does not follow",
                         frame->path);
    else if ((at == 0 && ftruncate(fd, 0) != 0) ||
             !whole_write_at(fd, frame->data, frame->len, at))
        status = ht_fail_errno(err, errno, "cannot write %s", frame->path);
    close(fd);
    return status;
}

/* An end that was decided here stays. */
static enum ht_status write_whole(const struct far *far,
                                  const struct frame *frame,
                                  struct ht_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(frame->path, '/');
    const char *name = slash + 1;
    (void)snprintf(folder, sizeof folder, "%s/%.*s", far->site->state,
                   (int)(slash - frame->path), frame->path);
    if (strcmp(name, "exit.json") != 0)
        return disk_replace(folder, name, frame->data, frame->len,
                            FOLDER_FILE_MODE, err);
    return disk_has(folder, name)
               ? HT_OK
               : disk_write(folder, name, frame->data, frame->len,
                            FOLDER_FILE_MODE, err);
}

static enum ht_status take_file(struct far *far, const struct frame *frame,
                                struct ht_error *err)
{
    const struct far_watch *watch = far_find(far, frame->path);
    const char *name;
    if (watch == NULL)
        return HT_OK; /* it was removed meanwhile */
    const char *rest = frame->path + strlen(watch->folder);
    const enum names_file kind =
        *rest == '/' ? names_of(watch->is, watch->extra, rest + 1) : NAMES_NONE;
    const enum names_file wanted =
        frame->kind == FRAME_WHOLE ? NAMES_WHOLE : NAMES_GROWS;
    const int64_t most = names_most(frame->path);
    if (kind != wanted || (int64_t)frame->number < 0 ||
        (int64_t)frame->number > most - (int64_t)frame->len ||
        (frame->kind == FRAME_GONE && !names_may_go(frame->path)))
        return ht_fail(err, HT_CORRUPT, "%.200s is not expected", frame->path);
    const int folder = open_parent(far, frame->path, &name);
    if (folder < 0)
        return ht_fail(err, HT_IO, "cannot open the folder of %s", frame->path);
    enum ht_status status = HT_OK;
    if (frame->kind == FRAME_SOME)
        status = write_some(folder, name, frame, err);
    else if (frame->kind == FRAME_WHOLE)
        status = write_whole(far, frame, err);
    else
        (void)unlinkat(folder, name, 0);
    close(folder);
    return status;
}

/* What was removed here while there was no connection. */
static enum ht_status take_found(struct far *far, const char *path,
                                 struct ht_error *err)
{
    struct stat is;
    if (!names_is_found(path))
        return ht_fail(err, HT_CORRUPT, "%.200s was not put there", path);
    if (fstatat(far->state, path, &is, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno == ENOENT)
        far_queue(far, &(struct frame){.kind = FRAME_REMOVE, .path = path});
    return HT_OK;
}

static void take_fault(struct far *far, const struct frame *frame)
{
    struct text words = {0};
    text_clean(&words, frame->data, strnlen(frame->data, frame->len));
    (void)snprintf(far->fault, sizeof far->fault, "%.60s %.180s", far->name,
                   text_string(&words));
    far->fault_at = clock_monotonic_ms();
    log_event(LOG_WARN, "far.fault", "reason=\"%s\"", far->fault);
    text_free(&words);
}

enum ht_status far_receive(struct far *far, const struct frame *frame,
                           struct ht_error *err)
{
    switch ((int)frame->kind) {
    case FRAME_THERE:
        far->answered = frame->number;
        if (frame->number == far->tree_asked)
            far->tree_is_there = frame->mode == 1;
        pthread_cond_broadcast(&far->changed);
        return HT_OK;
    case FRAME_SOME:
    case FRAME_WHOLE:
    case FRAME_GONE:
        return take_file(far, frame, err);
    case FRAME_ENTRY:
    case FRAME_LISTED:
    case FRAME_PART:
        return far_pull_take(far, frame, err);
    case FRAME_FOUND:
        return take_found(far, frame->path, err);
    case FRAME_LOOKED:
        far->looks++;
        if (clock_monotonic_ms() - far->fault_at > FAULT_MS)
            far->fault[0] = '\0';
        return HT_OK;
    case FRAME_FAULT:
        take_fault(far, frame);
        return HT_OK;
    default:
        return ht_fail(err, HT_CORRUPT, "a frame of kind %d", frame->kind);
    }
}
