#include "tuner/webhook/outbox.h"

#include "proto/doc/json.h"
#include "tuner/db/file.h"
#include "tuner/db/internal.h"

enum {
    FIRST_MS = 1000, /* before the second attempt */
    LONGEST_MS = 3600000,
    DAY_MS = 86400000,
    AGAIN_MS = 5000, /* after a failure of our own file */
    QUEUE_MOST = 10000
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
    {schema, NULL}, {NULL, NULL}, /* each page has a checksum */
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

enum ht_status webhook_outbox_open(const char *path, struct db **outbox,
                                   struct ht_error *err)
{
    return db_file_open(path, true, &kind, outbox, err);
}

/* --- marks --- */

enum ht_status webhook_outbox_mark(struct db *outbox, int64_t study,
                                   int64_t *revision, struct ht_error *err)
{
    return db_ask_integer(outbox, revision, err,
                          "SELECT revision FROM marks WHERE study=?", "i",
                          study);
}

enum ht_status webhook_outbox_set_mark(struct db *outbox, int64_t study,
                                       int64_t revision, struct ht_error *err)
{
    return db_run(outbox, err,
                  "INSERT OR REPLACE INTO marks(study, revision) VALUES(?, ?)",
                  "ii", study, revision);
}

enum ht_status webhook_outbox_remove_mark(struct db *outbox, int64_t study,
                                          struct ht_error *err)
{
    return db_run(outbox, err, "DELETE FROM marks WHERE study=?", "i", study);
}

/* --- deliveries --- */

enum ht_status webhook_outbox_add(struct db *outbox,
                                  const struct webhook_delivery *delivery,
                                  struct ht_error *err)
{
    return db_run(outbox, err,
                  "INSERT INTO letters(study, webhook, event, body, made_ms)"
                  " VALUES(?, ?, ?, ?, ?)",
                  "isssi", delivery->study, delivery->webhook, delivery->event,
                  delivery->body, delivery->made_ms);
}

static void read_delivery(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct webhook_delivery *)row =
        (struct webhook_delivery){.id = sqlite3_column_int64(stmt, 0),
                                  .study = sqlite3_column_int64(stmt, 1),
                                  .webhook = db_column_text(arena, stmt, 2),
                                  .event = db_column_text(arena, stmt, 3),
                                  .body = db_column_text(arena, stmt, 4),
                                  .made_ms = sqlite3_column_int64(stmt, 5)};
}

enum ht_status webhook_outbox_first(struct db *outbox, struct arena *arena,
                                    const char *webhook,
                                    struct webhook_delivery *delivery,
                                    struct ht_error *err)
{
    const struct db_one one = {arena, read_delivery, delivery,
                               "no delivery waits"};
    return db_ask_one(outbox, &one, err,
                      "SELECT id, study, webhook, event, body, made_ms "
                      "FROM letters WHERE webhook=? ORDER BY id LIMIT 1",
                      "s", webhook);
}

enum ht_status webhook_outbox_remove(struct db *outbox, int64_t id,
                                     struct ht_error *err)
{
    return db_run(outbox, err, "DELETE FROM letters WHERE id=?", "i", id);
}

static void read_dropped(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct webhook_dropped *)row = (struct webhook_dropped){
        sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
}

#define DROPPED                                                                \
    "FROM letters WHERE webhook=?1 AND (id=?2 OR made_ms<?3 OR id<=(SELECT "   \
    "id FROM letters WHERE webhook=?1 ORDER BY id DESC LIMIT 1 OFFSET ?4)) "

enum ht_status webhook_outbox_drop(struct db *outbox, struct arena *arena,
                                   const struct webhook_overdue *overdue,
                                   struct webhook_dropped_list *dropped,
                                   struct ht_error *err)
{
    enum ht_status status = db_ask_list(
        outbox, DB_LIST(arena, read_dropped, &dropped->n, &dropped->items), err,
        "SELECT study, count(*) " DROPPED "GROUP BY study ORDER BY study",
        "siii", overdue->webhook, overdue->refused, overdue->before_ms,
        overdue->most);
    if (status == HT_OK && dropped->n > 0)
        status =
            db_run(outbox, err, "DELETE " DROPPED, "siii", overdue->webhook,
                   overdue->refused, overdue->before_ms, overdue->most);
    return status;
}

/* --- webhooks --- */

static void read_row(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct webhook_row *)row =
        (struct webhook_row){.pending = sqlite3_column_int64(stmt, 0),
                             .given_up = sqlite3_column_int64(stmt, 1),
                             .failures = sqlite3_column_int64(stmt, 2),
                             .taken_ms = sqlite3_column_int64(stmt, 3),
                             .failed_ms = sqlite3_column_int64(stmt, 4),
                             .why = db_column_text(arena, stmt, 5)};
}

enum ht_status webhook_outbox_row(struct db *outbox, struct arena *arena,
                                  const char *name, struct webhook_row *row,
                                  struct ht_error *err)
{
    const struct db_one one = {arena, read_row, row, ""};
    const enum ht_status status = db_ask_one(
        outbox, &one, err,
        "SELECT (SELECT count(*) FROM letters WHERE webhook=?1), given_up,"
        " failures, taken_ms, failed_ms, coalesce(why, '')"
        " FROM (SELECT 1) LEFT JOIN receivers ON webhook=?1",
        "s", name);
    if (status == HT_OK)
        row->name = name;
    return status;
}

