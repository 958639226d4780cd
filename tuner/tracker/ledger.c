#include "tuner/tracker/ledger.h"

#include "tuner/db/file.h"
#include "tuner/db/internal.h"

static const char schema[] =
    "CREATE TABLE marks(\n"
    "  -- how far the events of each study were read\n"
    "  study INTEGER PRIMARY KEY, -- of hypertune.db\n"
    "  revision INTEGER NOT NULL,\n"
    "  home TEXT NOT NULL -- where the study is shown\n"
    ") STRICT;"
    "CREATE TABLE runs(\n"
    "  -- what the tracker has of each trial\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL, -- 0: of the study itself\n"
    "  batch INTEGER NOT NULL, -- the last one that arrived\n"
    "  trying INTEGER NOT NULL, -- the one under way, else batch\n"
    "  bytes INTEGER NOT NULL, -- of its file that count\n"
    "  file INTEGER NOT NULL, -- number of its file\n"
    "  place TEXT NOT NULL, -- id of its run there, '': none yet\n"
    "  shown TEXT NOT NULL, -- its state as it was last sent\n"
    "  next TEXT NOT NULL, -- the same when trying has arrived\n"
    "  PRIMARY KEY(study, trial)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE sent(\n"
    "  -- the measurements in batches, by their keys in hypertune.db\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL,\n"
    "  replica TEXT NOT NULL,\n"
    "  writer INTEGER NOT NULL,\n"
    "  seq INTEGER NOT NULL,\n"
    "  batch INTEGER NOT NULL,\n"
    "  PRIMARY KEY(study, trial, attempt, replica, writer, seq)\n"
    ") STRICT, WITHOUT ROWID;";

static const struct db_migration migrations[] = {
    {schema, NULL}, {NULL, NULL}, /* each page has a checksum */
};

static const struct db_kind kind = {
    .application_id = 0x4874546b, /* "HtTk" */
    .versions = (int)(sizeof migrations / sizeof *migrations),
    .migrations = migrations,
    .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA cache_size=-1024; PRAGMA journal_size_limit=1048576;"
               "PRAGMA trusted_schema=OFF;",
};

enum ht_status ledger_open(const char *path, struct db **ledger,
                           struct ht_error *err)
{
    return db_file_open(path, true, &kind, ledger, err);
}

/* --- marks --- */

static void read_mark(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct ledger_mark *)row = (struct ledger_mark){
        sqlite3_column_int64(stmt, 0), db_column_text(arena, stmt, 1)};
}

enum ht_status ledger_mark(struct db *ledger, struct arena *arena,
                           int64_t study, struct ledger_mark *mark,
                           struct ht_error *err)
{
    struct ledger_mark found = {.home = ""};
    const struct db_one one = {arena, read_mark, &found, NULL};
    const enum ht_status status = db_ask_one(
        ledger, &one, err, "SELECT revision, home FROM marks WHERE study=?",
        "i", study);
    if (status == HT_OK)
        *mark = found;
    return status;
}

enum ht_status ledger_set_mark(struct db *ledger, int64_t study,
                               const struct ledger_mark *mark,
                               struct ht_error *err)
{
    return db_run(ledger, err,
                  "INSERT OR REPLACE INTO marks(study, revision, home)"
                  " VALUES(?, ?, ?)",
                  "iis", study, mark->revision, mark->home);
}

enum ht_status ledger_studies(struct db *ledger, struct arena *arena,
                              struct id_list *list, struct ht_error *err)
{
    return db_ask_list(ledger, DB_IDS(arena, list), err,
                       "SELECT study FROM marks", "");
}

/* --- runs --- */

static void read_run(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct ledger_run *run = row;
    run->batch = sqlite3_column_int64(stmt, 0);
    run->trying = sqlite3_column_int64(stmt, 1);
    run->bytes = sqlite3_column_int64(stmt, 2);
    run->file = sqlite3_column_int64(stmt, 3);
    run->place = db_column_text(arena, stmt, 4);
    run->shown = db_column_text(arena, stmt, 5);
    run->next = db_column_text(arena, stmt, 6);
}

enum ht_status ledger_run(struct db *ledger, struct arena *arena, int64_t study,
                          int64_t trial, struct ledger_run *run,
                          struct ht_error *err)
{
    struct ledger_run found = {
        .study = study, .trial = trial, .place = "", .shown = "", .next = ""};
    const struct db_one one = {arena, read_run, &found, NULL};
    const enum ht_status status =
        db_ask_one(ledger, &one, err,
                   "SELECT batch, trying, bytes, file, place, shown, next"
                   " FROM runs WHERE study=? AND trial=?",
                   "ii", study, trial);
    if (status == HT_OK)
        *run = found;
    return status;
}

enum ht_status ledger_save(struct db *ledger, const struct ledger_run *run,
                           struct ht_error *err)
{
    return db_run(
        ledger, err,
        "INSERT OR REPLACE INTO runs(study, trial, batch, trying, bytes, file,"
        " place, shown, next) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiiisss", run->study, run->trial, run->batch, run->trying,
        run->bytes, run->file, run->place, run->shown, run->next);
}

/* --- measurements --- */

static enum ht_status is_sent(struct db *ledger,
                              const struct measurement_row *row, bool *sent,
                              struct ht_error *err)
{
    return db_ask_bool(ledger, sent, err,
                       "SELECT 1 FROM sent WHERE study=? AND trial=? AND "
                       "attempt=? AND replica=? AND writer=? AND seq=?",
                       "iiisii", row->study, row->trial, row->attempt,
                       row->replica, (int64_t)row->writer, row->seq);
}

enum ht_status ledger_unsent(struct db *ledger, struct measurement_list *list,
                             struct ht_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool sent;
        const enum ht_status status =
            is_sent(ledger, &list->rows[i], &sent, err);
        if (status != HT_OK)
            return status;
        if (!sent)
            list->rows[n++] = list->rows[i];
    }
    list->n = n;
    return HT_OK;
}

enum ht_status ledger_add_sent(struct db *ledger,
                               const struct measurement_row *row, int64_t batch,
                               struct ht_error *err)
{
    return db_run(ledger, err,
                  "INSERT INTO sent(study, trial, attempt, replica, writer,"
                  " seq, batch) VALUES(?, ?, ?, ?, ?, ?, ?)",
                  "iiisiii", row->study, row->trial, row->attempt, row->replica,
                  (int64_t)row->writer, row->seq, batch);
}

enum ht_status ledger_drop_sent(struct db *ledger, int64_t study, int64_t trial,
                                int64_t batch, struct ht_error *err)
{
    return db_run(ledger, err,
                  "DELETE FROM sent WHERE study=? AND trial=? AND batch>=?",
                  "iii", study, trial, batch);
}

enum ht_status ledger_forget(struct db *ledger, int64_t study,
                             struct ht_error *err)
{
    static const char *const deletions[] = {"DELETE FROM sent WHERE study=?",
                                            "DELETE FROM runs WHERE study=?",
                                            "DELETE FROM marks WHERE study=?"};
    enum ht_status status = db_begin(ledger, err);
    for (size_t i = 0; status == HT_OK && i < 3; i++)
        status = db_run(ledger, err, deletions[i], "i", study);
    return db_end(ledger, status, err);
}
