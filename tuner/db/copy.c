#include "tuner/db/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "tuner/db/db.h"
#include "tuner/db/internal.h"
#include "tuner/db/page_vfs.h"

enum { SLICE_PAGES = 1024 }; /* 4 MiB */

/* --- connections to a file of any kind --- */

/* A URI, since only that can say that nothing changes the file. */
static void write_uri(struct text *uri, const char *path)
{
    text_puts(uri, "file:");
    for (const char *c = path; *c != '\0'; c++)
        if (*c == '%' || *c == '?' || *c == '#')
            text_printf(uri, "%%%02X", (unsigned)*c);
        else
            text_append(uri, c, 1);
    text_puts(uri, "?immutable=1");
}

static enum ht_status refuse(sqlite3 *handle, int rc, const char *path,
                             struct ht_error *err)
{
    const int primary = rc & 0xff;
    if (rc == SQLITE_IOERR_DATA)
        return ht_fail(err, HT_CORRUPT, "%s is damaged: %s", path,
                       page_vfs_finding());
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        return ht_fail(err, HT_CORRUPT, "%s is damaged: %s", path,
                       sqlite3_errmsg(handle));
    return ht_fail(err, HT_IO, "%s: %s", path,
                   handle != NULL ? sqlite3_errmsg(handle)
                                  : sqlite3_errstr(rc));
}

static enum ht_status open_read(const char *path, bool alone, sqlite3 **out,
                                struct ht_error *err)
{
    struct text uri = {0};
    sqlite3 *handle = NULL;
    page_vfs_register();
    if (alone)
        write_uri(&uri, path);
    const int rc = sqlite3_open_v2(
        alone ? uri.data : path, &handle,
        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, PAGE_VFS);
    text_free(&uri);
    if (rc != SQLITE_OK) {
        const enum ht_status status = refuse(handle, rc, path, err);
        sqlite3_close(handle);
        return status;
    }
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, DB_BUSY_MS);
    *out = handle;
    return HT_OK;
}

/* The first integer, or the first text, that a query gives; unchanged without
 * a row. */
static enum ht_status ask(sqlite3 *handle, const char *path, const char *sql,
                          int64_t *number, struct text *words,
                          struct ht_error *err)
{
    sqlite3_stmt *stmt = NULL;
    page_vfs_forget();
    int rc = sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW && number != NULL)
        *number = sqlite3_column_int64(stmt, 0);
    if (rc == SQLITE_ROW && words != NULL &&
        sqlite3_column_text(stmt, 0) != NULL)
        text_puts(words, (const char *)sqlite3_column_text(stmt, 0));
    const enum ht_status status = rc == SQLITE_ROW || rc == SQLITE_DONE
                                      ? HT_OK
                                      : refuse(handle, rc, path, err);
    sqlite3_finalize(stmt);
    return status;
}

/* --- copying --- */

struct copying {
    const char *from, *to;
    sqlite3 *source, *target;
    int fd; /* of the target, to sync what SQLite has written */
    db_copy_step *step;
    void *context;
};