enum ht_status webhook_outbox_save_row(struct db *outbox,
                                       const struct webhook_row *row,
                                       struct ht_error *err)
{
    return db_run(
        outbox, err,
        "INSERT OR REPLACE INTO receivers(webhook, given_up, failures,"
        " taken_ms, failed_ms, why) VALUES(?, ?, ?, ?, ?, ?)",
        "siiiis", row->name, row->given_up, row->failures, row->taken_ms,
        row->failed_ms, row->why);
}

enum ht_status webhook_outbox_keep(struct db *outbox,
                                   const struct webhook_rules *rules,
                                   struct ht_error *err)
{
    static const char *const others[] = {
        "DELETE FROM letters WHERE webhook NOT IN"
        " (SELECT value FROM json_each(?))",
        "DELETE FROM receivers WHERE webhook NOT IN"
        " (SELECT value FROM json_each(?))"};
    struct text kept = {0};
    enum ht_status status = HT_OK;
    cJSON *names = cJSON_CreateArray();
    for (size_t i = 0; i < rules->n; i++)
        json_push_string(names, rules->items[i].name);
    json_print(names, &kept);
    for (size_t i = 0; status == HT_OK && i < 2; i++)
        status = db_run(outbox, err, others[i], "s", kept.data);
    text_free(&kept);
    return status;
}

enum ht_status webhook_outbox_clear(struct db *outbox, struct ht_error *err)
{
    return db_exec(outbox,
                   "DELETE FROM marks; DELETE FROM letters;"
                   "DELETE FROM receivers;",
                   err);
}

/* --- attempts --- */

int64_t webhook_queue_pause(int64_t failures, uint64_t random)
{
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 1; i < failures && pause_ms < LONGEST_MS; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
    return pause_ms + (int64_t)(random % (uint64_t)(pause_ms / 2));
}

void webhook_queue_init(struct webhook_queue *queue,
                        const struct webhook *webhook, struct db *outbox)
{
    *queue = (struct webhook_queue){
        .webhook = webhook, .outbox = outbox, .arena = arena_new()};
}

void webhook_queue_fini(struct webhook_queue *queue)
{
    arena_free(queue->arena);
}

enum ht_status webhook_queue_first(struct webhook_queue *queue,
                                   struct ht_error *err)
{
    arena_reset(queue->arena);
    return webhook_outbox_first(queue->outbox, queue->arena,
                                queue->webhook->name, &queue->first, err);
}

static void count_attempt(struct webhook_queue *queue,
                          const struct webhook_attempt *attempt,
                          struct webhook_row *row)
{
    if (attempt->sent == HT_OK) {
        row->taken_ms = attempt->wall_ms;
        row->failures = queue->failing_ms = queue->due_ms = 0;
        return;
    }
    row->failed_ms = attempt->wall_ms;
    row->failures++;
    row->why = arena_strdup(queue->arena, attempt->why);
    if (queue->failing_ms == 0)
        queue->failing_ms = attempt->now_ms;
    /* The delivery behind one that was refused for good is tried at once. */
    queue->due_ms = attempt->sent == HT_PRECONDITION
                        ? 0
                        : attempt->now_ms + webhook_queue_pause(
                                                row->failures, attempt->random);
}

static enum ht_status store_attempt(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err)
{
    struct db *outbox = queue->outbox;
    struct webhook_row *row = &queue->row;
    struct webhook_overdue overdue = {
        .webhook = queue->webhook->name,
        .refused = attempt->sent == HT_PRECONDITION ? queue->first.id : 0,
        .before_ms = INT64_MIN,
        .most = QUEUE_MOST};
    enum ht_status status =
        webhook_outbox_row(outbox, queue->arena, overdue.webhook, row, err);
    if (status != HT_OK)
        return status;
    count_attempt(queue, attempt, row);
    if (queue->failing_ms != 0 && attempt->now_ms - queue->failing_ms >= DAY_MS)
        overdue.before_ms = attempt->wall_ms - DAY_MS;
    if (attempt->sent == HT_OK)
        status = webhook_outbox_remove(outbox, queue->first.id, err);
    if (status == HT_OK)
        status =
            webhook_outbox_drop(outbox, queue->arena, &overdue, dropped, err);
    for (size_t i = 0; status == HT_OK && i < dropped->n; i++)
        row->given_up += dropped->items[i].deliveries;
    return status == HT_OK ? webhook_outbox_save_row(outbox, row, err) : status;
}

enum ht_status webhook_queue_settle(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err)
{
    enum ht_status status = db_begin(queue->outbox, err);
    if (status == HT_OK)
        status = store_attempt(queue, attempt, dropped, err);
    status = db_end(queue->outbox, status, err);
    if (status != HT_OK)
        queue->due_ms = attempt->now_ms + AGAIN_MS;
    return status;
}
