#include "runner/mirror/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/base/whole.h"
#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "runner/mirror/give.h"
#include "runner/mirror/look.h"
#include "runner/mirror/place.h"

enum {
    LOOK_MS = 1000,
    SOON_MS = 50,
    SILENT_MS = 180000, /* the runner asks every 15 s */
    READ_BYTES = 64 * 1024
};

struct serve {
    char root[PATH_MAX];
    int fd; /* of it */
    ino_t turn;
    struct look *look;
    pthread_mutex_t looking; /* guards look */
    pthread_mutex_t writing; /* one frame after the other */
};

/* ---- to the runner ---- */

static bool send_bytes(struct serve *serve, const struct text *out)
{
    pthread_mutex_lock(&serve->writing);
    const bool sent = whole_write(STDOUT_FILENO, out->data, out->len);
    pthread_mutex_unlock(&serve->writing);
    return sent;
}

static bool send_frame(void *context, const struct frame *frame)
{
    struct text out = {0};
    frame_write(&out, frame);
    const bool sent = send_bytes(context, &out);
    text_free(&out);
    return sent;
}

static void send_fault(struct serve *serve, const char *what, const char *path)
{
    char words[512];
    const int len = snprintf(words, sizeof words, "cannot %s %.300s: %s", what,
                             path, strerror(errno));
    (void)send_frame(serve, &(struct frame){.kind = FRAME_FAULT,
                                            .data = words,
                                            .len = (size_t)len});
}

/* Another process has taken over. */
static bool is_late(const struct serve *serve)
{
    struct stat is;
    return fstatat(serve->fd, MIRROR_TURN, &is, AT_SYMLINK_NOFOLLOW) != 0 ||
           is.st_ino != serve->turn;
}

static void *look_always(void *context)
{
    struct serve *serve = context;
    while (!is_late(serve)) {
        pthread_mutex_lock(&serve->looking);
        const enum look_result result = look_round(serve->look);
        pthread_mutex_unlock(&serve->looking);
        if (result == LOOK_CLOSED)
            break;
        if (result == LOOK_ALL &&
            !send_frame(serve, &(struct frame){.kind = FRAME_LOOKED}))
            break;
        poll(NULL, 0, result == LOOK_ALL ? LOOK_MS : SOON_MS);
    }
    _exit(0);
}

/* ---- what it finds ---- */

static void find_in(struct serve *serve, const char *folder, int levels)
{
    char path[PATH_MAX];
    struct dirent *entry;
    (void)snprintf(path, sizeof path, "%s/%s", serve->root, folder);
    DIR *dir = opendir(path);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s%s%s", folder,
                       *folder != '\0' ? "/" : "", entry->d_name);
        if (names_is_found(path))
            (void)send_frame(
                serve, &(struct frame){.kind = FRAME_FOUND, .path = path});
        else if (levels > 1)
            find_in(serve, path, levels - 1);
    }
    if (dir != NULL)
        closedir(dir);
}

/* ---- what the runner says ---- */

static void watch(struct serve *serve, const struct frame *frame)
{
    pthread_mutex_lock(&serve->looking);
    if (frame->kind == FRAME_WATCH)
        look_watch(serve->look, frame->path,
                   frame->number == NAMES_BATCH ? NAMES_BATCH : NAMES_ATTEMPT,
                   frame->data);
    else if (frame->kind == FRAME_HAVE)
        look_have(serve->look, frame->path, (int64_t)frame->number, frame->data,
                  frame->len);
    else
        look_forget(serve->look, frame->path);
    pthread_mutex_unlock(&serve->looking);
}

static void make_folder(struct serve *serve, const struct frame *frame)
{
    struct ht_error err;
    const struct safe_path_modes modes = {.parents = 0700,
                                          .last = frame->mode & 01777};
    errno = 0;
    if (safe_path_make(serve->root, frame->path, &modes, &err) != HT_OK)
        send_fault(serve, "make", frame->path);
}

static void answer(struct serve *serve, const struct frame *frame)
{
    (void)send_frame(
        serve,
        &(struct frame){.kind = FRAME_THERE,
                        .number = frame->number,
                        .path = frame->path,
                        .mode = place_has(serve->fd, frame->path) ? 1 : 0});
}

static void change(struct serve *serve, const struct frame *frame)
{
    static const char *const what[FRAME_KINDS] = {[FRAME_FILE] = "write",
                                                  [FRAME_LINK] = "make",
                                                  [FRAME_RENAME] = "rename",
                                                  [FRAME_REMOVE] = "remove"};
    bool done = true;
    if (frame->kind == FRAME_FILE)
        done = place_file(serve->fd, frame);
    else if (frame->kind == FRAME_LINK)
        done = place_link(serve->fd, frame->path, frame->data);
    else if (frame->kind == FRAME_RENAME)
        done = names_is_path(frame->data) &&
               place_rename(serve->fd, frame->path, frame->data);
    else
        done = place_remove(serve->fd, frame->path);
    if (!done)
        send_fault(serve, what[frame->kind], frame->path);
}

