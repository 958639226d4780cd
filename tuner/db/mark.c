#include "tuner/db/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>
#include <zlib.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "tuner/db/internal.h"

/* One record, written at once: a text, so that people can read it, and the
 * CRC-32 of what is before it. */
enum {
    SERVER_AT = 17,
    COMMITS_AT = SERVER_AT + MARK_SERVER_BYTES,
    BASE_AT = COMMITS_AT + 21,
    CHECKED = BASE_AT + 21,
    RECORD = CHECKED + 9
};
#define BEGIN "hypertune-mark 1 "
#define FORMAT BEGIN "%8s %20" PRId64 " %20" PRId64 " "

#define ACCEPT                                                                 \
    "; restore a backup (hypertune restore), or accept that: truncate -s 0 "   \
    "hypertune.db-mark"

static uint32_t sum_of(const char record[RECORD])
{
    return (uint32_t)crc32(0, (const unsigned char *)record, CHECKED);
}

static void path_of(const char *path, char to[PATH_MAX])
{
    snprintf(to, PATH_MAX, "%s-mark", path);
}

static bool parse(const char record[RECORD + 1], struct mark *mark)
{
    if (strncmp(record, BEGIN, SERVER_AT) != 0 ||
        strtoul(record + CHECKED, NULL, 16) != sum_of(record))
        return false;
    memcpy(mark->server_id, record + SERVER_AT, MARK_SERVER_BYTES - 1);
    mark->commits = strtoll(record + COMMITS_AT, NULL, 10);
    mark->base = strtoll(record + BASE_AT, NULL, 10);
    return true;
}

enum ht_status mark_read(const char *path, struct mark *mark,
                         struct ht_error *err)
{
    char name[PATH_MAX], record[RECORD + 1] = "";
    path_of(path, name);
    *mark = (struct mark){.state = MARK_NONE};
    const int fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return HT_OK;
    const ssize_t n = fd < 0 ? -1 : read(fd, record, RECORD);
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return ht_fail_errno(err, failed, "cannot read %s", name);
    if (n == 0)
        mark->state = MARK_EMPTY;
    else if (n == RECORD && parse(record, mark))
        mark->state = MARK_SET;
    else
        *mark = (struct mark){.state = MARK_WRONG};
    return HT_OK;
}

enum ht_status mark_accept(const char *path, struct ht_error *err)
{
    char name[PATH_MAX];
    path_of(path, name);
    const int fd =
        open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool done = fd >= 0 && ftruncate(fd, 0) == 0 && fsync(fd) == 0;
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    return done ? HT_OK : ht_fail_errno(err, failed, "cannot write %s", name);
}

/* --- comparing --- */

enum ht_status mark_check_file(const char *path, struct ht_error *err)
{
    struct mark mark;
    struct stat found;
    const bool missing = stat(path, &found) != 0;
    if (missing && errno != ENOENT)
        return ht_fail_errno(err, errno, "cannot look at it");
    if (!missing && found.st_size > 0)
        return HT_OK;
    const enum ht_status status = mark_read(path, &mark, err);
    if (status != HT_OK || mark.state == MARK_NONE || mark.state == MARK_EMPTY)
        return status;
    return ht_fail(err, HT_PRECONDITION,
                   "%s, and %" PRId64 " commits were in it" ACCEPT,
                   missing ? "is missing" : "is empty", mark.commits);
}

/* What the file says without its log; without an answer, as in the middle of
 * writing the log back, nothing is missing. Not by our layer: pages that the
 * log has, too, may be half written. */
static int64_t commits_in_file(const char *path)
{
    static const char sql[] = "SELECT value FROM meta WHERE key='commits'";
    int64_t commits = INT64_MAX;
    sqlite3 *handle = NULL;
    sqlite3_stmt *stmt = NULL;
    char *uri = sqlite3_mprintf("file:%s?immutable=1", path);
    if (sqlite3_open_v2(uri, &handle,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
                            SQLITE_OPEN_NOMUTEX,
                        NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        commits = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    sqlite3_free(uri);
    return commits;
}

static enum ht_status check_server(struct db *db, struct arena *arena,
                                   const struct mark *mark,
                                   struct ht_error *err)
{
    const char *server = NULL;
    const enum ht_status status =
        db_meta_get(db, arena, "server_id", &server, err);
    if (status != HT_OK ||
        (server != NULL && strcmp(server, mark->server_id) == 0))
        return status;
    return ht_fail(err, HT_PRECONDITION,
                   "is the database of server %.8s, that of %s was here" ACCEPT,
                   server != NULL ? server : "(none)", mark->server_id);
}

static enum ht_status compare(const char *path, struct db *db,
                              const struct mark *mark, struct ht_error *err)
{
    struct arena *arena = arena_new();
    int64_t commits = 0;
    enum ht_status status = check_server(db, arena, mark, err);
    arena_free(arena);
    if (status == HT_OK)
        status = mark_commits(db, &commits, err);
    if (status != HT_OK)
        return status;
    if (commits < mark->commits)
        return ht_fail(err, HT_PRECONDITION,
                       "lacks %" PRId64 " of %" PRId64
                       " commits: it is an older"
                       " copy, or its -wal is" ACCEPT,
                       mark->commits - commits, mark->commits);
    if (commits_in_file(path) < mark->base)
        return ht_fail(
            err, HT_PRECONDITION,
            "is an older copy beside the -wal of a newer one" ACCEPT);
    return HT_OK;
}

enum ht_status mark_check_content(const char *path, struct db *db,
                                  struct ht_error *err)
{
    struct mark mark;
    int64_t version = 0;
    enum ht_status status = mark_read(path, &mark, err);
    if (status == HT_OK && mark.state == MARK_WRONG)
        log_event(LOG_WARN, "database.mark",
                  "file=%s-mark why=\"it is damaged, "
                  "so nothing is compared with it\"",
                  path);
    if (status == HT_OK && mark.state == MARK_SET)
        status = db_ask_integer(db, &version, err, "PRAGMA user_version", "");
    if (status != HT_OK || mark.state != MARK_SET)
        return status;
    if (version == 0)
        return ht_fail(err, HT_PRECONDITION,
                       "has no tables, and %" PRId64
                       " commits were in it" ACCEPT,
                       mark.commits);
    return compare(path, db, &mark, err);
}

/* --- counting --- */

enum ht_status mark_commits(struct db *db, int64_t *commits,
                            struct ht_error *err)
{
    return db_ask_integer(db, commits, err,
                          "SELECT CAST(value AS INTEGER) FROM meta "
                          "WHERE key='commits'",
                          "");
}

enum ht_status mark_count(struct db *db, int64_t commits, struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO meta(key, value) VALUES('commits', ?1) "
                  "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "i", commits);
}

enum ht_status mark_open(const char *path, int *fd, struct ht_error *err)
{
    char name[PATH_MAX];
    path_of(path, name);
    *fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *fd >= 0 ? HT_OK : ht_fail_errno(err, errno, "cannot open %s", name);
}

void mark_put(int fd, const struct mark *mark)
{
    char record[RECORD + 1];
    const int len = snprintf(record, sizeof record, FORMAT, mark->server_id,
                             mark->commits, mark->base);
    snprintf(record + len, sizeof record - (size_t)len, "%08" PRIx32 "\n",
             sum_of(record));
    const ssize_t n = pwrite(fd, record, RECORD, 0);
    (void)n;
}
