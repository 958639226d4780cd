#include "tuner/db_outbox.h"

#include <stdlib.h>

#include "tuner/db_internal.h"

struct outbox {
    struct db *db;
};

/* "HyWh": marks the file as ours. */
#define OUTBOX_APPLICATION_ID 0x48795768
enum { OUTBOX_VERSION = 1 };

/* Study 0 stands for all: marks are kept. */
static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE marks(study INTEGER PRIMARY KEY, revision INTEGER NOT NULL)"
    " STRICT;"
    "CREATE TABLE deliveries("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, study INTEGER NOT NULL,"
    " url TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,"
    " made_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,"
    " why TEXT NOT NULL DEFAULT '') STRICT;"
    "CREATE INDEX deliveries_due ON deliveries(due_ms) WHERE dead=0;"
    "PRAGMA application_id=1215911784; PRAGMA user_version=1; COMMIT;";
_Static_assert(OUTBOX_APPLICATION_ID == 1215911784, "the schema writes it");

static enum ht_status pragma(struct db *db, const char *sql, int64_t *value,
                             struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(db, &stmt, err, sql, "");
    return status == HT_OK ? db_integer(db, stmt, 0, value, err) : status;
}

static enum ht_status prepare_file(struct db *db, struct ht_error *err)
{
    int64_t id, version;
    enum ht_status status = pragma(db, "PRAGMA application_id", &id, err);
    if (status == HT_OK)
        status = pragma(db, "PRAGMA user_version", &version, err);
    if (status != HT_OK)
        return status;
    if (id == OUTBOX_APPLICATION_ID && version == OUTBOX_VERSION)
        return HT_OK;
    if (id != 0 || version != 0)
        return ht_fail(err, HT_PRECONDITION,
                       id == OUTBOX_APPLICATION_ID
                           ? "is of a newer program"
                           : "is a file of another program");
    return db_exec(db, schema, err);
}

