#include "tuner/store/arriving.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/store/project.h"

/* NULL with errno. */
static DIR *open_folder(int at, const char *name)
{
    const int fd =
        openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL && fd >= 0)
        close(fd);
    return folder;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static enum ht_status empty(int root, const char *project, struct ht_error *err)
{
    struct project whose = {.root = root};
    const struct dirent *one;
    int failed = 0;
    if (strlen(project) >= sizeof whose.folder)
        return HT_OK;
    memcpy(whose.folder, project, strlen(project) + 1);
    const struct project_path path = project_path(&whose, "arriving");
    DIR *folder = open_folder(root, path.text);
    if (folder == NULL)
        return HT_OK; /* no project's */
    while (failed == 0 && (one = readdir(folder)) != NULL)
        if (!is_dots(one->d_name) &&
            unlinkat(dirfd(folder), one->d_name, 0) != 0)
            failed = errno;
    closedir(folder);
    return failed == 0 ? HT_OK
                       : ht_fail_errno(err, failed, "cannot empty %s of store",
                                       path.text);
}

enum ht_status arriving_empty(int root, struct ht_error *err)
{
    DIR *projects = open_folder(root, ".");
    const struct dirent *one;
    enum ht_status status = HT_OK;
    if (projects == NULL)
        return ht_fail_errno(err, errno, "cannot read the store");
    while (status == HT_OK && (one = readdir(projects)) != NULL)
        if (!is_dots(one->d_name))
            status = empty(root, one->d_name, err);
    closedir(projects);
    return status;
}

void arriving_expire(struct project *project, struct store_board *board,
                     int64_t before_ms)
{
    const struct project_path path = project_path(project, "arriving");
    DIR *folder = open_folder(project->root, path.text);
    const struct dirent *one;
    struct stat found;
    while (folder != NULL && (one = readdir(folder)) != NULL) {
        if (strlen(one->d_name) != TREE_NAME - 1 ||
            fstatat(dirfd(folder), one->d_name, &found, AT_SYMLINK_NOFOLLOW) !=
                0)
            continue;
        const struct project_path whole = project_chunk(project, one->d_name);
        const int64_t came_ms = (int64_t)found.st_mtim.tv_sec * 1000;
        if ((came_ms < before_ms || project_size(project, &whole) >= 0) &&
            unlinkat(dirfd(folder), one->d_name, 0) == 0)
            project_add(project, board, -(int64_t)found.st_size);
    }
    if (folder != NULL)
        closedir(folder);
}
