#include "tuner/backup/restore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "tuner/backup/files.h"
#include "tuner/backup/retention.h"
#include "tuner/backup/store_copy.h"
#include "tuner/backup/verify.h"

/* Three folders inside the data folder, by what a kill leaves. Behind each is
 * the moment of the restore. */
#define PREPARING ".restoring-" /* nothing has happened: it is removed */
#define DECIDED ".restored-"    /* what was there is moved away next, */
#define ARRIVING ".arriving-"   /* then what is new is moved up */
#define REPLACED "replaced-"    /* what was there */

/* What a restore takes away: all that belongs to the database of before, with
 * its mark (tuner/db/mark.h), which would refuse the new one. Without a mark
 * the server takes what is there. */
static const char *const replaced_names[] = {
    MAIN_DB,
    MAIN_DB "-wal",
    MAIN_DB "-shm",
    MAIN_DB "-mark",
    LOGS_DB,
    LOGS_DB "-wal",
    LOGS_DB "-shm",
    "webhooks.db",
    "webhooks.db-wal",
    "webhooks.db-shm",
    "mlflow.db",
    "mlflow.db-wal",
    "mlflow.db-shm",
    "tensorboard.db",
    "tensorboard.db-wal",
    "tensorboard.db-shm",
    "tensorboard",
    STORE_FOLDER,
};
enum { REPLACED_NAMES = sizeof replaced_names / sizeof *replaced_names };

static void reach(struct failpoint *failpoint, const char *name)
{
    if (failpoint != NULL)
        failpoint_reach(failpoint, name);
}

/* The full path of the first entry that begins so, or NULL. */
static const char *find(struct arena *arena, const char *folder,
                        const char *beginning)
{
    struct file_names names;
    (void)files_list(arena, folder, &names, NULL);
    for (size_t i = 0; i < names.n; i++)
        if (strncmp(names.items[i], beginning, strlen(beginning)) == 0)
            return arena_printf(arena, "%s/%s", folder, names.items[i]);
    return NULL;
}

static enum ht_status move(const char *from, const char *to,
                           struct ht_error *err)
{
    return rename(from, to) == 0
               ? HT_OK
               : ht_fail_errno(err, errno, "cannot move %s to %s", from, to);
}

/* --- the end of a restore --- */

struct finishing {
    struct arena *arena;
    const char *folder; /* of data */
    struct failpoint *failpoint;
};

static enum ht_status move_into(const struct finishing *finishing,
                                const char *from, const char *to,
                                const char *name, struct ht_error *err)
{
    const enum ht_status status =
        move(arena_printf(finishing->arena, "%s/%s", from, name),
             arena_printf(finishing->arena, "%s/%s", to, name), err);
    reach(finishing->failpoint, "restore_moved");
    return status;
}

static bool has(const struct finishing *finishing, const char *folder,
                const char *name)
{
    return files_exist(arena_printf(finishing->arena, "%s/%s", folder, name));
}

static enum ht_status move_away(const struct finishing *finishing,
                                const char *aside, bool new_webhooks,
                                struct ht_error *err)
{
    const char *folder = finishing->folder;
    enum ht_status status = HT_OK;
    if (mkdir(aside, 0700) != 0 && errno != EEXIST)
        return ht_fail_errno(err, errno, "cannot make %s", aside);
    for (size_t i = 0; status == HT_OK && i < REPLACED_NAMES; i++)
        if (has(finishing, folder, replaced_names[i]))
            status =
                move_into(finishing, folder, aside, replaced_names[i], err);
    if (status == HT_OK && new_webhooks &&
        has(finishing, folder, "webhooks.json"))
        status = move_into(finishing, folder, aside, "webhooks.json", err);
    if (status == HT_OK)
        status = files_sync_folder(aside, err);
    if (rmdir(aside) != 0 && errno != ENOTEMPTY)
        return ht_fail_errno(err, errno, "cannot remove %s", aside);
    return status == HT_OK ? files_sync_folder(folder, err) : status;
}

