#include "tuner/db_outbox.h"

#include <stdlib.h>

#include "proto/json.h"
#include "proto/text.h"
#include "tuner/db_file.h"
#include "tuner/db_internal.h"

struct outbox {
    struct db *db;
};

/* --- the file --- */

/* Study 0 stands for all: marks are kept. */
static const char first_schema[] =
    "CREATE TABLE marks(study INTEGER PRIMARY KEY, revision INTEGER NOT NULL)"
    " STRICT;"
    "CREATE TABLE deliveries("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, study INTEGER NOT NULL,"
    " url TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,"
    " made_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,"
    " why TEXT NOT NULL DEFAULT '') STRICT;";

/* Letters wait in the line of their webhook, which had no name but its host
 * until then. */
static const char second_schema[] =
    "CREATE TABLE letters("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, study INTEGER NOT NULL,"
    " webhook TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,"
    " made_ms INTEGER NOT NULL) STRICT;"
    "CREATE INDEX letters_line ON letters(webhook, id);"
    "CREATE TABLE receivers("
    " webhook TEXT PRIMARY KEY, given_up INTEGER NOT NULL,"
    " failures INTEGER NOT NULL, taken_ms INTEGER NOT NULL,"
    " failed_ms INTEGER NOT NULL, why TEXT NOT NULL) STRICT;"
    "WITH hosts AS (SELECT *,"
    " substr(url, instr(url, '://') + 3) || '/' AS rest FROM deliveries),"
    " ports AS (SELECT *, substr(rest, 1, instr(rest, '/') - 1) || ':' AS host"
    " FROM hosts)"
    "INSERT INTO letters SELECT id, study,"
    " substr(host, 1, instr(host, ':') - 1), event, body, made_ms"
    " FROM ports WHERE dead=0;"
    "DELETE FROM sqlite_sequence WHERE name='letters';"
    "INSERT INTO sqlite_sequence SELECT 'letters', seq FROM sqlite_sequence"
    " WHERE name='deliveries';"
    "DROP TABLE deliveries;";

static const struct db_migration migrations[] = {
    {first_schema, NULL},
    {second_schema, NULL},
};

static const struct db_kind kind = {
    .application_id = 0x48795768, /* "HyWh" */
    .versions = (int)(sizeof migrations / sizeof *migrations),
    .migrations = migrations,
    .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA cache_size=-256; PRAGMA journal_size_limit=1048576;"
               "PRAGMA trusted_schema=OFF;",
};

enum ht_status outbox_open(const char *path, struct outbox **outbox,
                           struct ht_error *err)
{
    struct db *db;
    const enum ht_status status = db_file_open(path, true, &kind, &db, err);
    if (status != HT_OK)
        return status;
    *outbox = ht_xcalloc(1, sizeof **outbox);
    (*outbox)->db = db;
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
    enum ht_status status = db_run(outbox->db, err, "DELETE FROM marks", "");
    return status == HT_OK ? outbox_keep(outbox, 0, NULL, err) : status;
}

enum ht_status outbox_forget_mark(struct outbox *outbox, int64_t study,
                                  struct ht_error *err)
{
    return db_run(outbox->db, err, "DELETE FROM marks WHERE study=?", "i",
                  study);
}

/* --- letters --- */

enum ht_status outbox_add(struct outbox *outbox, const struct letter *letter,
                          struct ht_error *err)
{
    return db_run(outbox->db, err,
                  "INSERT INTO letters(study, webhook, event, body, made_ms)"
                  " VALUES(?, ?, ?, ?, ?)",
                  "isssi", letter->study, letter->webhook, letter->event,
                  letter->body, letter->made_ms);
}

