#include "runner/mirror/look.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/base/whole.h"
#include "proto/tree/beneath.h"

enum {
    MOST_AT_ONCE = 1024 * 1024, /* bytes of one file, each time */
    MOST_FOLDERS = 100000,
    MOST_ASKS = 8192, /* files of an element */
    MOST_LOGS = 64,   /* of a replica, as its trial may make such names */
    PATH_BYTES = 2 * FRAME_PATH
};

struct file {
    char *name;
    enum names_file kind;
    bool there;      /* at the last look */
    bool noted;      /* ... it was, and changed since it was sent */
    struct stat is;  /* at the last look */
    struct stat was; /* when it was sent; st_ino 0: not on this connection */
    int64_t offset;  /* what the runner has of it, and how that ends */
    size_t n_tail;
    char tail[FRAME_TAIL];
};

struct inner {  /* a folder in one that is watched */
    char *name; /* "": that itself */
    char *only; /* looked at is this file alone; NULL: all */
    bool drained;
    size_t n;
    struct file *files;
};

struct watch {
    struct watch *next;
    char *folder, *extra;
    enum names_folder is;
    size_t n;
    struct inner *inner;
};

struct look {
    int root;
    look_send *send;
    void *context;
    struct watch *first;
    bool closed;
    bool held; /* the end of a replica waits for its results */
    bool more;
};

struct look *look_new(int root, look_send *send, void *context)
{
    struct look *look = ht_xcalloc(1, sizeof *look);
    *look = (struct look){.root = root, .send = send, .context = context};
    return look;
}

static void free_watch(struct watch *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        struct inner *inner = &watch->inner[i];
        for (size_t k = 0; k < inner->n; k++)
            free(inner->files[k].name);
        free(inner->files);
        free(inner->name);
        free(inner->only);
    }
    free(watch->inner);
    free(watch->folder);
    free(watch->extra);
    free(watch);
}

void look_free(struct look *look)
{
    if (look == NULL)
        return;
    while (look->first != NULL)
        look_forget(look, look->first->folder);
    free(look);
}

/* ---- what is known ---- */

static struct inner *get_inner(struct watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->n; i++)
        if (strcmp(watch->inner[i].name, name) == 0)
            return &watch->inner[i];
    if (watch->n >= MOST_FOLDERS)
        return NULL;
    watch->inner =
        ht_xrealloc(watch->inner, watch->n + 1, sizeof *watch->inner);
    watch->inner[watch->n] = (struct inner){.name = ht_xstrdup(name)};
    return &watch->inner[watch->n++];
}

static struct file *get_file(const struct watch *watch, struct inner *inner,
                             const char *name, enum names_file kind)
{
    for (size_t i = 0; i < inner->n; i++)
        if (strcmp(inner->files[i].name, name) == 0)
            return &inner->files[i];
    if (watch->is == NAMES_BATCH ? inner->n >= MOST_ASKS && *inner->name != '\0'
                                 : inner->n >= MOST_LOGS && names_may_go(name))
        return NULL;
    inner->files =
        ht_xrealloc(inner->files, inner->n + 1, sizeof *inner->files);
    inner->files[inner->n] =
        (struct file){.name = ht_xstrdup(name), .kind = kind};
    return &inner->files[inner->n++];
}

/* Splits a path in the folder; its file's name. */
static const char *split(const char *path, char inner[FRAME_PATH])
{
    const char *slash = strrchr(path, '/');
    const size_t len = slash != NULL ? (size_t)(slash - path) : 0;
    memcpy(inner, path, len);
    inner[len] = '\0';
    return slash != NULL ? slash + 1 : path;
}

void look_forget(struct look *look, const char *folder)
{
    struct watch **link = &look->first;
    while (*link != NULL && strcmp((*link)->folder, folder) != 0)
        link = &(*link)->next;
    struct watch *watch = *link;
    if (watch == NULL)
        return;
    *link = watch->next;
    free_watch(watch);
}

void look_watch(struct look *look, const char *folder, enum names_folder is,
                const char *extra)
{
    char inner[FRAME_PATH];
    look_forget(look, folder);
    struct watch *watch = ht_xcalloc(1, sizeof *watch);
    *watch = (struct watch){.next = look->first,
                            .folder = ht_xstrdup(folder),
                            .extra = ht_xstrdup(extra),
                            .is = is};
    look->first = watch;
    (void)get_inner(watch, "");
    if (!names_is_path(extra))
        return;
    const char *only = split(extra, inner);
    struct inner *around = get_inner(watch, inner);
    if (around != NULL && *inner != '\0')
        around->only = ht_xstrdup(only);
}

