/* pull.c - a tree of the place comes here: it is listed, its files are read in
 * parts into a folder aside, and the whole gets its name.
 *
 * So few parts are under way that reports on the same connection wait for
 * little. Nothing that comes is trusted: paths are of the tree that was asked
 * for, and links that lead out of the folder are left out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/whole.h"
#include "proto/tree/beneath.h"
#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "runner/far/parts.h"
#include "runner/mirror/give.h"

enum {
    WINDOW = 16,        /* parts under way */
    MOST_TRIES = 5,     /* lists of what changes while it is read */
    SILENT_MS = 60000,  /* without a frame of it */
    MOST_LIST = 1 << 26 /* bytes of a list here */
};

enum state { LISTING, READING, WHOLE, FAILED };

struct entry {
    const char *rest; /* its path behind that of the tree: "", "/a/b" */
    enum give_kind kind;
    uint32_t stamp;
    int64_t size;
    const char *target;
};

struct list {
    struct arena *arena;
    size_t n;
    struct entry *entries;
};

struct cursor { /* in a list */
    size_t entry;
    int64_t offset;
};

struct far_pull {
    char *folder, *path; /* relative: what changes here; of the tree there */
    char *aside;         /* absolute */
    int fd;              /* of aside; -1 before the first list */
    enum state state;
    uint64_t connection; /* it was asked on */
    uint64_t number;     /* of the list */
    int tries;
    int64_t moved_at;         /* monotonic */
    struct list list, before; /* before: of the connection that lapsed */
    struct cursor asked, came;
    size_t under_way;
    struct ht_error err;
};

/* ---- begin and end ---- */

static void clear_list(struct list *list)
{
    arena_free(list->arena);
    *list = (struct list){.arena = NULL};
}

void far_pull_free(struct far_pull *pull)
{
    if (pull == NULL)
        return;
    if (pull->fd >= 0)
        close(pull->fd);
    clear_list(&pull->list);
    clear_list(&pull->before);
    free(pull->folder);
    free(pull->path);
    free(pull->aside);
    free(pull);
}

static struct far_pull *new_pull(const struct far *far,
                                 const struct far_pull_wish *wish)
{
    struct far_pull *pull = ht_xcalloc(1, sizeof *pull);
    struct text path = {0};
    const char *folder = safe_path_rest(far->site->state, wish->folder);
    text_puts(&path, folder);
    if (*wish->below != '\0')
        text_printf(&path, "/%s", wish->below);
    *pull = (struct far_pull){.folder = ht_xstrdup(folder),
                              .path = ht_xstrdup(text_string(&path)),
                              .aside = ht_xstrdup(wish->aside),
                              .fd = -1,
                              .moved_at = clock_monotonic_ms()};
    text_free(&path);
    return pull;
}

static bool is_wish(const struct far *far, const struct far_pull_wish *wish)
{
    const struct far_pull *pull = far->pull;
    const char *folder = safe_path_rest(far->site->state, wish->folder);
    if (pull == NULL || strcmp(pull->folder, folder) != 0)
        return false;
    const char *rest = pull->path + strlen(folder);
    return strcmp(*rest == '/' ? rest + 1 : rest, wish->below) == 0;
}

static void fail(struct far_pull *pull, const struct ht_error *err)
{
    pull->state = FAILED;
    pull->err = *err;
}

static void ask_list(struct far *far, struct far_pull *pull)
{
    clear_list(&pull->list);
    pull->list.arena = arena_new();
    pull->state = LISTING;
    pull->connection = far->connection;
    pull->number = ++far->lists & 0xffffffff;
    pull->under_way = 0;
    far_queue(far, &(struct frame){.kind = FRAME_LIST,
                                   .path = pull->path,
                                   .number = pull->number});
}

/* ---- what is made here ---- */

enum { PATH_BYTES = 2 * FRAME_PATH };

/* The path below the folder aside. */
static const char *here(const struct far_pull *pull, const char *rest,
                        char path[PATH_BYTES])
{
    const char *below = pull->path + strlen(pull->folder);
    (void)snprintf(path, PATH_BYTES, "%s%s", below, rest);
    return *path == '/' ? path + 1 : path;
}

