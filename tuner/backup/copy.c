#include "tuner/backup/copy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "tuner/backup/files.h"
#include "tuner/backup/manifest.h"
#include "tuner/backup/store_copy.h"
#include "tuner/base/budget.h"
#include "tuner/base/disk_room.h"
#include "tuner/base/failpoint.h"
#include "tuner/base/store_board.h"

struct copying {
    const struct backup_order *order;
    struct arena *arena;
    const char *making; /* folder */
    const char *wal;    /* of the file that is copied */
    int64_t wal_before; /* its length when that began */
    int64_t todo, done; /* bytes of all files */
};

/* --- limits --- */

static enum ht_status check_room(const struct copying *copying, int64_t bytes,
                                 struct ht_error *err)
{
    const struct disk_room room =
        disk_room_after(copying->order->folder, bytes);
    if (room.total_bytes == 0 || room.state != DISK_RESERVED)
        return HT_OK;
    budget_exceeded(BUDGET_DISK_RESERVE);
    return ht_fail(err, HT_UNAVAILABLE,
                   "no backup: it takes %lld MiB more, and then less than "
                   "%lld %% of the disk of %s would be free",
                   (long long)(bytes >> 20) + 1,
                   (long long)budget_of(BUDGET_DISK_RESERVE),
                   copying->order->folder);
}

static enum ht_status step(void *context, int64_t bytes, struct ht_error *err)
{
    struct copying *copying = context;
    const int64_t left = copying->todo - copying->done - bytes;
    if (copying->order->failpoint != NULL)
        failpoint_reach(copying->order->failpoint, "backup");
    if (copying->order->stopping != NULL &&
        atomic_load(copying->order->stopping))
        return ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    if (files_size(copying->wal) - copying->wal_before > COPY_WAL_MOST)
        return ht_fail(err, HT_UNAVAILABLE,
                       "no backup: more than %d MiB were written while the "
                       "database was copied; a later one may succeed",
                       COPY_WAL_MOST >> 20);
    return check_room(copying, left > 0 ? left : 0, err);
}

/* --- files --- */

static const char *source_of(const struct copying *copying, size_t part)
{
    return arena_printf(copying->arena, "%s/%s", copying->order->data,
                        backup_parts[part].name);
}

static enum ht_status copy_part(struct copying *copying, size_t part,
                                struct backup_manifest *manifest,
                                struct ht_error *err)
{
    struct file_sum *sum = &manifest->files[part];
    const char *from = source_of(copying, part);
    const char *to = arena_printf(copying->arena, "%s/%s", copying->making,
                                  backup_parts[part].name);
    sum->bytes = -1;
    if (!files_exist(from))
        return HT_OK;
    if (!backup_parts[part].is_database)
        return files_copy(from, to, sum, err);
    copying->wal = arena_printf(copying->arena, "%s-wal", from);
    copying->wal_before = files_size(copying->wal);
    enum ht_status status = db_copy(from, to, step, copying, err);
    if (status == HT_OK)
        status = files_sum(to, sum, err);
    if (status == HT_OK)
        copying->done += sum->bytes;
    return status;
}

/* What the copy of the database names. */
static enum ht_status copy_store(const struct copying *copying,
                                 struct ht_error *err)
{
    const struct store_copy_order order = {
        .from = copying->order->data,
        .to = copying->making,
        .database =
            arena_printf(copying->arena, "%s/%s", copying->making, MAIN_DB),
        .stopping = copying->order->stopping};
    if (copying->order->failpoint != NULL)
        failpoint_reach(copying->order->failpoint, "backup_store");
    return store_copy_make(&order, err);
}

static enum ht_status copy_all(struct copying *copying,
                               struct backup_manifest *manifest,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < BACKUP_FILES; i++)
        status = copy_part(copying, i, manifest, err);
    if (status == HT_OK)
        status = copy_store(copying, err);
    if (status == HT_OK)
        status = db_marks_read(
            arena_printf(copying->arena, "%s/%s", copying->making, MAIN_DB),
            true, &manifest->marks, err);
    if (status == HT_OK)
        status = manifest_write(copying->making, manifest, err);
    if (status == HT_OK)
        status = files_sync_folder(copying->making, err);
    return status;
}

static enum ht_status appear(const struct copying *copying,
                             struct ht_error *err)
{
    const struct backup_order *order = copying->order;
    const char *path =
        arena_printf(copying->arena, "%s/%s", order->folder, order->name);
    if (order->failpoint != NULL)
        failpoint_reach(order->failpoint, "backup_made");
    if (rename(copying->making, path) == 0)
        return files_sync_folder(order->folder, err);
    return errno == EEXIST || errno == ENOTEMPTY
               ? ht_fail(err, HT_EXISTS, "there is a %s", path)
               : ht_fail_errno(err, errno, "cannot make %s", path);
}

static enum ht_status make_in(struct copying *copying,
                              struct backup_manifest *manifest,
                              struct ht_error *err)
{
    for (size_t i = 0; i < BACKUP_FILES; i++) {
        const char *from = source_of(copying, i);
        copying->todo +=
            files_size(from) +
            files_size(arena_printf(copying->arena, "%s-wal", from));
    }
    enum ht_status status = check_room(copying, copying->todo, err);
    if (status != HT_OK)
        return status;
    if (mkdir(copying->making, 0700) != 0)
        return ht_fail_errno(err, errno, "cannot make %s", copying->making);
    if (copying->order->store != NULL)
        store_board_hold(copying->order->store);
    status = copy_all(copying, manifest, err);
    if (copying->order->store != NULL)
        store_board_let_go(copying->order->store);
    if (status == HT_OK)
        status = appear(copying, err);
    if (status != HT_OK)
        file_tree_remove(copying->making, NULL, NULL);
    return status;
}

enum ht_status copy_make(const struct backup_order *order, int64_t *bytes,
                         struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct backup_manifest manifest = {.made_ms = clock_wall_ms(),
                                       .program = HT_VERSION};
    struct copying copying = {.order = order, .arena = arena};
    copying.making =
        arena_printf(arena, "%s/" COPY_MAKING "%s", order->folder, order->name);
    const enum ht_status status = make_in(&copying, &manifest, err);
    if (status == HT_OK)
        *bytes = copying.done;
    arena_free(arena);
    return status;
}

void copy_remove_partial(const char *folder)
{
    struct arena *arena = arena_new();
    struct file_names names;
    (void)files_list(arena, folder, &names, NULL);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.items[i];
        if (strncmp(name, COPY_MAKING, strlen(COPY_MAKING)) != 0)
            continue;
        file_tree_remove(arena_printf(arena, "%s/%s", folder, name), NULL,
                         NULL);
        log_event(LOG_WARN, "backup.removed", "partial=%s", name);
    }
    arena_free(arena);
}
