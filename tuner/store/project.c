#include "tuner/store/project.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "tuner/base/budget.h"
#include "tuner/base/store_board.h"

enum ht_status project_fail(const char *what, int code, struct ht_error *err)
{
    ht_fail_errno(err, code, "the store cannot %s", what);
    if (err != NULL)
        err->status = HT_UNAVAILABLE;
    return HT_UNAVAILABLE;
}

/* --- its folder --- */

static bool make_folders(const struct project *project)
{
    static const char *const inside[] = {"", "arriving", "chunks", "trees"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        const struct project_path path = project_path(project, inside[i]);
        if (mkdirat(project->root, path.text, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return fsync(project->root) == 0;
}

enum ht_status project_open(int root, const char *name, bool make,
                            struct project **project, struct ht_error *err)
{
    struct project *made = ht_xcalloc(1, sizeof *made);
    struct stat found;
    enum ht_status status = folder_name_make(name, made->folder, err);
    made->root = root;
    if (status == HT_OK && make && !make_folders(made))
        status = project_fail("make a folder", errno, err);
    if (status == HT_OK && !make &&
        fstatat(root, made->folder, &found, AT_SYMLINK_NOFOLLOW) != 0)
        status = ht_fail(err, HT_NOT_FOUND,
                         "the project \"%.64s\" keeps nothing here", name);
    if (status == HT_OK && make)
        status = project_sync(made, "", err);
    if (status != HT_OK) {
        free(made);
        return status;
    }
    snprintf(made->name, sizeof made->name, "%s", name);
    pthread_mutex_init(&made->lock, NULL);
    *project = made;
    return HT_OK;
}

void project_close(struct project *project)
{
    if (project == NULL)
        return;
    pthread_mutex_destroy(&project->lock);
    free(project);
}

enum ht_status project_open_root(const char *data, int *root,
                                 struct ht_error *err)
{
    const int at = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = -1;
    if (at >= 0 && (mkdirat(at, "store", 0700) == 0 || errno == EEXIST))
        fd = openat(at, "store",
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(at) == 0;
    const int failed = errno;
    if (at >= 0)
        close(at);
    if (good)
        *root = fd;
    else if (fd >= 0)
        close(fd);
    return good ? HT_OK
                : ht_fail_errno(err, failed, "cannot use %s/store", data);
}

/* --- its bytes --- */

/* Of the plain files of a folder and of the folders in it; -1 with errno. */
static int64_t count(int at, const char *folder, int depth)
{
    const int fd =
        openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *one;
    struct stat found;
    int64_t bytes = 0;
    if (all == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (bytes >= 0 && (one = readdir(all)) != NULL) {
        if (one->d_name[0] == '.' ||
            fstatat(fd, one->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        int64_t more = S_ISREG(found.st_mode) ? (int64_t)found.st_size : 0;
        if (S_ISDIR(found.st_mode) && depth > 0)
            more = count(fd, one->d_name, depth - 1);
        bytes = more >= 0 ? bytes + more : -1;
    }
    closedir(all);
    return bytes;
}

enum ht_status project_count(struct project *project, struct store_board *board,
                             struct ht_error *err)
{
    pthread_mutex_lock(&project->lock);
    bool counted = project->counted;
    if (!counted) {
        const struct project_path of_chunks = project_path(project, "chunks"),
                                  of_trees = project_path(project, "trees");
        const int64_t chunks = count(project->root, of_chunks.text, 1);
        const int64_t trees = count(project->root, of_trees.text, 0);
        counted = project->counted = chunks >= 0 && trees >= 0;
        if (counted) {
            project->bytes += chunks + trees;
            store_board_add(board, chunks + trees);
        }
    }
    const int failed = errno;
    pthread_mutex_unlock(&project->lock);
    return counted ? HT_OK : project_fail("look at its files", failed, err);
}

void project_add(struct project *project, struct store_board *board,
                 int64_t bytes)
{
    pthread_mutex_lock(&project->lock);
    project->bytes += bytes;
    pthread_mutex_unlock(&project->lock);
    store_board_add(board, bytes);
}

enum ht_status project_check_room(struct project *project, int64_t bytes,
                                  struct ht_error *err)
{
    const int64_t most = budget_of(BUDGET_PROJECT_STORE);
    pthread_mutex_lock(&project->lock);
    const bool fits = project->bytes + bytes <= most;
    pthread_mutex_unlock(&project->lock);
    if (fits)
        return HT_OK;
    budget_exceeded(BUDGET_PROJECT_STORE);
    return ht_fail(err, HT_UNAVAILABLE,
                   "the project \"%.64s\" may keep %lld bytes of code and "
                   "checkpoints, and they are used up: delete studies, or "
                   "raise --budget project-store",
                   project->name, (long long)most);
}

/* --- its files --- */

__attribute__((format(printf, 2, 3))) static struct project_path
make_path(const struct project *project, const char *format, ...)
{
    struct project_path path;
    const int len =
        snprintf(path.text, sizeof path.text, "%s/", project->folder);
    va_list args;
    va_start(args, format);
    vsnprintf(path.text + len, sizeof path.text - (size_t)len, format, args);
    va_end(args);
    return path;
}

struct project_path project_chunk(const struct project *project,
                                  const char *chunk)
{
    return make_path(project, "chunks/%.2s/%.64s", chunk, chunk);
}

struct project_path project_arriving(const struct project *project,
                                     const char *name)
{
    return make_path(project, "arriving/%.64s", name);
}

struct project_path project_tree(const struct project *project,
                                 const char *tree)
{
    return make_path(project, "trees/%.64s", tree);
}

struct project_path project_path(const struct project *project,
                                 const char *name)
{
    return make_path(project, "%.80s", name);
}

int64_t project_size(const struct project *project,
                     const struct project_path *path)
{
    struct stat found;
    return fstatat(project->root, path->text, &found, AT_SYMLINK_NOFOLLOW) ==
                       0 &&
                   S_ISREG(found.st_mode)
               ? (int64_t)found.st_size
               : -1;
}

bool project_has(const struct project *project, const char *chunk)
{
    const struct project_path whole = project_chunk(project, chunk),
                              arriving = project_arriving(project, chunk);
    return project_size(project, &whole) >= 0 ||
           project_size(project, &arriving) >= 0;
}

enum ht_status project_sync(const struct project *project, const char *folder,
                            struct ht_error *err)
{
    const struct project_path path = project_path(project, folder);
    const int fd =
        openat(project->root, path.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    return synced ? HT_OK : project_fail("sync a folder", failed, err);
}
