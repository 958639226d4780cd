#include "tuner/logs/db_logs.h"

#include <stdio.h>

#include "tuner/db/file.h"
#include "tuner/db/internal.h"

/* --- the file --- */

static const char schema[] =
    "CREATE TABLE chunk(\n"
    "  -- a piece of what a stream printed, as it came\n"
    "  id INTEGER PRIMARY KEY, -- in the order of arrival\n"
    "  -- the stream, by the numbers of hypertune.db\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL,\n"
    "  replica TEXT NOT NULL, -- 'master-0'\n"
    "  stream TEXT NOT NULL, -- 'stdout', 'stderr', 'runner'\n"
    "  -- the piece, in bytes of what was printed\n"
    "  start INTEGER NOT NULL,\n"
    "  next INTEGER NOT NULL, -- behind its last byte\n"
    "  open INTEGER NOT NULL, -- bytes of text of the unfinished line at the\n"
    "    -- end of the stream behind it\n"
    "  stored_us INTEGER NOT NULL, -- microseconds since 1970; never falls by\n"
    "    -- little\n"
    "  data BLOB NOT NULL, -- UTF-8: where bytes were replaced its length is\n"
    "    -- not next-start\n"
    "  UNIQUE(study, trial, attempt, replica, stream, next)\n"
    ") STRICT;"
    "CREATE INDEX chunk_by_time ON chunk(study, stored_us);";

static const struct db_migration migrations[] = {
    {schema, NULL}, {NULL, NULL}, /* each page has a checksum */
};

/* A runner removes its own copy once a chunk is confirmed, hence FULL. */
static const struct db_kind kind = {
    .application_id = 0x48744c67, /* "HtLg" */
    .former_id = 0x48794c67,      /* "HyLg" */
    .versions = (int)(sizeof migrations / sizeof *migrations),
    .migrations = migrations,
    .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA cache_size=-512; PRAGMA journal_size_limit=16777216;"
               "PRAGMA trusted_schema=OFF;",
    .reading = "PRAGMA query_only=ON; PRAGMA cache_size=-512;"
               "PRAGMA trusted_schema=OFF;",
};

enum ht_status db_logs_open(const char *path, bool writable, struct db **db,
                            struct ht_error *err)
{
    return db_file_open(path, writable, &kind, db, err);
}

#define OF_STREAM                                                              \
    " FROM chunk WHERE study=?1 AND trial=?2 AND attempt=?3 AND replica=?4"    \
    " AND stream=?5"
#define STREAM(key)                                                            \
    (key)->study, (key)->trial, (key)->attempt, (key)->replica, (key)->stream

static void read_end(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct log_end *end = row;
    (void)arena;
    end->next = sqlite3_column_int64(stmt, 0);
    end->open = sqlite3_column_int64(stmt, 1);
}

enum ht_status db_logs_end(struct db *db, const struct log_key *key,
                           struct log_end *end, struct ht_error *err)
{
    const struct db_one one = {NULL, read_end, end, "no chunk"};
    *end = (struct log_end){0};
    const enum ht_status status =
        db_ask_one(db, &one, err,
                   "SELECT next, open" OF_STREAM " ORDER BY next DESC LIMIT 1",
                   "iiiss", STREAM(key));
    return status == HT_NOT_FOUND ? HT_OK : status;
}

enum ht_status db_logs_newest(struct db *db, int64_t *stored_us,
                              struct ht_error *err)
{
    return db_ask_integer(
        db, stored_us, err,
        "SELECT stored_us FROM chunk ORDER BY id DESC LIMIT 1", "");
}

enum ht_status db_logs_insert(struct db *db, const struct log_key *key,
                              const struct log_chunk *chunk, int64_t stored_us,
                              struct ht_error *err)
{
    struct db_blob blob = {chunk->data, chunk->len};
    return db_run(db, err,
                  "INSERT INTO chunk(study, trial, attempt, replica, stream,"
                  " start, next, data, stored_us, open)"
                  " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
                  "iiissiixii", STREAM(key), chunk->offset,
                  chunk->offset + chunk->raw, &blob, stored_us, chunk->open);
}

/* --- what it takes --- */

enum { CHUNK_BYTES = 128 }; /* of a row and its places in the indices */

int64_t db_logs_bytes(size_t len)
{
    return CHUNK_BYTES + (int64_t)len;
}

static void read_size(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct log_size *)row = (struct log_size){
        sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
        db_logs_bytes((size_t)sqlite3_column_int64(stmt, 2))};
}

enum ht_status db_logs_size(struct db *db, const struct log_key *key,
                            int64_t start, struct log_size *size,
                            struct ht_error *err)
{
    const struct db_one one = {NULL, read_size, size, "no chunk behind there"};
    return db_ask_one(db, &one, err,
                      "SELECT start, next, length(data)" OF_STREAM
                      " AND next>?6 AND start>=?6 ORDER BY next LIMIT 1",
                      "iiissi", STREAM(key), start);
}

enum ht_status db_logs_drop(struct db *db, const struct log_key *key,
                            int64_t next, struct ht_error *err)
{
    return db_run(db, err,
                  "DELETE FROM chunk WHERE study=?1 AND trial=?2 AND "
                  "attempt=?3 AND replica=?4 AND stream=?5 AND next=?6",
                  "iiissi", STREAM(key), next);
}

/* --- reading --- */

#define CHUNK "SELECT start, next, open, data, stored_us"