static enum ht_status move_up(const struct finishing *finishing,
                              const char *arriving, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < BACKUP_FILES; i++)
        if (has(finishing, arriving, backup_parts[i].name))
            status = move_into(finishing, arriving, finishing->folder,
                               backup_parts[i].name, err);
    if (status == HT_OK && has(finishing, arriving, STORE_FOLDER))
        status = move_into(finishing, arriving, finishing->folder, STORE_FOLDER,
                           err);
    if (status == HT_OK)
        status = files_sync_folder(finishing->folder, err);
    if (status == HT_OK && rmdir(arriving) != 0)
        status = ht_fail_errno(err, errno, "cannot remove %s", arriving);
    return status == HT_OK ? files_sync_folder(finishing->folder, err) : status;
}

static enum ht_status finish_decided(const struct finishing *finishing,
                                     const char *decided, struct ht_error *err)
{
    const char *moment = strrchr(decided, '/') + 1 + strlen(DECIDED);
    const char *aside = arena_printf(finishing->arena, "%s/" REPLACED "%s",
                                     finishing->folder, moment);
    enum ht_status status = move_away(
        finishing, aside, has(finishing, decided, "webhooks.json"), err);
    reach(finishing->failpoint, "restore_away");
    if (status == HT_OK)
        status = move(decided,
                      arena_printf(finishing->arena, "%s/" ARRIVING "%s",
                                   finishing->folder, moment),
                      err);
    return status == HT_OK ? files_sync_folder(finishing->folder, err) : status;
}

static enum ht_status finish(const struct finishing *finishing,
                             struct ht_error *err)
{
    struct arena *arena = finishing->arena;
    enum ht_status status = HT_OK;
    const char *at;
    while (status == HT_OK &&
           (at = find(arena, finishing->folder, PREPARING)) != NULL)
        status = file_tree_remove(at, NULL, err);
    at = find(arena, finishing->folder, DECIDED);
    if (status == HT_OK && at != NULL)
        status = finish_decided(finishing, at, err);
    at = find(arena, finishing->folder, ARRIVING);
    if (status != HT_OK || at == NULL)
        return status;
    reach(finishing->failpoint, "restore_arriving");
    return move_up(finishing, at, err);
}

enum ht_status restore_finish(const char *folder, struct failpoint *failpoint,
                              struct ht_error *err)
{
    const struct finishing finishing = {arena_new(), folder, failpoint};
    const enum ht_status status = finish(&finishing, err);
    arena_free(finishing.arena);
    return status;
}

/* --- its beginning --- */

/* The lock is ours. */
static enum ht_status check_empty(struct arena *arena, const char *folder,
                                  struct ht_error *err)
{
    struct file_names names;
    enum ht_status status = files_list(arena, folder, &names, err);
    for (size_t i = 0; status == HT_OK && i < names.n; i++)
        if (strcmp(names.items[i], "lock") != 0)
            status = ht_fail(
                err, HT_CONFLICT,
                "%s is not empty (it has %.100s): name a new folder, or say "
                "--replace, which moves the database there into a folder "
                "replaced-TIME inside",
                folder, names.items[i]);
    return status;
}

static enum ht_status copy_files(struct arena *arena, const char *from,
                                 const char *to,
                                 const struct backup_manifest *manifest,
                                 struct failpoint *failpoint,
                                 struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < BACKUP_FILES; i++) {
        const char *name = backup_parts[i].name;
        const struct file_sum *said = &manifest->files[i];
        struct file_sum sum;
        if (said->bytes < 0)
            continue;
        status = files_copy(arena_printf(arena, "%s/%s", from, name),
                            arena_printf(arena, "%s/%s", to, name), &sum, err);
        if (status == HT_OK && strcmp(sum.sha256, said->sha256) != 0)
            status =
                ht_fail(err, HT_CORRUPT,
                        "%s/%s has changed since it was verified", from, name);
        reach(failpoint, "restore_copied");
    }
    return status;
}

/* Everything that goes with the new database is written here: what lies in this
 * folder appears in the data folder together. */