enum ht_status outbox_open(const char *path, struct outbox **out,
                           struct ht_error *err)
{
    static const char setup[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "PRAGMA cache_size=-256; PRAGMA journal_size_limit=1048576;"
        "PRAGMA trusted_schema=OFF;";
    struct outbox *made = ht_xcalloc(1, sizeof *made);
    made->db = ht_xcalloc(1, sizeof *made->db);
    const int rc = sqlite3_open_v2(
        path, &made->db->handle,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    enum ht_status status =
        rc == SQLITE_OK ? HT_OK : ht_fail(err, HT_IO, "%s", sqlite3_errstr(rc));
    if (status == HT_OK) {
        sqlite3_extended_result_codes(made->db->handle, 1);
        sqlite3_busy_timeout(made->db->handle, 5000);
        status = db_exec(made->db, setup, err);
    }
    if (status == HT_OK)
        status = prepare_file(made->db, err);
    if (status != HT_OK) {
        outbox_close(made);
        return ht_wrap(err, status, "%s", path);
    }
    *out = made;
    return HT_OK;
}

void outbox_close(struct outbox *outbox)
{
    if (outbox != NULL)
        db_close(outbox->db);
    free(outbox);
}

enum ht_status outbox_begin(struct outbox *outbox, struct ht_error *err)
{
    return db_begin(outbox->db, err);
}

enum ht_status outbox_commit(struct outbox *outbox, struct ht_error *err)
{
    return db_commit(outbox->db, err);
}

void outbox_rollback(struct outbox *outbox)
{
    db_rollback(outbox->db);
}

/* --- marks --- */

enum ht_status outbox_mark(struct outbox *outbox, int64_t study,
                           int64_t *revision, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(outbox->db, &stmt, err,
                 "SELECT revision FROM marks WHERE study=?", "i", study);
    return status == HT_OK ? db_integer(outbox->db, stmt, 0, revision, err)
                           : status;
}

enum ht_status outbox_set_mark(struct outbox *outbox, int64_t study,
                               int64_t revision, struct ht_error *err)
{
    return db_run(outbox->db, err, "INSERT OR REPLACE INTO marks VALUES(?, ?)",
                  "ii", study, revision);
}

enum ht_status outbox_is_begun(struct outbox *outbox, bool *begun,
                               struct ht_error *err)
{
    int64_t mark;
    const enum ht_status status = outbox_mark(outbox, 0, &mark, err);
    if (status == HT_OK)
        *begun = mark != 0;
    return status;
}

enum ht_status outbox_set_begun(struct outbox *outbox, bool begun,
                                struct ht_error *err)
{
    if (begun)
        return outbox_set_mark(outbox, 0, 1, err);
    const enum ht_status status =
        db_run(outbox->db, err, "DELETE FROM marks", "");
    return status == HT_OK ? db_run(outbox->db, err,
                                    "DELETE FROM deliveries WHERE dead=0", "")
                           : status;
}

/* --- deliveries --- */

enum ht_status outbox_add(struct outbox *outbox,
                          const struct delivery *delivery, struct ht_error *err)
{
    return db_run(outbox->db, err,
                  "INSERT INTO deliveries(study, url, event, body, made_ms,"
                  " due_ms) VALUES(?, ?, ?, ?, ?, ?)",
                  "isssii", delivery->study, delivery->url, delivery->event,
                  delivery->body, delivery->made_ms, delivery->due_ms);
}

#define COLUMNS                                                                \
    "SELECT id, study, url, event, body, made_ms, due_ms, tries, dead, why "   \
    "FROM deliveries "

static enum ht_status read_all(struct outbox *outbox, struct arena *arena,
                               sqlite3_stmt *stmt, struct delivery_list *list,
                               struct ht_error *err)
{
    struct delivery_list found = {0};
    bool row = true;
    enum ht_status status;
    while ((status = db_step(outbox->db, stmt, &row, err)) == HT_OK && row) {
        found.items = db_grow(arena, found.items, found.n, sizeof *found.items);
        found.items[found.n++] =
            (struct delivery){.id = sqlite3_column_int64(stmt, 0),
                              .study = sqlite3_column_int64(stmt, 1),
                              .url = db_column_text(arena, stmt, 2),
                              .event = db_column_text(arena, stmt, 3),
                              .body = db_column_text(arena, stmt, 4),
                              .made_ms = sqlite3_column_int64(stmt, 5),
                              .due_ms = sqlite3_column_int64(stmt, 6),
                              .tries = sqlite3_column_int64(stmt, 7),
                              .dead = sqlite3_column_int64(stmt, 8) != 0,
                              .why = db_column_text(arena, stmt, 9)};
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status outbox_due(struct outbox *outbox, struct arena *arena,
                          int64_t now_ms, size_t most,
                          struct delivery_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(outbox->db, &stmt, err,
                 COLUMNS "WHERE dead=0 AND due_ms<=? ORDER BY id LIMIT ?", "ii",
                 now_ms, (int64_t)most);
    return status == HT_OK ? read_all(outbox, arena, stmt, list, err) : status;
}

enum ht_status outbox_next(struct outbox *outbox, int64_t *due_ms,
                           struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(outbox->db, &stmt, err,
                 "SELECT min(due_ms) FROM deliveries WHERE dead=0", "");
    return status == HT_OK
               ? db_integer(outbox->db, stmt, INT64_MAX, due_ms, err)
               : status;
}

enum ht_status outbox_save(struct outbox *outbox,
                           const struct delivery *delivery,
                           struct ht_error *err)
{
    return db_run(outbox->db, err,
                  "UPDATE deliveries SET due_ms=?2, tries=?3, dead=?4, why=?5 "
                  "WHERE id=?1",
                  "iiiis", delivery->id, delivery->due_ms, delivery->tries,
                  (int64_t)delivery->dead, delivery->why);
}

enum ht_status outbox_remove(struct outbox *outbox, int64_t id,
                             struct ht_error *err)
{
    return db_run(outbox->db, err, "DELETE FROM deliveries WHERE id=?", "i",
                  id);
}

enum ht_status outbox_prune(struct outbox *outbox, int64_t before_ms,
                            struct ht_error *err)
{
    return db_run(outbox->db, err,
                  "DELETE FROM deliveries WHERE dead=1 AND made_ms<?", "i",
                  before_ms);
}
