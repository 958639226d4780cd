#include "tuner/db/file.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/damage.h"
#include "tuner/db/internal.h"
#include "tuner/db/mark.h"
#include "tuner/db/page_vfs.h"

/* --- its version --- */

static enum ht_status migrate_one(struct db *db, const struct db_kind *kind,
                                  int version, struct ht_error *err)
{
    const struct db_migration *step = &kind->migrations[version];
    enum ht_status status = db_begin(db, err);
    if (status != HT_OK)
        return status;
    char pragmas[96];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA user_version=%d; PRAGMA application_id=%d;", version + 1,
             kind->application_id);
    if (step->sql != NULL)
        status = db_exec(db, step->sql, err);
    if (status == HT_OK && step->run != NULL)
        status = step->run(db, err);
    if (status == HT_OK)
        status = db_exec(db, pragmas, err);
    return db_end(db, status, err);
}

/* For a file of an older version, or a copy that another program made: writes
 * every page anew. When it ends in the middle, the file is as it was. */
static enum ht_status seal_pages(struct db *db, struct ht_error *err)
{
    if (db->readonly || page_vfs_is_sealed(db->handle))
        return HT_OK;
    page_vfs_seal(db->handle);
    const enum ht_status status = db_exec(db, "VACUUM", err);
    return status == HT_OK ? db_checkpoint(db, true, err) : status;
}

static enum ht_status check_identity(const struct db_kind *kind,
                                     int64_t application, int64_t version,
                                     struct ht_error *err)
{
    if (application == kind->former_id && kind->former_id != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "is a hypertune database of before the first release "
                       "(id 0x%llx); this program cannot read it: give another "
                       "data folder or move the file away",
                       (unsigned long long)application);
    if (application != kind->application_id)
        return ht_fail(err, HT_PRECONDITION,
                       "is a database of another program");
    if (version > kind->versions)
        return ht_fail(err, HT_PRECONDITION,
                       "has version %lld, this program reads up to %d; use "
                       "the newer program",
                       (long long)version, kind->versions);
    return HT_OK;
}

/* An empty file may become ours; any other must already be. */
static enum ht_status read_version(struct db *db, const struct db_kind *kind,
                                   int64_t *version, struct ht_error *err)
{
    int64_t application, tables;
    enum ht_status status =
        db_ask_integer(db, &application, err, "PRAGMA application_id", "");
    if (status == HT_OK)
        status = db_ask_integer(db, version, err, "PRAGMA user_version", "");
    if (status == HT_OK)
        status = db_ask_integer(db, &tables, err,
                                "SELECT count(*) FROM sqlite_schema", "");
    if (status != HT_OK)
        return status;
    const bool empty = application == 0 && *version == 0 && tables == 0;
    return empty ? HT_OK : check_identity(kind, application, *version, err);
}

/* Its identity is checked first, since the settings write to it. */
static enum ht_status bring_up_to_date(struct db *db,
                                       const struct db_kind *kind,
                                       const char *path, struct ht_error *err)
{
    int64_t version = 0;
    enum ht_status status = read_version(db, kind, &version, err);
    if (status == HT_OK && kind->is_main && !db->readonly)
        status = mark_check_content(path, db, err);
    if (status == HT_OK)
        status = db_exec(db, db->readonly ? kind->reading : kind->writing, err);
    if (status == HT_OK && db->readonly && version < kind->versions)
        return ht_fail(err, HT_PRECONDITION,
                       "has version %lld, and %d is read here; no server has "
                       "brought it up to date",
                       (long long)version, kind->versions);
    for (; status == HT_OK && version < kind->versions; version++)
        status = migrate_one(db, kind, (int)version, err);
    if (status == HT_OK)
        status = seal_pages(db, err);
    return status;
}

/* --- a connection --- */

static enum ht_status connect_to(const char *path, bool writable, struct db *db,
                                 struct ht_error *err)
{
    const int access = writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                : SQLITE_OPEN_READONLY;
    db->readonly = !writable;
    page_vfs_register();
    const int rc = sqlite3_open_v2(path, &db->handle,
                                   access | SQLITE_OPEN_NOMUTEX, PAGE_VFS);
    if (rc != SQLITE_OK)
        return ht_fail(err, HT_IO, "cannot open it: %s",
                       db->handle ? sqlite3_errmsg(db->handle)
                                  : sqlite3_errstr(rc));
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, DB_BUSY_MS);
    /* Has an effect on a file without pages, and with the next VACUUM. */
    int reserved = PAGE_RESERVED;
    if (writable)
        sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_RESERVE_BYTES,
                             &reserved);
    return HT_OK;
}

/* The file that this program writes: a connection that is opened later must
 * not read another one, which was put in its place. */
static enum ht_status check_same(const char *path, const struct db *db,
                                 struct ht_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char written[PATH_MAX];
    static struct page_place place;
    const struct page_place found = page_vfs_place(db->handle);
    enum ht_status status = HT_OK;
    pthread_mutex_lock(&lock);
    if (!db->readonly) {
        snprintf(written, sizeof written, "%s", path);
        place = found;
    } else if (strcmp(written, path) == 0 &&
               (found.device != place.device || found.inode != place.inode)) {
        status = ht_fail(err, HT_CORRUPT, "was replaced while it was open");
        damage_note("hypertune.db was replaced while it was open");
    }
    pthread_mutex_unlock(&lock);
    return status;
}

enum ht_status db_file_open(const char *path, bool writable,
                            const struct db_kind *kind, struct db **out,
                            struct ht_error *err)
{
    const uint64_t misses = memory_misses();
    struct db *db = ht_xcalloc(1, sizeof *db);
    db->kind = kind;
    enum ht_status status = HT_OK;
    if (kind->is_main && writable)
        status = mark_check_file(path, err);
    if (status == HT_OK)
        status = connect_to(path, writable, db, err);
    if (status == HT_OK && kind->is_main)
        status = check_same(path, db, err);
    if (status == HT_OK)
        status = bring_up_to_date(db, kind, path, err);
    if (status == HT_OK) {
        *out = db;
        return HT_OK;
    }
    /* What was refused stays as it is, its log too. */
    if (db->handle != NULL)
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                          NULL);
    db_close(db);
    if (memory_misses() != misses)
        return ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (status != HT_PRECONDITION && status != HT_CORRUPT)
        status = HT_IO;
    return ht_wrap(err, status, "%s", path);
}