void look_have(struct look *look, const char *path, int64_t size,
               const char *tail, size_t n_tail)
{
    char name[FRAME_PATH];
    for (struct watch *watch = look->first; watch != NULL;
         watch = watch->next) {
        const size_t len = strlen(watch->folder);
        if (strncmp(path, watch->folder, len) != 0 || path[len] != '/')
            continue;
        const char *rest = path + len + 1;
        const enum names_file kind = names_of(watch->is, watch->extra, rest);
        const char *last = split(rest, name);
        if ((kind != NAMES_WHOLE && kind != NAMES_GROWS) ||
            n_tail > FRAME_TAIL || size < (int64_t)n_tail)
            return;
        struct inner *inner = get_inner(watch, name);
        struct file *file =
            inner != NULL ? get_file(watch, inner, last, kind) : NULL;
        if (file == NULL)
            return;
        file->offset = size;
        file->n_tail = n_tail;
        memcpy(file->tail, tail, n_tail);
        return;
    }
}

/* ---- looking ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void note(const struct watch *watch, struct inner *inner, int fd,
                 const char *name)
{
    char path[PATH_BYTES];
    struct stat is;
    (void)snprintf(path, sizeof path, "%s%s%s", inner->name,
                   *inner->name != '\0' ? "/" : "", name);
    const enum names_file kind = names_of(watch->is, watch->extra, path);
    if ((kind != NAMES_WHOLE && kind != NAMES_GROWS) ||
        fstatat(fd, name, &is, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(is.st_mode))
        return;
    struct file *file = get_file(watch, inner, name, kind);
    if (file == NULL)
        return;
    file->is = is;
    file->there = true;
    file->noted = !is_same(&file->is, &file->was);
}

static bool may_be_folder(const struct dirent *entry)
{
    return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
}

/* Closes the descriptor. `i`: its index, as folders in it may be added. */
static void scan_open(struct watch *watch, size_t i, int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    if (dir == NULL) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (*watch->inner[i].name == '\0' && may_be_folder(entry) &&
            names_is_inner(watch->is, entry->d_name))
            (void)get_inner(watch, entry->d_name);
        else
            note(watch, &watch->inner[i], fd, entry->d_name);
    }
    closedir(dir);
}

static int open_inner(const struct look *look, const struct watch *watch,
                      const struct inner *inner)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s%s%s", watch->folder,
                   *inner->name != '\0' ? "/" : "", inner->name);
    return beneath_open(look->root, path, O_RDONLY | O_DIRECTORY, 0);
}

static void scan(const struct look *look, struct watch *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        struct inner *inner = &watch->inner[i];
        for (size_t k = 0; k < inner->n; k++)
            inner->files[k].there = inner->files[k].noted = false;
        const int fd = open_inner(look, watch, inner);
        if (fd < 0)
            continue;
        if (inner->only != NULL) {
            note(watch, inner, fd, inner->only);
            close(fd);
        } else {
            scan_open(watch, i, fd);
        }
    }
}

/* ---- sending ---- */

struct sending {
    struct look *look;
    char path[PATH_BYTES];
    int folder;
};

static bool send_frame(struct look *look, const struct frame *frame)
{
    look->closed = look->closed || !look->send(look->context, frame);
    return !look->closed;
}

