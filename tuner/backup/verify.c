#include "tuner/backup/verify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "tuner/backup/files.h"
#include "tuner/backup/store_copy.h"

/* --- a backup --- */

static bool is_named(const struct backup_manifest *manifest, const char *name)
{
    for (size_t i = 0; i < BACKUP_FILES; i++)
        if (manifest->files[i].bytes >= 0 &&
            strcmp(backup_parts[i].name, name) == 0)
            return true;
    return strcmp(name, MANIFEST) == 0 || strcmp(name, STORE_FOLDER) == 0;
}

/* A write-ahead log beside a copy would change what it says. */
static enum ht_status check_names(struct arena *arena, const char *folder,
                                  const struct backup_manifest *manifest,
                                  struct ht_error *err)
{
    struct file_names names;
    enum ht_status status = files_list(arena, folder, &names, err);
    for (size_t i = 0; status == HT_OK && i < names.n; i++)
        if (!is_named(manifest, names.items[i]))
            status = ht_fail(err, HT_CORRUPT,
                             "%s/%.100s is no file of this backup: move it "
                             "away",
                             folder, names.items[i]);
    return status;
}

static enum ht_status check_sum(const char *path, const struct file_sum *said,
                                struct ht_error *err)
{
    struct file_sum sum;
    if (!files_exist(path))
        return ht_fail(err, HT_CORRUPT, "%s is missing", path);
    const enum ht_status status = files_sum(path, &sum, err);
    if (status != HT_OK)
        return status;
    if (sum.bytes != said->bytes)
        return ht_fail(err, HT_CORRUPT,
                       "%s is damaged: it has %" PRId64
                       " bytes, its manifest says %" PRId64,
                       path, sum.bytes, said->bytes);
    return strcmp(sum.sha256, said->sha256) == 0
               ? HT_OK
               : ht_fail(err, HT_CORRUPT,
                         "%s is damaged: its SHA-256 is not that of its "
                         "manifest",
                         path);
}

/* A damaged page has a better name than a wrong hash, so it is looked for
 * first. */
static enum ht_status check_part(struct arena *arena, const char *folder,
                                 size_t part, const struct file_sum *said,
                                 struct ht_error *err)
{
    const char *path =
        arena_printf(arena, "%s/%s", folder, backup_parts[part].name);
    enum ht_status status = HT_OK;
    if (backup_parts[part].is_database && files_exist(path))
        status = db_check_file(path, true, err);
    return status == HT_OK ? check_sum(path, said, err) : status;
}

static enum ht_status check_agreement(struct arena *arena, const char *folder,
                                      const struct backup_manifest *manifest,
                                      struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, MAIN_DB);
    const char *logs = arena_printf(arena, "%s/%s", folder, LOGS_DB);
    struct db_marks marks;
    int64_t trees;
    enum ht_status status = db_marks_read(path, true, &marks, err);
    if (status == HT_OK && !db_marks_equal(&marks, &manifest->marks))
        status = ht_fail(err, HT_CORRUPT,
                         "%s/%s is not the manifest of %s: its marks differ",
                         folder, MANIFEST, MAIN_DB);
    if (status == HT_OK && files_exist(logs))
        status = db_logs_agree(path, logs, true, err);
    if (status == HT_OK)
        status = store_copy_verify(folder, path, true, &trees, err);
    return status;
}

enum ht_status verify_copy(struct arena *arena, const char *folder,
                           struct backup_manifest *manifest,
                           struct ht_error *err)
{
    enum ht_status status = manifest_read(arena, folder, manifest, err);
    if (status == HT_OK)
        status = check_names(arena, folder, manifest, err);
    for (size_t i = 0; status == HT_OK && i < BACKUP_FILES; i++)
        if (manifest->files[i].bytes >= 0)
            status = check_part(arena, folder, i, &manifest->files[i], err);
    return status == HT_OK ? check_agreement(arena, folder, manifest, err)
                           : status;
}

/* --- a data folder --- */

/* Whether a server may write to it meanwhile. */
static bool is_owned(struct arena *arena, const char *folder)
{
    const int fd =
        open(arena_printf(arena, "%s/lock", folder), O_RDONLY | O_CLOEXEC);
    const bool owned = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0)
        close(fd);
    return owned;
}

/* Its write-ahead log belongs to it, and to read that SQLite needs a file
 * beside it. */
static enum ht_status check_data_file(struct arena *arena, const char *folder,
                                      const char *path, bool *alone,
                                      struct ht_error *err)
{
    *alone = !is_owned(arena, folder) &&
             files_size(arena_printf(arena, "%s-wal", path)) == 0;
    if (!*alone && access(folder, W_OK) != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "%s has changes in its write-ahead log, and %s cannot "
                       "be written: verify a copy of the whole folder",
                       path, folder);
    return db_check_file(path, *alone, err);
}

static enum ht_status verify_data(struct arena *arena, const char *folder,
                                  struct text *report, struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, MAIN_DB);
    const char *logs = arena_printf(arena, "%s/%s", folder, LOGS_DB);
    bool alone = true, all_alone = true;
    int64_t trees = 0;
    if (!files_exist(path))
        return ht_fail(err, HT_NOT_FOUND,
                       "%s is neither a backup nor a data folder: it has no "
                       "%s and no %s",
                       folder, MANIFEST, MAIN_DB);
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < BACKUP_FILES; i++) {
        const char *name = backup_parts[i].name;
        const char *file = arena_printf(arena, "%s/%s", folder, name);
        if (!backup_parts[i].is_database || !files_exist(file))
            continue;
        status = check_data_file(arena, folder, file, &alone, err);
        all_alone = all_alone && alone;
        if (status == HT_OK)
            text_printf(report, "%s: %" PRId64 " bytes, whole\n", file,
                        files_size(file));
    }
    if (status == HT_OK && files_exist(logs))
        status = db_logs_agree(path, logs, all_alone, err);
    /* A server that runs may remove some meanwhile. */
    if (status == HT_OK && all_alone)
        status = store_copy_verify(folder, path, true, &trees, err);
    if (status == HT_OK && all_alone && trees > 0)
        text_printf(report, "%s/%s: %" PRId64 " trees, whole\n", folder,
                    STORE_FOLDER, trees);
    return status;
}

static void report_copy(const char *folder,
                        const struct backup_manifest *manifest,
                        struct text *report)
{
    char stamp[CLOCK_STAMP_BYTES];
    for (size_t i = 0; i < BACKUP_FILES; i++)
        if (manifest->files[i].bytes >= 0)
            text_printf(report, "%s/%s: %" PRId64 " bytes, whole\n", folder,
                        backup_parts[i].name, manifest->files[i].bytes);
    text_printf(report,
                "%s: a backup of server %s, incarnation %" PRId64
                ", made at %s\n",
                folder, manifest->marks.server_id, manifest->marks.incarnation,
                clock_stamp(stamp, manifest->made_ms));
}

enum ht_status verify_folder(const char *folder, struct text *report,
                             struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct backup_manifest manifest;
    enum ht_status status;
    if (files_exist(arena_printf(arena, "%s/%s", folder, MANIFEST))) {
        status = verify_copy(arena, folder, &manifest, err);
        if (status == HT_OK)
            report_copy(folder, &manifest, report);
    } else {
        status = verify_data(arena, folder, report, err);
    }
    arena_free(arena);
    return status;
}