static enum ht_status open_aside(struct far_pull *pull, struct ht_error *err)
{
    static const struct safe_path_modes modes = {.parents = 0700, .last = 0700};
    char path[PATH_BYTES], *slash;
    if (pull->fd >= 0)
        close(pull->fd);
    file_tree_remove(pull->aside, NULL, NULL);
    enum ht_status status = disk_make_folder(pull->aside, err);
    pull->fd = status == HT_OK
                   ? open(pull->aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                   : -1;
    if (status == HT_OK && pull->fd < 0)
        return ht_fail_errno(err, errno, "%s", pull->aside);
    const char *below = here(pull, "", path);
    if (status == HT_OK && (slash = strrchr(below, '/')) != NULL) {
        *slash = '\0';
        status = safe_path_make(pull->aside, below, &modes, err);
    }
    return status;
}

static bool make_empty(int folder, const char *name)
{
    const int fd =
        openat(folder, name,
               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0;
}

/* All but the bytes of a file. It may be there from the connection before. */
static enum ht_status make_entry(const struct far_pull *pull,
                                 const struct entry *entry,
                                 struct ht_error *err)
{
    char path[PATH_BYTES];
    const char *name;
    const char *below = here(pull, entry->rest, path);
    if (*below == '\0') /* the folder aside itself */
        return entry->kind == GIVE_FOLDER
                   ? HT_OK
                   : ht_fail(err, HT_CORRUPT, "%.200s is no folder",
                             pull->path);
    if (entry->kind == GIVE_LINK && !beneath_link_stays(below, entry->target))
        return HT_OK; /* as what is sent to the server lacks it, too */
    const int folder = beneath_open_parent(pull->fd, below, &name);
    bool made = folder >= 0;
    if (made && entry->kind == GIVE_FOLDER)
        made = mkdirat(folder, name, 0700) == 0;
    else if (made && entry->kind == GIVE_LINK)
        made = symlinkat(entry->target, folder, name) == 0;
    else if (made)
        made =
            make_empty(folder, name) &&
            (entry->kind == GIVE_FILE || fchmodat(folder, name, 0700, 0) == 0);
    made = made || (folder >= 0 && errno == EEXIST);
    if (!made)
        ht_fail_errno(err, errno, "cannot make %.200s", below);
    if (folder >= 0)
        close(folder);
    return made ? HT_OK : HT_IO;
}

static enum ht_status write_part(const struct far_pull *pull,
                                 const struct entry *entry,
                                 const struct frame *frame,
                                 struct ht_error *err)
{
    char path[PATH_BYTES];
    const char *below = here(pull, entry->rest, path);
    const int fd = beneath_open(pull->fd, below, O_WRONLY, 0);
    const bool written = fd >= 0 && whole_write_at(fd, frame->data, frame->len,
                                                   (int64_t)frame->number);
    if (!written)
        ht_fail_errno(err, errno, "cannot write %.200s", below);
    if (fd >= 0)
        close(fd);
    return written ? HT_OK : HT_IO;
}

/* ---- reading ---- */

static bool is_read(const struct entry *entry)
{
    return entry->size > 0;
}

static void ask_part(struct far *far, struct far_pull *pull,
                     const struct entry *entry)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s%s", pull->path, entry->rest);
    far_queue(far, &(struct frame){.kind = FRAME_READ,
                                   .path = path,
                                   .number = (uint64_t)pull->asked.offset});
    pull->under_way++;
    pull->asked.offset += FRAME_DATA;
    if (pull->asked.offset >= entry->size)
        pull->asked = (struct cursor){.entry = pull->asked.entry + 1};
}

static void ask_more(struct far *far, struct far_pull *pull)
{
    struct ht_error err;
    while (pull->asked.entry < pull->list.n && pull->under_way < WINDOW) {
        const struct entry *entry = &pull->list.entries[pull->asked.entry];
        if (pull->asked.offset == 0 && make_entry(pull, entry, &err) != HT_OK) {
            fail(pull, &err);
            return;
        }
        if (is_read(entry))
            ask_part(far, pull, entry);
        else
            pull->asked.entry++;
    }
    if (pull->asked.entry == pull->list.n && pull->under_way == 0)
        pull->state = WHOLE;
}

static void begin_anew(struct far *far, struct far_pull *pull)
{
    struct ht_error err;
    if (++pull->tries < MOST_TRIES) {
        ask_list(far, pull);
        return;
    }
    ht_fail(&err, HT_CONFLICT, "%.200s changes while it is read", pull->path);
    fail(pull, &err);
}

static enum ht_status take_part(struct far *far, struct far_pull *pull,
                                const struct frame *frame, struct ht_error *err)
{
    struct ht_error why;
    struct cursor *came = &pull->came;
    if (pull->state != READING)
        return HT_OK; /* of an earlier list */
    while (came->entry < pull->list.n &&
           !is_read(&pull->list.entries[came->entry]))
        came->entry++;
    const struct entry *entry = &pull->list.entries[came->entry];
    const size_t len = strlen(pull->path);
    if (pull->under_way == 0 || came->entry == pull->list.n ||
        strncmp(frame->path, pull->path, len) != 0 ||
        strcmp(frame->path + len, entry->rest) != 0 ||
        (int64_t)frame->number != came->offset)
        return ht_fail(err, HT_CORRUPT, "a part of %.200s was not asked for",
                       frame->path);
    const int64_t left = entry->size - came->offset;
    if (frame->mode != entry->stamp ||
        (int64_t)frame->len != (left < FRAME_DATA ? left : FRAME_DATA)) {
        begin_anew(far, pull);
        return HT_OK;
    }
    pull->under_way--;
    if (write_part(pull, entry, frame, &why) != HT_OK) {
        fail(pull, &why);
        return HT_OK;
    }
    came->offset += FRAME_DATA;
    if (came->offset >= entry->size)
        *came = (struct cursor){.entry = came->entry + 1};
    ask_more(far, pull);
    return HT_OK;
}

/* ---- the list ---- */

static enum ht_status take_entry(struct far_pull *pull,
                                 const struct frame *frame,
                                 struct ht_error *err)
{
    struct give_entry is;
    struct list *list = &pull->list;
    const size_t len = strlen(pull->path);
    if (pull->state != LISTING || frame->mode != pull->number)
        return HT_OK;
    const char *rest = frame->path + len;
    if (!names_is_path(frame->path) ||
        strncmp(frame->path, pull->path, len) != 0 ||
        (*rest != '/' && *rest != '\0') || !give_read_entry(frame, &is) ||
        (int64_t)frame->number < 0 || list->n >= GIVE_MOST ||
        arena_bytes(list->arena) > MOST_LIST)
        return ht_fail(err, HT_CORRUPT, "%.200s is not expected in a list",
                       frame->path);
    const bool has_bytes = is.kind == GIVE_FILE || is.kind == GIVE_PROGRAM;
    list->entries =
        arena_grow(list->arena, list->entries, list->n, sizeof *list->entries);
    list->entries[list->n++] =
        (struct entry){.rest = arena_strdup(list->arena, rest),
                       .kind = is.kind,
                       .stamp = is.stamp,
                       .size = has_bytes ? (int64_t)frame->number : 0,
                       .target = arena_strdup(list->arena, is.target)};
    return HT_OK;
}

static bool is_same(const struct list *a, const struct list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        const struct entry *one = &a->entries[i], *other = &b->entries[i];
        same = one->kind == other->kind && one->stamp == other->stamp &&
               one->size == other->size &&
               strcmp(one->rest, other->rest) == 0 &&
               strcmp(one->target, other->target) == 0;
    }
    return same && a->n > 0;
}