static int open_file(const struct sending *sending, const struct file *file,
                     struct stat *is)
{
    const int fd =
        openat(sending->folder, file->name,
               O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, is) == 0 && S_ISREG(is->st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Whether what the runner has is the begin of the file. */
static bool continues(const struct file *file, int fd, int64_t size)
{
    char tail[FRAME_TAIL];
    const int64_t at = file->offset - (int64_t)file->n_tail;
    return size >= file->offset &&
           whole_read_at(fd, tail, file->n_tail, at) == (ssize_t)file->n_tail &&
           memcmp(tail, file->tail, file->n_tail) == 0;
}

static void advance(struct file *file, const char *bytes, size_t len)
{
    const size_t n = len < FRAME_TAIL ? len : FRAME_TAIL;
    const size_t kept =
        file->n_tail + n <= FRAME_TAIL ? file->n_tail : FRAME_TAIL - n;
    memmove(file->tail, file->tail + file->n_tail - kept, kept);
    memcpy(file->tail + kept, bytes + len - n, n);
    file->n_tail = kept + n;
    file->offset += (int64_t)len;
}

static bool send_part(struct sending *sending, struct file *file,
                      const char *bytes, size_t len)
{
    const struct frame frame = {.kind = FRAME_SOME,
                                .path = sending->path,
                                .number = (uint64_t)file->offset,
                                .data = bytes,
                                .len = len};
    if (!send_frame(sending->look, &frame))
        return false;
    advance(file, bytes, len);
    return true;
}

/* False: there is more of it. */
static bool send_growth(struct sending *sending, struct file *file)
{
    char bytes[FRAME_DATA];
    struct stat is;
    const int fd = open_file(sending, file, &is);
    if (fd < 0)
        return true;
    const int64_t most = names_most(sending->path);
    const int64_t size = is.st_size < most ? is.st_size : most;
    int64_t left = MOST_AT_ONCE;
    if (!continues(file, fd, is.st_size)) { /* it was written anew */
        file->offset = 0;
        file->n_tail = 0;
        (void)send_part(sending, file, "", 0);
    }
    while (file->offset < size && left > 0 && !sending->look->closed) {
        const int64_t rest = size - file->offset;
        const ssize_t n = whole_read_at(
            fd, bytes, rest < FRAME_DATA ? (size_t)rest : FRAME_DATA,
            file->offset);
        if (n <= 0) { /* what cannot be read holds nothing up */
            close(fd);
            return true;
        }
        (void)send_part(sending, file, bytes, (size_t)n);
        left -= n;
    }
    close(fd);
    if (file->offset < size)
        return false;
    file->was = is;
    return true;
}

static void send_whole(struct sending *sending, struct file *file)
{
    char bytes[FRAME_DATA];
    struct stat is;
    const int fd = open_file(sending, file, &is);
    if (fd < 0)
        return;
    const bool known = file->was.st_ino == 0 && file->offset > 0 &&
                       is.st_size == file->offset &&
                       continues(file, fd, is.st_size);
    const ssize_t n = is.st_size <= FRAME_DATA
                          ? whole_read_at(fd, bytes, (size_t)is.st_size, 0)
                          : -1;
    close(fd);
    const struct frame frame = {.kind = FRAME_WHOLE,
                                .path = sending->path,
                                .data = bytes,
                                .len = n > 0 ? (size_t)n : 0};
    if (known || n < 0 || send_frame(sending->look, &frame))
        file->was = is;
}

static bool is_exit(const struct file *file)
{
    return strcmp(file->name, "exit.json") == 0;
}

static bool is_due(const struct look *look, const struct watch *watch,
                   const struct inner *inner, const struct file *file,
                   enum names_file kind)
{
    if (!file->noted || file->kind != kind || look->closed)
        return false;
    return kind != NAMES_WHOLE || !is_exit(file) ||
           (inner->drained && (watch->n < 2 || watch->inner[1].drained ||
                               watch->inner[1].only == NULL));
}

static void set_path(struct sending *sending, const struct watch *watch,
                     const struct inner *inner, const char *name)
{
    (void)snprintf(sending->path, sizeof sending->path, "%s/%s%s%s",
                   watch->folder, inner->name, *inner->name != '\0' ? "/" : "",
                   name);
}

static void send_kind(struct look *look, const struct watch *watch,
                      struct inner *inner, enum names_file kind)
{
    struct sending sending = {.look = look, .folder = -1};
    for (size_t i = 0; i < inner->n; i++) {
        struct file *file = &inner->files[i];
        if (!is_due(look, watch, inner, file, kind)) {
            look->held |= file->noted && file->kind == kind;
            continue;
        }
        if (sending.folder < 0)
            sending.folder = open_inner(look, watch, inner);
        set_path(&sending, watch, inner, file->name);
        if (kind == NAMES_WHOLE)
            send_whole(&sending, file);
        else
            inner->drained &= send_growth(&sending, file);
    }
    if (sending.folder >= 0)
        close(sending.folder);
}

static void send_gone(struct look *look, const struct watch *watch,
                      struct inner *inner)
{
    struct sending sending = {.look = look};
    for (size_t i = inner->n; i-- > 0;) {
        struct file *file = &inner->files[i];
        if (file->there || !names_may_go(file->name))
            continue;
        set_path(&sending, watch, inner, file->name);
        const struct frame frame = {.kind = FRAME_GONE, .path = sending.path};
        if (!send_frame(look, &frame))
            return;
        free(file->name);
        *file = inner->files[--inner->n];
    }
}

static void send_watch(struct look *look, struct watch *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        struct inner *inner = &watch->inner[i];
        inner->drained = true;
        send_kind(look, watch, inner, NAMES_GROWS);
        look->more |= !inner->drained;
    }
    for (size_t i = 0; i < watch->n; i++)
        send_kind(look, watch, &watch->inner[i], NAMES_WHOLE);
    for (size_t i = 0; watch->is == NAMES_ATTEMPT && i < watch->n; i++)
        send_gone(look, watch, &watch->inner[i]);
}

static void each(struct look *look, enum names_folder is,
                 void (*act)(struct look *look, struct watch *watch))
{
    for (struct watch *watch = look->first; watch != NULL && !look->closed;
         watch = watch->next)
        if (watch->is == is)
            act(look, watch);
}

static void scan_one(struct look *look, struct watch *watch)
{
    scan(look, watch);
}

enum look_result look_round(struct look *look)
{
    look->held = look->more = false;
    each(look, NAMES_BATCH, scan_one);
    each(look, NAMES_ATTEMPT, scan_one);
    each(look, NAMES_ATTEMPT, send_watch);
    if (!look->held)
        each(look, NAMES_BATCH, send_watch);
    return look->closed               ? LOOK_CLOSED
           : look->held || look->more ? LOOK_MORE
                                      : LOOK_ALL;
}
