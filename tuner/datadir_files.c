#include "tuner/datadir_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tuner/db/mark.h"

/* False also for what cannot be looked at. */
static bool look(const char *folder, const char *name, char path[PATH_MAX],
                 struct stat *found)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return lstat(path, found) == 0;
}

/* SQLite would put the log of a link beside the link, and what it leads to can
 * be exchanged without a trace in this folder. */
static enum ht_status check_kind(const char *path, const struct stat *found,
                                 bool is_folder, struct ht_error *err)
{
    if (S_ISLNK(found->st_mode))
        return ht_fail(err, HT_PRECONDITION,
                       "%s is a symbolic link; put the %s itself there, or "
                       "mount it (mount --bind)",
                       path, is_folder ? "folder" : "file");
    if (is_folder ? !S_ISDIR(found->st_mode) : !S_ISREG(found->st_mode))
        return ht_fail(err, HT_PRECONDITION, "%s is no %s", path,
                       is_folder ? "folder" : "file");
    if (!is_folder && (found->st_mode & 077) != 0 && chmod(path, 0600) != 0)
        return ht_fail_errno(err, errno, "cannot make %s private", path);
    return HT_OK;
}

static enum ht_status check_kinds(const char *folder, struct ht_error *err)
{
    static const char *const folders[] = {"runs", "backups", "tensorboard"};
    static const char *const files[] = {"hypertune", "logs", "webhooks",
                                        "mlflow", "tensorboard"};
    static const char *const ends[] = {"db", "db-wal", "db-shm", "db-mark"};
    enum { N_ENDS = sizeof ends / sizeof *ends };
    char path[PATH_MAX], name[32];
    struct stat found;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sizeof folders / sizeof *folders;
         i++)
        if (look(folder, folders[i], path, &found))
            status = check_kind(path, &found, true, err);
    for (size_t i = 0;
         status == HT_OK && i < N_ENDS * sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s.%s", files[i / N_ENDS],
                 ends[i % N_ENDS]);
        if (look(folder, name, path, &found))
            status = check_kind(path, &found, false, err);
    }
    return status;
}

/* What every server makes before it has a database. */
static const char *find_trace(const char *folder)
{
    static const char *const traces[] = {"token", "runner-token", "logs.db"};
    char path[PATH_MAX];
    struct stat found;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        if (look(folder, traces[i], path, &found))
            return traces[i];
    return NULL;
}

static enum ht_status check_database(const char *folder, struct ht_error *err)
{
    char path[PATH_MAX];
    struct stat found;
    struct mark mark;
    const bool is_there =
        look(folder, "hypertune.db", path, &found) && found.st_size > 0;
    enum ht_status status = mark_read(path, &mark, err);
    if (status == HT_OK && mark.state != MARK_NONE) {
        status = mark_check_file(path, err);
        return status == HT_OK ? status : ht_wrap(err, status, "%s", path);
    }
    if (status != HT_OK || is_there)
        return status; /* of an earlier release */
    const char *trace = find_trace(folder);
    if (trace == NULL)
        return mark_accept(path, err);
    return ht_fail(err, HT_PRECONDITION,
                   "%s is missing or empty beside %s; restore a backup "
                   "(hypertune restore), or begin anew: touch "
                   "hypertune.db-mark",
                   path, trace);
}

enum ht_status datadir_files_check(const char *folder, struct ht_error *err)
{
    const enum ht_status status = check_kinds(folder, err);
    return status == HT_OK ? check_database(folder, err) : status;
}