static enum ht_status check_list(const struct far_pull *pull,
                                 const struct frame *frame,
                                 struct ht_error *err)
{
    if (frame->len > 0)
        return ht_fail(err, HT_CORRUPT, "%.220s", frame->data);
    if (frame->mode == 0 || pull->list.n == 0)
        return ht_fail(err, HT_NOT_FOUND, "there is no %.200s", pull->path);
    return HT_OK;
}

/* What had come over an earlier connection stays where nothing has changed. */
static void take_listed(struct far *far, struct far_pull *pull,
                        const struct frame *frame)
{
    struct ht_error err;
    if (pull->state != LISTING || frame->number != pull->number)
        return;
    enum ht_status status = check_list(pull, frame, &err);
    if (status == HT_OK && !is_same(&pull->list, &pull->before)) {
        pull->came = (struct cursor){.entry = 0};
        status = open_aside(pull, &err);
    }
    clear_list(&pull->before);
    if (status != HT_OK) {
        fail(pull, &err);
        return;
    }
    pull->asked = pull->came;
    pull->state = READING;
    ask_more(far, pull);
}

enum ht_status far_pull_take(struct far *far, const struct frame *frame,
                             struct ht_error *err)
{
    struct far_pull *pull = far->pull;
    if (pull == NULL || pull->connection != far->connection)
        return HT_OK;
    pull->moved_at = clock_monotonic_ms();
    if (frame->kind == FRAME_ENTRY)
        return take_entry(pull, frame, err);
    if (frame->kind == FRAME_PART)
        return take_part(far, pull, frame, err);
    take_listed(far, pull, frame);
    return HT_OK;
}

