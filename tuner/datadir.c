#include "tuner/datadir.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/replace_file.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/backup/restore.h"
#include "tuner/base/disk_reserve.h"
#include "tuner/datadir_files.h"

static char *join(const char *folder, const char *name)
{
    assert(folder != NULL);
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = ht_xcalloc(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

char *datadir_path(const struct datadir *dir, const char *name)
{
    return join(dir->path, name);
}

/* Else a power cut could take a new folder with all that was synced in it. */
static int sync_parent(const char *path)
{
    char *parent = ht_xstrdup(path);
    char *slash = strrchr(parent, '/');
    if (slash != NULL)
        slash[slash == parent ? 1 : 0] = '\0';
    const int fd =
        open(slash != NULL ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    /* Others may forbid to read theirs, or have no file system that syncs. */
    if (fd < 0)
        return 0;
    const int failed = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return failed;
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0)
        return sync_parent(path);
    return errno == EEXIST ? 0 : errno;
}

/* Like mkdir -p; only the last folder has to be ours. */
static enum ht_status make_folders(const char *path, struct ht_error *err)
{
    char *copy = ht_xstrdup(path);
    int failed = 0;
    for (char *at = copy + 1; failed == 0 && *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        failed = make_folder(copy);
        *at = '/';
    }
    if (failed == 0)
        failed = make_folder(copy);
    free(copy);
    return failed == 0 ? HT_OK
                       : ht_fail_errno(err, failed, "cannot make %s", path);
}

static enum ht_status check_private(const char *path, const struct stat *found,
                                    struct ht_error *err)
{
    if (found->st_uid != geteuid())
        return ht_fail(err, HT_PRECONDITION,
                       "%s belongs to user %u, not to this one (%u)", path,
                       (unsigned)found->st_uid, (unsigned)geteuid());
    if ((found->st_mode & 077) != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "%s is open to other users (mode %03o); run: chmod %s "
                       "%s",
                       path, (unsigned)found->st_mode & 0777,
                       S_ISDIR(found->st_mode) ? "700" : "600", path);
    return HT_OK;
}

static enum ht_status open_folder(const char *path, char **absolute,
                                  struct ht_error *err)
{
    enum ht_status status = make_folders(path, err);
    if (status != HT_OK)
        return status;
    char *real = realpath(path, NULL);
    struct stat found;
    if (real == NULL || stat(real, &found) != 0) {
        free(real);
        return ht_fail_errno(err, errno, "cannot open %s", path);
    }
    status = S_ISDIR(found.st_mode)
                 ? check_private(path, &found, err)
                 : ht_fail(err, HT_PRECONDITION, "%s is no folder", path);
    if (status != HT_OK) {
        free(real);
        return status;
    }
    *absolute = real;
    return HT_OK;
}

/* Reads a small file; false when it is absent or too large. */
static bool read_small(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, buffer, size);
    close(fd);
    if (n < 0 || (size_t)n >= size)
        return false;
    buffer[n] = '\0';
    return true;
}

/* The owner of the folder, from its files. */
static enum ht_status fail_owned(const char *folder, struct ht_error *err)
{
    char pid[32] = "", note[4096] = "";
    char *lock = join(folder, "lock"), *server = join(folder, "server.json");
    if (!read_small(lock, pid, sizeof pid) || strspn(pid, "0123456789\n") == 0)
        strcpy(pid, "unknown");
    pid[strcspn(pid, "\n")] = '\0';
    if (!read_small(server, note, sizeof note))
        note[0] = '\0';
    free(lock);
    free(server);

    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "server.json", note, strlen(note));
    const struct node *map = node_read_json(arena, note, strlen(note), &diag);
    const char *http = node_get_string(map, "http", NULL);
    enum ht_status status =
        http != NULL ? ht_fail(err, HT_CONFLICT,
                               "another server (pid %s, http=%s) owns %s", pid,
                               http, folder)
                     : ht_fail(err, HT_CONFLICT,
                               "another server (pid %s) owns %s", pid, folder);
    arena_free(arena);
    return status;
}

/* Locked besides the file, which may be removed while a server runs; a folder
 * that has files may not. Some network file systems lock no folders. */
static enum ht_status lock_folder(const char *folder, int *lock,
                                  struct ht_error *err)
{
    assert(folder != NULL);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", folder);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        *lock = fd;
        return HT_OK;
    }
    close(fd);
    return fail_owned(folder, err);
}

static enum ht_status take_lock(const char *folder, int *lock,
                                struct ht_error *err)
{
    char *path = join(folder, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int failed = errno;
    free(path);
    if (fd < 0)
        return ht_fail_errno(err, failed, "cannot open %s/lock", folder);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        failed = errno;
        close(fd);
        return failed == EWOULDBLOCK
                   ? fail_owned(folder, err)
                   : ht_fail_errno(err, failed, "cannot lock %s", folder);
    }
    char pid[32];
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len) {
        failed = errno;
        close(fd);
        return ht_fail_errno(err, failed, "cannot write %s/lock", folder);
    }
    *lock = fd;
    return HT_OK;
}