static enum ht_status prepare(struct arena *arena,
                              const struct restore_order *order,
                              const struct backup_manifest *manifest,
                              const char *preparing, struct ht_error *err)
{
    struct db_marks before;
    const char *database = arena_printf(arena, "%s/%s", preparing, MAIN_DB);
    if (mkdir(preparing, 0700) != 0)
        return ht_fail_errno(err, errno, "cannot make %s", preparing);
    const struct store_copy_order store = {
        .from = order->copy, .to = preparing, .database = database};
    enum ht_status status = copy_files(arena, order->copy, preparing, manifest,
                                       order->failpoint, err);
    if (status == HT_OK)
        status = store_copy_make(&store, err);
    reach(order->failpoint, "restore_store");
    if (status == HT_OK)
        status = db_new_incarnation(database, manifest->made_ms,
                                    clock_wall_ms(), &before, err);
    /* Closing it has removed its log. */
    if (status == HT_OK && files_exist(arena_printf(arena, "%s-wal", database)))
        status = ht_fail(err, HT_IO, "%s could not be written back", database);
    return status == HT_OK ? files_sync_folder(preparing, err) : status;
}

static void write_report(const struct restore_order *order,
                         const struct backup_manifest *manifest,
                         const char *aside, struct text *report)
{
    char stamp[CLOCK_STAMP_BYTES];
    text_printf(
        report, "%s is server %s of %s again, as incarnation %" PRId64 ".\n",
        order->folder, manifest->marks.server_id,
        clock_stamp(stamp, manifest->made_ms), manifest->marks.incarnation + 1);
    if (aside != NULL)
        text_printf(report, "What was there is in %s.\n", aside);
    text_puts(report,
              "Trials that ran at that moment start again or end when the "
              "server starts.\n"
              "Tokens that were revoked or rotated since are as they were "
              "then: do it again (hypertune token list).\n");
    if (aside == NULL)
        text_puts(report,
                  "token and runner-token are new, and TLS and files of "
                  "secrets are not in a backup: give runners the new token.\n");
}

/* Two restores may begin within one second. */
static const char *free_moment(struct arena *arena, const char *folder)
{
    char now[RETENTION_NAME_BYTES];
    retention_name(now, false, clock_wall_ms());
    const char *moment = arena_strdup(arena, now);
    for (int i = 2;
         files_exist(arena_printf(arena, "%s/" REPLACED "%s", folder, moment));
         i++)
        moment = arena_printf(arena, "%s-%d", now, i);
    return moment;
}

static enum ht_status restore(struct arena *arena,
                              const struct restore_order *order,
                              struct text *report, struct ht_error *err)
{
    struct backup_manifest manifest;
    const char *folder = order->folder;
    const char *moment = free_moment(arena, folder);
    const char *preparing =
        arena_printf(arena, "%s/" PREPARING "%s", folder, moment);
    const char *aside =
        arena_printf(arena, "%s/" REPLACED "%s", folder, moment);
    enum ht_status status = restore_finish(folder, order->failpoint, err);
    if (status == HT_OK && !order->replace)
        status = check_empty(arena, folder, err);
    if (status == HT_OK)
        status = verify_copy(arena, order->copy, &manifest, err);
    if (status != HT_OK)
        return status;
    status = prepare(arena, order, &manifest, preparing, err);
    reach(order->failpoint, "restore_prepared");
    if (status == HT_OK)
        status =
            move(preparing,
                 arena_printf(arena, "%s/" DECIDED "%s", folder, moment), err);
    if (status != HT_OK) {
        file_tree_remove(preparing, NULL, NULL);
        return status;
    }
    status = files_sync_folder(folder, err);
    reach(order->failpoint, "restore_decided");
    if (status == HT_OK)
        status = restore_finish(folder, order->failpoint, err);
    if (status == HT_OK)
        write_report(order, &manifest, files_exist(aside) ? aside : NULL,
                     report);
    return status;
}

enum ht_status restore_copy(const struct restore_order *order,
                            struct text *report, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status = restore(arena, order, report, err);
    arena_free(arena);
    return status;
}