/* ---- from the supervising thread ---- */

/* At once, so that no half of it is ever seen. */
static enum ht_status put_in_place(const struct far *far,
                                   const struct far_pull *pull,
                                   struct ht_error *err)
{
    int code = renameat2(AT_FDCWD, pull->aside, far->state, pull->folder,
                         RENAME_EXCHANGE) == 0
                   ? 0
                   : errno;
    if (code == ENOENT)
        code = renameat(AT_FDCWD, pull->aside, far->state, pull->folder) == 0
                   ? 0
                   : errno;
    if (code != 0)
        return ht_fail_errno(err, code, "cannot replace %.200s", pull->folder);
    file_tree_remove(pull->aside, NULL, NULL);
    return HT_OK;
}

/* A list of the connection that lapsed is kept for the comparison, once it is
 * complete. */
static void follow_connection(struct far *far, struct far_pull *pull)
{
    if (far->connection == 0 || far->synced != far->connection ||
        pull->connection == far->connection)
        return;
    if (pull->state == READING) {
        clear_list(&pull->before);
        pull->before = pull->list;
        pull->list = (struct list){.arena = NULL};
    }
    ask_list(far, pull);
}

static enum ht_status look(struct far *far, struct far_pull *pull,
                           struct ht_error *err)
{
    if (pull->state == WHOLE)
        return put_in_place(far, pull, err);
    if (pull->state == FAILED) {
        *err = pull->err;
        return err->status;
    }
    follow_connection(far, pull);
    if (clock_monotonic_ms() - pull->moved_at > SILENT_MS)
        return ht_fail(err, HT_UNAVAILABLE, "nothing of %.200s comes",
                       pull->path);
    return HT_OK;
}

enum far_pulled far_pull(struct far *far, const struct far_pull_wish *wish,
                         struct ht_error *err)
{
    pthread_mutex_lock(&far->lock);
    if (!is_wish(far, wish)) {
        far_pull_free(far->pull);
        far->pull = new_pull(far, wish);
    }
    struct far_pull *pull = far->pull;
    const bool whole = pull->state == WHOLE;
    const enum ht_status status = look(far, pull, err);
    if (whole || status != HT_OK) {
        if (!whole || status != HT_OK)
            file_tree_remove(pull->aside, NULL, NULL);
        far_pull_free(pull);
        far->pull = NULL;
    }
    pthread_mutex_unlock(&far->lock);
    if (status != HT_OK)
        return FAR_NOT_PULLED;
    return whole ? FAR_PULLED : FAR_PULLING;
}