static enum ht_status read_token(const char *path, int fd,
                                 char token[TOKEN_TEXT_BYTES],
                                 struct ht_error *err)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return ht_fail_errno(err, errno, "cannot read %s", path);
    enum ht_status status = check_private(path, &found, err);
    if (status != HT_OK)
        return status;
    enum { DIGITS = TOKEN_TEXT_BYTES - 1 };
    char text[DIGITS + 2] = "";
    ssize_t n = read(fd, text, DIGITS + 1);
    if (n < DIGITS || strspn(text, "0123456789abcdef") != DIGITS ||
        (n > DIGITS && text[DIGITS] != '\n'))
        return ht_fail(err, HT_PRECONDITION,
                       "%s holds no token; remove it and a new one is made",
                       path);
    memcpy(token, text, DIGITS);
    token[DIGITS] = '\0';
    return HT_OK;
}

static enum ht_status make_token(const char *folder, const char *name,
                                 char token[TOKEN_TEXT_BYTES],
                                 struct ht_error *err)
{
    char line[TOKEN_TEXT_BYTES + 1];
    token_make(token, TOKEN_ADMIN_BYTES);
    int len = snprintf(line, sizeof line, "%s\n", token);
    return replace_file(folder, name, line, (size_t)len, err);
}

static enum ht_status open_token(const char *folder, const char *name,
                                 char token[TOKEN_TEXT_BYTES],
                                 struct ht_error *err)
{
    char *path = join(folder, name);
    enum ht_status status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        status = read_token(path, fd, token, err);
    else if (errno == ENOENT)
        status = make_token(folder, name, token, err);
    else
        status = ht_fail_errno(err, errno, "cannot read %s", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

static enum ht_status make_inside(const char *folder, const char *name,
                                  struct ht_error *err)
{
    char *path = join(folder, name);
    enum ht_status status = HT_OK;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        status = ht_fail_errno(err, errno, "cannot make %s", path);
    free(path);
    return status;
}

enum ht_status datadir_lock(const char *path, struct datadir *dir,
                            struct ht_error *err)
{
    struct datadir made = {.folder_lock = -1, .lock = -1};
    umask(077);
    enum ht_status status = open_folder(path, &made.path, err);
    if (status == HT_OK)
        status = lock_folder(made.path, &made.folder_lock, err);
    if (status == HT_OK) {
        disk_reserve_release(made.path);
        status = take_lock(made.path, &made.lock, err);
    }
    if (status == HT_OK)
        *dir = made;
    else
        datadir_close(&made);
    return status;
}

enum ht_status datadir_open(const char *path, struct datadir *dir,
                            struct ht_error *err)
{
    struct datadir made;
    enum ht_status status = datadir_lock(path, &made, err);
    if (status != HT_OK)
        return status;
    status = restore_finish(made.path, NULL, err);
    if (status == HT_OK)
        status = datadir_files_check(made.path, err);
    if (status == HT_OK)
        status = open_token(made.path, "token", made.admin_token, err);
    if (status == HT_OK)
        status = open_token(made.path, "runner-token", made.runner_token, err);
    if (status == HT_OK)
        status = make_inside(made.path, "runs", err);
    if (status == HT_OK)
        status = make_inside(made.path, "backups", err);
    if (status != HT_OK) {
        datadir_close(&made);
        return status;
    }
    /* A file left by a crash would lead commands to a dead address. */
    datadir_retract(&made);
    *dir = made;
    return HT_OK;
}

void datadir_close(struct datadir *dir)
{
    if (dir->lock >= 0)
        close(dir->lock);
    if (dir->folder_lock >= 0)
        close(dir->folder_lock);
    free(dir->path);
    *dir = (struct datadir){.folder_lock = -1, .lock = -1};
}

enum ht_status datadir_announce(const struct datadir *dir,
                                const struct datadir_note *note,
                                struct ht_error *err)
{
    char *token_file = datadir_path(dir, "token");
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "pid", getpid());
    json_add_string(object, "http", note->http);
    json_add_string(object, "report", note->report);
    json_add_string(object, "control", note->control);
    json_add_string(object, "tokenFile", token_file);
    json_add_string(object, "version", HT_VERSION);
    json_add_int(object, "startedMs", note->started_ms);
    if (note->https != NULL) {
        cJSON *tls = json_add_object(object, "tls");
        json_add_string(tls, "https", note->https);
        json_add_string(tls, "ca", note->ca);
        json_add_string(tls, "pins", note->pins);
    }
    free(token_file);

    struct text out = {0};
    json_print(object, &out);
    text_puts(&out, "\n");
    enum ht_status status =
        replace_file(dir->path, "server.json", out.data, out.len, err);
    text_free(&out);
    return status;
}

void datadir_retract(const struct datadir *dir)
{
    char *path = datadir_path(dir, "server.json");
    unlink(path);
    free(path);
}