static void read_chunk(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct log_chunk *chunk = row;
    const char *data = db_column_bytes(stmt, 3);
    chunk->offset = sqlite3_column_int64(stmt, 0);
    chunk->raw = sqlite3_column_int64(stmt, 1) - chunk->offset;
    chunk->open = sqlite3_column_int64(stmt, 2);
    chunk->stored_us = sqlite3_column_int64(stmt, 4);
    chunk->len = (size_t)sqlite3_column_bytes(stmt, 3);
    chunk->data = arena_strndup(arena, data != NULL ? data : "", chunk->len);
}

enum ht_status db_logs_find(struct db *db, struct arena *arena,
                            const struct log_key *key, int64_t offset,
                            struct log_chunk *chunk, struct ht_error *err)
{
    const struct db_one one = {arena, read_chunk, chunk,
                               "no chunk behind there"};
    return db_ask_one(db, &one, err,
                      CHUNK OF_STREAM " AND next>?6 ORDER BY next LIMIT 1",
                      "iiissi", STREAM(key), offset);
}

enum ht_status db_logs_before(struct db *db, struct arena *arena,
                              const struct log_key *key, int64_t next,
                              struct log_chunk *chunk, struct ht_error *err)
{
    const struct db_one one = {arena, read_chunk, chunk,
                               "no chunk before there"};
    return db_ask_one(db, &one, err,
                      CHUNK OF_STREAM
                      " AND next<=?6 ORDER BY next DESC LIMIT 1",
                      "iiissi", STREAM(key), next);
}

static void read_row(sqlite3_stmt *stmt, struct arena *arena, void *to)
{
    struct log_row *row = to;
    read_chunk(stmt, arena, &row->chunk);
    row->id = sqlite3_column_int64(stmt, 5);
    row->key = (struct log_key){
        .study = sqlite3_column_int64(stmt, 6),
        .trial = sqlite3_column_int64(stmt, 7),
        .attempt = sqlite3_column_int64(stmt, 8),
        .replica = db_column_text(arena, stmt, 9),
        .stream = db_column_text(arena, stmt, 10),
    };
}

enum ht_status db_logs_next(struct db *db, struct arena *arena, int64_t id,
                            struct log_row *row, struct ht_error *err)
{
    const struct db_one one = {arena, read_row, row, "no chunk behind that"};
    return db_ask_one(db, &one, err,
                      CHUNK ", id, study, trial, attempt, replica, stream"
                            " FROM chunk WHERE id>?1 ORDER BY id LIMIT 1",
                      "i", id);
}

static void copy_text(char *to, size_t size, sqlite3_stmt *stmt, int column)
{
    snprintf(to, size, "%s", db_column_bytes(stmt, column));
}

enum ht_status db_logs_step(struct db *db, int64_t study,
                            const struct log_place *place, bool down,
                            struct log_head *head, struct ht_error *err)
{
    /* The columns from the data on are not read. */
#define HEAD                                                                   \
    "SELECT stored_us, id, trial, attempt, replica, stream, start, next"       \
    " FROM chunk WHERE study=?1 AND (stored_us, id)"
    static const char up_sql[] =
        HEAD ">=(?2, ?3) ORDER BY stored_us, id LIMIT 1";
    static const char down_sql[] =
        HEAD "<=(?2, ?3) ORDER BY stored_us DESC, id DESC LIMIT 1";
#undef HEAD
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err, down ? down_sql : up_sql, "iii", study,
                 place->stored_us, place->row);
    if (status == HT_OK)
        status = db_first(db, stmt, err, "no chunk from there on");
    if (status != HT_OK)
        return status;
    head->place = (struct log_place){sqlite3_column_int64(stmt, 0),
                                     sqlite3_column_int64(stmt, 1)};
    head->trial = sqlite3_column_int64(stmt, 2);
    head->attempt = sqlite3_column_int64(stmt, 3);
    copy_text(head->replica, sizeof head->replica, stmt, 4);
    copy_text(head->stream, sizeof head->stream, stmt, 5);
    head->start = sqlite3_column_int64(stmt, 6);
    head->next = sqlite3_column_int64(stmt, 7);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_logs_data(struct db *db, struct arena *arena, int64_t row,
                            struct log_chunk *chunk, struct ht_error *err)
{
    const struct db_one one = {arena, read_chunk, chunk,
                               "the chunk was forgotten"};
    return db_ask_one(db, &one, err, CHUNK " FROM chunk WHERE id=?1", "i", row);
}

static void read_stream(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct log_key *key = row;
    key->replica = db_column_text(arena, stmt, 0);
    key->stream = db_column_text(arena, stmt, 1);
}

enum ht_status db_logs_stream(struct db *db, struct arena *arena,
                              struct log_key *key, struct ht_error *err)
{
    const struct db_one one = {arena, read_stream, key,
                               "no stream behind that"};
    return db_ask_one(db, &one, err,
                      "SELECT replica, stream FROM chunk WHERE study=?1 AND"
                      " trial=?2 AND attempt=?3 AND (replica, stream)>(?4, ?5)"
                      " ORDER BY replica, stream LIMIT 1",
                      "iiiss", key->study, key->trial, key->attempt,
                      key->replica, key->stream);
}

enum ht_status db_logs_remove(struct db *db, int64_t study, int64_t limit,
                              int64_t *removed, struct ht_error *err)
{
    enum ht_status status =
        db_run(db, err,
               "DELETE FROM chunk WHERE id IN"
               " (SELECT id FROM chunk WHERE study=?1 LIMIT ?2)",
               "ii", study, limit);
    if (status == HT_OK)
        *removed = sqlite3_changes64(db->handle);
    return status;
}
