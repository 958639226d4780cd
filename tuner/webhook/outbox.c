#include "tuner/webhook/outbox.h"

#include <stdlib.h>

#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "tuner/db/file.h"
#include "tuner/db/internal.h"

struct outbox {
    struct db *db;
};

/* --- the file --- */

static const char schema[] =
    "CREATE TABLE marks(\n"
    "  -- how far the events of each study were read\n"
    "  study INTEGER PRIMARY KEY, -- of hypertune.db; 0: marks are kept at "
    "all\n"
    "  revision INTEGER NOT NULL\n"
    ") STRICT;"
    "CREATE TABLE letters(\n"
    "  -- what is still to be delivered, each in the line of its webhook\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice\n"
    "  study INTEGER NOT NULL,\n"
    "  made_ms INTEGER NOT NULL, -- milliseconds since 1970\n"
    "  webhook TEXT NOT NULL, -- its name\n"
    "  event TEXT NOT NULL,\n"
    "  body TEXT NOT NULL -- JSON, as it is sent\n"
    ") STRICT;"
    "CREATE INDEX letters_line ON letters(webhook, id);"
    "CREATE TABLE receivers(\n"
    "  -- how each webhook takes them\n"
    "  webhook TEXT PRIMARY KEY,\n"
    "  given_up INTEGER NOT NULL, -- letters, in all\n"
    "  failures INTEGER NOT NULL, -- attempts in a row\n"
    "  taken_ms INTEGER NOT NULL, -- the last success; 0: never\n"
    "  failed_ms INTEGER NOT NULL, -- the last failure; 0: never\n"
    "  why TEXT NOT NULL -- it failed, in words\n"
    ") STRICT, WITHOUT ROWID;";

static const struct db_migration migrations[] = {
    {schema, NULL},
};

static const struct db_kind kind = {
    .application_id = 0x48745768, /* "HtWh" */
    .former_id = 0x48795768,      /* "HyWh" */
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
    return db_run(outbox->db, err,
                  "INSERT OR REPLACE INTO marks(study, revision) VALUES(?, ?)",
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
    return db_run(
        outbox->db, err,
        "INSERT OR REPLACE INTO receivers(webhook, given_up, failures,"
        " taken_ms, failed_ms, why) VALUES(?, ?, ?, ?, ?, ?)",
        "siiiis", receiver->webhook, receiver->given_up, receiver->failures,
        receiver->taken_ms, receiver->failed_ms, receiver->why);
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