enum ht_status outbox_first(struct outbox *outbox, struct arena *arena,
                            const char *webhook, struct letter *letter,
                            struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool row;
    enum ht_status status =
        db_query(outbox->db, &stmt, err,
                 "SELECT id, study, webhook, event, body, made_ms FROM letters"
                 " WHERE webhook=? ORDER BY id LIMIT 1",
                 "s", webhook);
    if (status == HT_OK)
        status = db_step(outbox->db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    if (!row)
        return ht_fail(err, HT_NOT_FOUND, "no letter waits");
    *letter = (struct letter){.id = sqlite3_column_int64(stmt, 0),
                              .study = sqlite3_column_int64(stmt, 1),
                              .webhook = db_column_text(arena, stmt, 2),
                              .event = db_column_text(arena, stmt, 3),
                              .body = db_column_text(arena, stmt, 4),
                              .made_ms = sqlite3_column_int64(stmt, 5)};
    db_done(stmt);
    return HT_OK;
}

enum ht_status outbox_remove(struct outbox *outbox, int64_t id,
                             struct ht_error *err)
{
    return db_run(outbox->db, err, "DELETE FROM letters WHERE id=?", "i", id);
}

static enum ht_status read_losses(struct outbox *outbox, struct arena *arena,
                                  sqlite3_stmt *stmt, struct loss_list *lost,
                                  struct ht_error *err)
{
    struct loss_list found = {0};
    bool row = true;
    enum ht_status status;
    while ((status = db_step(outbox->db, stmt, &row, err)) == HT_OK && row) {
        found.items = db_grow(arena, found.items, found.n, sizeof *found.items);
        found.items[found.n++] = (struct loss){sqlite3_column_int64(stmt, 0),
                                               sqlite3_column_int64(stmt, 1)};
    }
    if (status == HT_OK)
        *lost = found;
    return status;
}

#define DROPPED                                                                \
    "FROM letters WHERE webhook=?1 AND (made_ms<?2 OR id<=(SELECT id FROM "    \
    "letters WHERE webhook=?1 ORDER BY id DESC LIMIT 1 OFFSET ?3)) "

enum ht_status outbox_drop(struct outbox *outbox, struct arena *arena,
                           const struct overdue *which, struct loss_list *lost,
                           struct ht_error *err)
{
    sqlite3_stmt *stmt;
    struct loss_list found;
    enum ht_status status = db_query(
        outbox->db, &stmt, err,
        "SELECT study, count(*) " DROPPED "GROUP BY study ORDER BY study",
        "sii", which->webhook, which->before_ms, which->most);
    if (status == HT_OK)
        status = read_losses(outbox, arena, stmt, &found, err);
    if (status == HT_OK && found.n > 0)
        status = db_run(outbox->db, err, "DELETE " DROPPED, "sii",
                        which->webhook, which->before_ms, which->most);
    if (status == HT_OK)
        *lost = found;
    return status;
}

/* --- receivers --- */

enum ht_status outbox_receiver(struct outbox *outbox, struct arena *arena,
                               const char *webhook, struct receiver *receiver,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool row;
    struct receiver found = {.webhook = webhook, .why = ""};
    enum ht_status status = db_query(
        outbox->db, &stmt, err,
        "SELECT given_up, failures, taken_ms, failed_ms, why FROM receivers"
        " WHERE webhook=?",
        "s", webhook);
    if (status == HT_OK)
        status = db_step(outbox->db, stmt, &row, err);
    if (status == HT_OK && row) {
        found.given_up = sqlite3_column_int64(stmt, 0);
        found.failures = sqlite3_column_int64(stmt, 1);
        found.taken_ms = sqlite3_column_int64(stmt, 2);
        found.failed_ms = sqlite3_column_int64(stmt, 3);
        found.why = db_column_text(arena, stmt, 4);
        db_done(stmt);
    }
    if (status == HT_OK)
        status = db_query(outbox->db, &stmt, err,
                          "SELECT count(*) FROM letters WHERE webhook=?", "s",
                          webhook);
    if (status == HT_OK)
        status = db_integer(outbox->db, stmt, 0, &found.pending, err);
    if (status == HT_OK)
        *receiver = found;
    return status;
}

enum ht_status outbox_save_receiver(struct outbox *outbox,
                                    const struct receiver *receiver,
                                    struct ht_error *err)
{
    return db_run(outbox->db, err,
                  "INSERT OR REPLACE INTO receivers VALUES(?, ?, ?, ?, ?, ?)",
                  "siiiis", receiver->webhook, receiver->given_up,
                  receiver->failures, receiver->taken_ms, receiver->failed_ms,
                  receiver->why);
}

enum ht_status outbox_keep(struct outbox *outbox, size_t n,
                           const char *const webhooks[], struct ht_error *err)
{
    struct text kept = {0};
    cJSON *names = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        json_push_string(names, webhooks[i]);
    json_print(names, &kept);
    enum ht_status status = db_run(outbox->db, err,
                                   "DELETE FROM letters WHERE webhook NOT IN"
                                   " (SELECT value FROM json_each(?))",
                                   "s", kept.data);
    if (status == HT_OK)
        status = db_run(outbox->db, err,
                        "DELETE FROM receivers WHERE webhook NOT IN"
                        " (SELECT value FROM json_each(?))",
                        "s", kept.data);
    text_free(&kept);
    return status;
}