/* False: the runner is another version. */
static bool obey(struct serve *serve, const struct frame *frame)
{
    if (frame->kind == FRAME_HELLO)
        return frame->number == FRAME_VERSION;
    if (frame->kind == FRAME_ASK)
        answer(serve, frame);
    else if (!names_is_path(frame->path))
        return false;
    else if (frame->kind == FRAME_WATCH || frame->kind == FRAME_HAVE ||
             frame->kind == FRAME_FORGET)
        watch(serve, frame);
    else if (frame->kind == FRAME_LIST)
        give_list(serve->fd, frame, send_frame, serve);
    else if (frame->kind == FRAME_READ)
        give_part(serve->fd, frame, send_frame, serve);
    else if (frame->kind == FRAME_FOLDER)
        make_folder(serve, frame);
    else if (frame->kind < FRAME_ASK)
        change(serve, frame);
    return true;
}

/* What is left in `in` is the begin of a frame. */
static bool obey_all(struct serve *serve, struct text *in)
{
    struct frame frame;
    size_t at = 0, used = 0;
    enum ht_status status;
    while ((status = frame_read(in->data + at, in->len - at, &frame, &used,
                                NULL)) == HT_OK) {
        if (is_late(serve) || !obey(serve, &frame))
            return false;
        at += used;
    }
    memmove(in->data, in->data + at, in->len - at);
    in->len -= at;
    return status == HT_NOT_FOUND;
}

static void listen_always(struct serve *serve)
{
    static char bytes[READ_BYTES];
    struct text in = {0};
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&fd, 1, SILENT_MS) > 0) {
        const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        if (n > 0)
            text_append(&in, bytes, (size_t)n);
        if (n > 0 && !obey_all(serve, &in))
            break;
    }
    text_free(&in);
}

/* ---- begin ---- */

/* The first process of the pod sees by the lock that a runner is connected; it
 * is held until this process ends. */
static void hold_turn(const struct serve *serve)
{
    const int fd = openat(serve->fd, MIRROR_TURN,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        (void)flock(fd, LOCK_SH);
}

static enum ht_status take_root(struct serve *serve, const char *root,
                                bool in_pod, struct ht_error *err)
{
    struct stat is;
    umask(077);
    const enum ht_status status = disk_make_folder(root, err);
    if (status != HT_OK)
        return status;
    if (realpath(root, serve->root) == NULL)
        return ht_fail_errno(err, errno, "%s", root);
    serve->fd = open(serve->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (serve->fd < 0 || (!in_pod && fchmod(serve->fd, 0700) != 0))
        return ht_fail_errno(err, errno, "%s", serve->root);
    if (disk_write(serve->root, MIRROR_TURN, "", 0, 0600, err) != HT_OK)
        return HT_IO;
    if (fstatat(serve->fd, MIRROR_TURN, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return ht_fail_errno(err, errno, "%s/%s", serve->root, MIRROR_TURN);
    serve->turn = is.st_ino;
    if (in_pod)
        hold_turn(serve);
    return HT_OK;
}

static void greet(struct serve *serve)
{
    struct text out = {0};
    text_puts(&out, FRAME_BEGIN);
    frame_write(&out, &(struct frame){.kind = FRAME_HELLO,
                                      .number = FRAME_VERSION,
                                      .path = serve->root});
    (void)send_bytes(serve, &out);
    text_free(&out);
    find_in(serve, "batches", 1);
    find_in(serve, "code", 1);
    find_in(serve, "", 3);
}

int serve_run(const char *root, bool in_pod)
{
    struct ht_error err;
    struct serve *serve = ht_xcalloc(1, sizeof *serve);
    pthread_t thread;
    pthread_mutex_init(&serve->looking, NULL);
    pthread_mutex_init(&serve->writing, NULL);
    if (take_root(serve, root, in_pod, &err) != HT_OK) {
        (void)fprintf(stderr, "hypertune-shim: %s\n", err.text);
        return 1;
    }
    serve->look = look_new(serve->fd, send_frame, serve);
    greet(serve);
    if (pthread_create(&thread, NULL, look_always, serve) != 0) {
        (void)fputs("hypertune-shim: no thread\n", stderr);
        return 1;
    }
    listen_always(serve);
    _exit(0); /* the other thread may be in a write that never ends */
}