static enum ht_status open_target(struct copying *copying, struct ht_error *err)
{
    int reserved = PAGE_RESERVED;
    copying->fd =
        open(copying->to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (copying->fd < 0)
        return ht_fail_errno(err, errno, "cannot make %s", copying->to);
    int rc =
        sqlite3_open_v2(copying->to, &copying->target,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, PAGE_VFS);
    if (rc == SQLITE_OK)
        rc = sqlite3_file_control(copying->target, "main",
                                  SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    /* A copy that fails is removed, so it needs no journal; slices are synced
     * here. */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(copying->target,
                          "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                          "PRAGMA cache_size=-4096;",
                          NULL, NULL, NULL);
    return rc == SQLITE_OK ? HT_OK
                           : refuse(copying->target, rc, copying->to, err);
}

static enum ht_status fail_copy(const struct copying *copying, int rc,
                                struct ht_error *err)
{
    if ((rc & 0xff) == SQLITE_FULL || rc == SQLITE_IOERR_WRITE)
        return ht_fail(err, HT_IO, "%s: the disk is full or fails",
                       copying->to);
    if (rc == SQLITE_IOERR_DATA)
        return refuse(copying->source, rc, copying->from, err);
    return ht_fail(err, HT_IO, "cannot copy %s to %s: %s", copying->from,
                   copying->to, sqlite3_errstr(rc));
}

/* The source's transaction is open, so all slices are of one snapshot. */
static enum ht_status copy_slices(const struct copying *copying,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    sqlite3_backup *backup =
        sqlite3_backup_init(copying->target, "main", copying->source, "main");
    if (backup == NULL)
        return refuse(copying->target, sqlite3_errcode(copying->target),
                      copying->to, err);
    int rc = SQLITE_OK;
    while (status == HT_OK && rc == SQLITE_OK) {
        rc = sqlite3_backup_step(backup, SLICE_PAGES);
        if (rc != SQLITE_OK && rc != SQLITE_DONE)
            break;
        if (fdatasync(copying->fd) != 0)
            status = ht_fail_errno(err, errno, "cannot sync %s", copying->to);
        const int64_t pages =
            sqlite3_backup_pagecount(backup) - sqlite3_backup_remaining(backup);
        if (status == HT_OK && copying->step != NULL)
            status = copying->step(copying->context, pages * PAGE_BYTES, err);
    }
    sqlite3_backup_finish(backup);
    if (status == HT_OK && rc != SQLITE_DONE)
        status = fail_copy(copying, rc, err);
    return status;
}

static enum ht_status run_copy(struct copying *copying, struct ht_error *err)
{
    enum ht_status status =
        open_read(copying->from, false, &copying->source, err);
    if (status == HT_OK)
        status = open_target(copying, err);
    if (status == HT_OK)
        status = ask(copying->source, copying->from, "BEGIN", NULL, NULL, err);
    if (status == HT_OK)
        status = ask(copying->source, copying->from,
                     "SELECT count(*) FROM sqlite_schema", NULL, NULL, err);
    if (status == HT_OK && !page_vfs_is_sealed(copying->source))
        status = ht_fail(err, HT_PRECONDITION,
                         "the pages of %s have no checksums", copying->from);
    if (status != HT_OK)
        return status;
    /* A page of the log has that of before, and others are written first. */
    page_vfs_seal_all(copying->target);
    return copy_slices(copying, err);
}

enum ht_status db_copy(const char *from, const char *to, db_copy_step *step,
                       void *context, struct ht_error *err)
{
    struct copying copying = {
        .from = from, .to = to, .fd = -1, .step = step, .context = context};
    enum ht_status status = run_copy(&copying, err);
    sqlite3_close(copying.source);
    const int rc = sqlite3_close(copying.target);
    if (status == HT_OK && rc != SQLITE_OK)
        status = ht_fail(err, HT_IO, "cannot close %s", to);
    if (status == HT_OK && fsync(copying.fd) != 0)
        status = ht_fail_errno(err, errno, "cannot sync %s", to);
    if (copying.fd >= 0)
        close(copying.fd);
    if (status != HT_OK && copying.fd >= 0)
        unlink(to);
    return status;
}

/* --- checking --- */

/* The finding of a pragma that says "ok", or nothing, of a good file. */
static enum ht_status check_by(sqlite3 *handle, const char *path,
                               const char *sql, const char *good,
                               struct ht_error *err)
{
    struct text found = {0};
    enum ht_status status = ask(handle, path, sql, NULL, &found, err);
    if (status == HT_OK && strcmp(text_string(&found), good) != 0)
        status = ht_fail(err, HT_CORRUPT, "%s is damaged: %.160s", path,
                         page_vfs_finding()[0] != '\0' ? page_vfs_finding()
                                                       : found.data);
    text_free(&found);
    return status;
}

enum ht_status db_check_file(const char *path, bool alone, struct ht_error *err)
{
    sqlite3 *handle = NULL;
    enum ht_status status = page_vfs_check_file(path, err);
    if (status == HT_OK)
        status = open_read(path, alone, &handle, err);
    if (status != HT_OK)
        return status;
    status = check_by(handle, path, "PRAGMA integrity_check(1)", "ok", err);
    if (status == HT_OK)
        status = check_by(
            handle, path,
            "SELECT 'row ' || coalesce(rowid, '') || ' of the table ' ||"
            " \"table\" || ' refers to none of ' || parent"
            " FROM pragma_foreign_key_check LIMIT 1",
            "", err);
    sqlite3_close(handle);
    return status;
}

/* --- marks --- */

static enum ht_status check_kind(sqlite3 *handle, const char *path,
                                 struct ht_error *err)
{
    int64_t id = 0;
    const enum ht_status status =
        ask(handle, path, "PRAGMA application_id", &id, NULL, err);
    if (status == HT_OK && id != DB_APPLICATION_ID)
        return ht_fail(err, HT_PRECONDITION,
                       "%s is no database of hypertune's studies", path);
    return status;
}

static enum ht_status read_numbers(sqlite3 *handle, const char *path,
                                   struct db_marks *marks, struct ht_error *err)
{
    const struct {
        const char *sql;
        int64_t *number;
    } all[] = {
        {"SELECT CAST(value AS INTEGER) FROM meta WHERE key='incarnation'",
         &marks->incarnation},
        {"PRAGMA user_version", &marks->version},
        {"SELECT seq FROM sqlite_sequence WHERE name='studies'",
         &marks->studies},
        {"SELECT coalesce(sum(revision), 0) FROM studies", &marks->revisions},
        {"SELECT seq FROM sqlite_sequence WHERE name='metadata'",
         &marks->metadata},
        {"SELECT seq FROM sqlite_sequence WHERE name='audit'", &marks->audit},
    };
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sizeof all / sizeof *all; i++)
        status = ask(handle, path, all[i].sql, all[i].number, NULL, err);
    return status;
}

static enum ht_status read_marks(sqlite3 *handle, const char *path,
                                 struct db_marks *marks, struct ht_error *err)
{
    struct text id = {0};
    *marks = (struct db_marks){.incarnation = 1};
    enum ht_status status = check_kind(handle, path, err);
    if (status == HT_OK)
        status =
            ask(handle, path, "SELECT value FROM meta WHERE key='server_id'",
                NULL, &id, err);
    snprintf(marks->server_id, sizeof marks->server_id, "%s", text_string(&id));
    text_free(&id);
    return status == HT_OK ? read_numbers(handle, path, marks, err) : status;
}

enum ht_status db_marks_read(const char *path, bool alone,
                             struct db_marks *marks, struct ht_error *err)
{
    sqlite3 *handle = NULL;
    enum ht_status status = open_read(path, alone, &handle, err);
    if (status != HT_OK)
        return status;
    status = read_marks(handle, path, marks, err);
    sqlite3_close(handle);
    return status;
}

bool db_marks_equal(const struct db_marks *a, const struct db_marks *b)
{
    return strcmp(a->server_id, b->server_id) == 0 &&
           a->incarnation == b->incarnation && a->version == b->version &&
           a->studies == b->studies && a->revisions == b->revisions &&
           a->metadata == b->metadata && a->audit == b->audit;
}

/* --- trees --- */

static enum ht_status visit_trees(sqlite3 *handle, const char *path,
                                  db_tree_visit *visit, void *context,
                                  struct ht_error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum ht_status status = HT_OK;
    int rc = sqlite3_prepare_v2(handle,
                                "SELECT project, tree FROM trees ORDER BY 1, 2",
                                -1, &stmt, NULL);
    while (rc == SQLITE_OK && status == HT_OK &&
           (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        status = visit(context, (const char *)sqlite3_column_text(stmt, 0),
                       (const char *)sqlite3_column_text(stmt, 1), err);
    }
    if (status == HT_OK && rc != SQLITE_DONE)
        status = refuse(handle, rc, path, err);
    sqlite3_finalize(stmt);
    return status;
}

enum ht_status db_trees_each(const char *path, bool alone, db_tree_visit *visit,
                             void *context, struct ht_error *err)
{
    sqlite3 *handle = NULL;
    int64_t tables = 0;
    enum ht_status status = open_read(path, alone, &handle, err);
    if (status != HT_OK)
        return status;
    status = ask(handle, path,
                 "SELECT count(*) FROM sqlite_schema WHERE name='trees'",
                 &tables, NULL, err);
    if (status == HT_OK && tables > 0)
        status = visit_trees(handle, path, visit, context, err);
    sqlite3_close(handle);
    return status;
}

/* --- logs --- */

enum ht_status db_logs_agree(const char *path, const char *logs, bool alone,
                             struct ht_error *err)
{
    struct text found = {0};
    sqlite3 *handle = NULL;
    enum ht_status status = open_read(path, alone, &handle, err);
    if (status != HT_OK)
        return status;
    struct text uri = {0};
    if (alone)
        write_uri(&uri, logs);
    char *sql = sqlite3_mprintf("ATTACH %Q AS l", alone ? uri.data : logs);
    status = ask(handle, logs, sql, NULL, NULL, err);
    sqlite3_free(sql);
    /* A deleted study or trial may have left some, of numbers that were given.
     */
    if (status == HT_OK)
        status = ask(
            handle, logs,
            "SELECT 'study ' || c.study || ', trial ' || c.trial ||"
            " ', attempt ' || c.attempt"
            " FROM (SELECT DISTINCT study, trial, attempt FROM l.chunk) AS c"
            " LEFT JOIN studies AS s ON s.id=c.study"
            " LEFT JOIN trials AS t ON t.study=c.study AND t.id=c.trial"
            " WHERE c.study>(SELECT coalesce(max(seq), 0) FROM sqlite_sequence"
            " WHERE name='studies')"
            " OR c.trial>=s.next_trial OR c.attempt>t.attempt LIMIT 1",
            NULL, &found, err);
    if (status == HT_OK && found.len > 0)
        status = ht_fail(err, HT_CORRUPT,
                         "%s has logs of %s, which %s does not know: they are "
                         "not of one copy",
                         logs, found.data, path);
    text_free(&found);
    text_free(&uri);
    sqlite3_close(handle);
    return status;
}

/* --- a new incarnation --- */

/* More than a server gives out in that time: it stores at most 50,000 reports a
 * second (bench/bench_server.py), each with a revision, and makes fewer than
 * 10,000 trials. A study has at most 100,000 of these in all. */
enum { SKIP_AT_LEAST = 100000, IDS_A_MS = 10, REVISIONS_A_MS = 100 };

static enum ht_status skip_numbers(struct db *db, int64_t age_ms,
                                   struct ht_error *err)
{
    const int64_t ids = SKIP_AT_LEAST + IDS_A_MS * age_ms;
    const int64_t revisions = SKIP_AT_LEAST + REVISIONS_A_MS * age_ms;
    enum ht_status status =
        db_run(db, err,
               "UPDATE studies SET next_trial=next_trial+?1, "
               "withdrawn=withdrawn+?1, revision=revision+?2",
               "ii", ids, revisions);
    if (status == HT_OK)
        status = db_run(db, err,
                        "UPDATE trials SET attempts_before="
                        "max(attempts_before, attempt)+?1",
                        "i", ids);
    if (status == HT_OK)
        status =
            db_run(db, err,
                   "INSERT INTO sqlite_sequence(name, seq) SELECT column1, 0 "
                   "FROM (VALUES ('studies'), ('metadata'), ('audit')) "
                   "WHERE column1 NOT IN "
                   "(SELECT name FROM sqlite_sequence)",
                   "");
    if (status == HT_OK)
        status = db_run(db, err, "UPDATE sqlite_sequence SET seq=seq+?", "i",
                        revisions);
    return status;
}

static enum ht_status begin_incarnation(struct db *db, int64_t made_ms,
                                        int64_t now_ms, int64_t incarnation,
                                        struct ht_error *err)
{
    char number[24], stamp[CLOCK_STAMP_BYTES];
    snprintf(number, sizeof number, "%" PRId64, incarnation);
    enum ht_status status = db_begin(db, err);
    if (status != HT_OK)
        return status;
    status = skip_numbers(db, now_ms - made_ms, err);
    /* They have to say hello, and hear which attempts have ended. */
    if (status == HT_OK)
        status = db_run(db, err, "UPDATE runners SET online=0, boot=''", "");
    if (status == HT_OK)
        status = db_meta_set(db, "incarnation", number, err);
    if (status == HT_OK)
        status = db_meta_set(db, "restored", clock_stamp(stamp, made_ms), err);
    return db_end(db, status, err);
}

enum ht_status db_new_incarnation(const char *path, int64_t made_ms,
                                  int64_t now_ms, struct db_marks *marks,
                                  struct ht_error *err)
{
    struct db *db;
    char stamp[CLOCK_STAMP_BYTES];
    if (now_ms < made_ms)
        return ht_fail(err, HT_PRECONDITION,
                       "the clock of this machine is before %s, when the copy "
                       "was made: set it, since numbers are skipped by the age "
                       "of the copy",
                       clock_stamp(stamp, made_ms));
    enum ht_status status = db_marks_read(path, true, marks, err);
    if (status == HT_OK)
        status = db_open(path, &db, err);
    if (status != HT_OK)
        return status;
    status =
        begin_incarnation(db, made_ms, now_ms, marks->incarnation + 1, err);
    if (status == HT_OK)
        status = db_checkpoint(db, true, err);
    db_close(db);
    return status;
}
