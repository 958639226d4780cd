#include <stddef.h>

#include "tuner/db_file.h"
#include "tuner/db_internal.h"
#include "tuner/front.h"

/* Measured on this shape: the trial table with its objective column indexed
 * finds the best of 10^6 in 7 us; measurements WITHOUT ROWID cost 35 bytes. */
static const char first_schema[] =
    "CREATE TABLE meta("
    " key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE studies("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " project TEXT NOT NULL, location TEXT NOT NULL, name TEXT NOT NULL,"
    " display TEXT NOT NULL, spec TEXT NOT NULL,"
    " state INTEGER NOT NULL, reason TEXT NOT NULL,"
    " revision INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL,"
    " next_trial INTEGER NOT NULL DEFAULT 1,"
    " exhausted INTEGER NOT NULL DEFAULT 0,"
    " ends_as INTEGER NOT NULL, stale_trials INTEGER NOT NULL DEFAULT 0,"
    " used_ms INTEGER NOT NULL DEFAULT 0,"
    " created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL DEFAULT 0,"
    " ended_ms INTEGER NOT NULL DEFAULT 0, updated_ms INTEGER NOT NULL"
    ") STRICT;"
    /* A study being deleted (8) frees its name at once. */
    "CREATE UNIQUE INDEX studies_name ON studies(project, location, name)"
    " WHERE state <> 8;"
    "CREATE INDEX studies_state ON studies(state);"
    "CREATE TABLE trial_counts("
    " study INTEGER NOT NULL REFERENCES studies(id),"
    " state INTEGER NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY(study, state)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE trials("
    " study INTEGER NOT NULL REFERENCES studies(id), id INTEGER NOT NULL,"
    " state INTEGER NOT NULL, params TEXT NOT NULL,"
    " replicate INTEGER NOT NULL DEFAULT 0, ordinal INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL DEFAULT 0,"
    " failures INTEGER NOT NULL DEFAULT 0,"
    " losses INTEGER NOT NULL DEFAULT 0,"
    " objective REAL, final_step INTEGER NOT NULL DEFAULT 0,"
    " final_metrics TEXT, latest_metrics TEXT,"
    " latest_step INTEGER NOT NULL DEFAULT 0,"
    " reason TEXT NOT NULL, revision INTEGER NOT NULL DEFAULT 0,"
    " created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL DEFAULT 0,"
    " ended_ms INTEGER NOT NULL DEFAULT 0,"
    " PRIMARY KEY(study, id)) STRICT, WITHOUT ROWID;"
    "CREATE UNIQUE INDEX trials_point ON trials(study, params, replicate);"
    "CREATE INDEX trials_best ON trials(study, state, objective);"
    "CREATE TABLE attempts("
    " study INTEGER NOT NULL, trial INTEGER NOT NULL, n INTEGER NOT NULL,"
    " state INTEGER NOT NULL, outcome INTEGER NOT NULL DEFAULT 0,"
    " runner TEXT NOT NULL, boot TEXT NOT NULL, lease_id INTEGER NOT NULL,"
    " token_hash BLOB NOT NULL UNIQUE,"
    " exit_code INTEGER NOT NULL DEFAULT -1,"
    " signal INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',"
    " winner INTEGER NOT NULL DEFAULT 0,"
    " last_step INTEGER, last_time INTEGER, last_seq INTEGER,"
    " last_objective TEXT, last_metrics TEXT,"
    " best_step INTEGER, best_objective REAL, best_metrics TEXT,"
    " created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL DEFAULT 0,"
    " ended_ms INTEGER NOT NULL DEFAULT 0,"
    " PRIMARY KEY(study, trial, n),"
    " FOREIGN KEY(study, trial) REFERENCES trials(study, id)"
    ") STRICT, WITHOUT ROWID;"
    /* ENDED is 3: only the open ones are ever looked for by runner. */
    "CREATE INDEX attempts_open ON attempts(runner) WHERE state < 3;"
    "CREATE UNIQUE INDEX attempts_winner ON attempts(study, trial)"
    " WHERE winner = 1;"
    "CREATE TABLE measurements("
    " study INTEGER NOT NULL, trial INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL, replica TEXT NOT NULL,"
    " writer INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " step INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    " metrics TEXT NOT NULL, checkpoint TEXT NOT NULL, crc INTEGER NOT NULL,"
    " PRIMARY KEY(study, trial, attempt, replica, writer, seq)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE writers("
    " study INTEGER NOT NULL, trial INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL, replica TEXT NOT NULL,"
    " writer INTEGER NOT NULL, have INTEGER NOT NULL,"
    " records INTEGER NOT NULL,"
    " PRIMARY KEY(study, trial, attempt, replica, writer)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE events("
    " study INTEGER NOT NULL, revision INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL, kind TEXT NOT NULL,"
    " trial INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " \"from\" TEXT NOT NULL, \"to\" TEXT NOT NULL, reason TEXT NOT NULL,"
    " data TEXT NOT NULL, PRIMARY KEY(study, revision)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE runners("
    " id TEXT PRIMARY KEY, engine TEXT NOT NULL, host TEXT NOT NULL,"
    " boot TEXT NOT NULL, slots INTEGER NOT NULL, seen_ms INTEGER NOT NULL,"
    " online INTEGER NOT NULL) STRICT, WITHOUT ROWID;";

/* Studies that others run, jobs of one trial, and trials that a client asked
 * for or brought. */
static const char second_schema[] =
    "ALTER TABLE studies ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE studies ADD COLUMN gain_ms INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX studies_kind ON studies(kind, id);"
    "CREATE INDEX studies_display ON studies(project, location, display);"
    "ALTER TABLE trials ADD COLUMN client TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE trials ADD COLUMN added INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trials ADD COLUMN final_elapsed_ms INTEGER NOT NULL"
    " DEFAULT -1;"
    "CREATE INDEX trials_client ON trials(study, client) WHERE client <> '';";

/* What runners can do, what attempts ran on and left behind. UNWANTED is 1:
 * only what is to be removed is ever looked for by runner. */
static const char third_schema[] =
    "ALTER TABLE studies ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempts ADD COLUMN facts TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempts ADD COLUMN outputs INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX attempts_unwanted ON attempts(runner) WHERE outputs = 1;"
    "ALTER TABLE runners ADD COLUMN rules TEXT NOT NULL DEFAULT '{}';";

/* Why a trial was suggested and why it was stopped early. */
static const char fourth_schema[] =
    "ALTER TABLE trials ADD COLUMN why TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE trials ADD COLUMN stop TEXT NOT NULL DEFAULT '';";

/* Trials that confirm others. They are no part of the search: those that are
 * looked through for the best are in an index without them. */
static const char fifth_schema[] =
    "ALTER TABLE trials ADD COLUMN confirms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trial_counts ADD COLUMN confirming INTEGER NOT NULL"
    " DEFAULT 0;"
    "ALTER TABLE studies ADD COLUMN confirmations INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE studies ADD COLUMN ended TEXT NOT NULL DEFAULT '';"
    "DROP INDEX trials_best;"
    "CREATE INDEX trials_best ON trials(study, state, objective)"
    " WHERE confirms=0;"
    /* SQLite takes it where a question says so in just these words. */
    "CREATE INDEX trials_open ON trials(study, state, id) WHERE state<=3;"
    "CREATE INDEX trials_confirm ON trials(study, confirms)"
    " WHERE confirms<>0;";

/* What a study starts from: jobs and results of earlier ones, as they were
 * when it was created. They may be deleted without it. */
static const char sixth_schema[] =
    "CREATE TABLE priors("
    " study INTEGER NOT NULL REFERENCES studies(id), n INTEGER NOT NULL,"
    " origin INTEGER NOT NULL, resource TEXT NOT NULL, name TEXT NOT NULL,"
    " spec TEXT NOT NULL, same INTEGER NOT NULL, shared INTEGER NOT NULL,"
    " results INTEGER NOT NULL, PRIMARY KEY(study, n)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE prior_results("
    " study INTEGER NOT NULL, prior INTEGER NOT NULL, trial INTEGER NOT NULL,"
    " state INTEGER NOT NULL, params TEXT NOT NULL, objective REAL,"
    " final_metrics TEXT, PRIMARY KEY(study, prior, trial)"
    ") STRICT, WITHOUT ROWID;";

/* Trials that climb the rungs of an early stopping rule and pause there. */
static const char seventh_schema[] =
    "ALTER TABLE trials ADD COLUMN passed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trials ADD COLUMN pausing INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX trials_paused ON trials(study, id) WHERE state=9;"
    "CREATE TABLE rungs("
    " study INTEGER NOT NULL, trial INTEGER NOT NULL, rung INTEGER NOT NULL,"
    " place REAL NOT NULL, goals TEXT NOT NULL,"
    " PRIMARY KEY(study, trial, rung)"
    ") STRICT, WITHOUT ROWID;";

/* Trials that no other one beats, of studies with several metrics. */
static const char eighth_schema[] =
    "ALTER TABLE trials ADD COLUMN optimal INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX trials_optimal ON trials(study, id) WHERE optimal=1;";

/* What was foretold of earlier studies' trials that were stopped. */
static const char ninth_schema[] =
    "ALTER TABLE prior_results ADD COLUMN final_step INTEGER NOT NULL"
    " DEFAULT 0;"
    "ALTER TABLE prior_results ADD COLUMN stop TEXT NOT NULL DEFAULT '';";

/* Jobs of AI Platform: what was sent, and where to find it by its id alone,
 * since those have a project but no location. */
static const char tenth_schema[] =
    "ALTER TABLE studies ADD COLUMN submitted TEXT NOT NULL DEFAULT '';"
    "CREATE INDEX studies_project ON studies(project, name)"
    " WHERE state <> 8;";

/* Limits of a job count from when its first attempt ran. */
static const char eleventh_schema[] =
    "ALTER TABLE studies ADD COLUMN begun_ms INTEGER NOT NULL DEFAULT 0;";

/* What clients keep with a study and its trials. A version is never given
 * twice, so that whoever follows them misses nothing. */
static const char twelfth_schema[] =
    "CREATE TABLE metadata("
    " version INTEGER PRIMARY KEY AUTOINCREMENT,"
    " study INTEGER NOT NULL, trial INTEGER NOT NULL,"
    " ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    " UNIQUE(study, trial, ns, key)) STRICT;"
    "CREATE INDEX metadata_study ON metadata(study, version);";

/* Trials that end without their objective. */
static const char thirteenth_schema[] =
    "ALTER TABLE studies ADD COLUMN silent INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempts ADD COLUMN doctor TEXT NOT NULL DEFAULT '';";

/* Jobs of Vertex: what was sent of their replicas. Before, a job's form was not
 * stored: those that tell theirs are marked, so that their trainers find the
 * names that they know. Only the native form puts parameters into words. */
static const char fourteenth_schema[] =
    "ALTER TABLE studies ADD COLUMN job_spec TEXT NOT NULL DEFAULT '';"
    "UPDATE studies SET spec=json_set(spec, '$.hypertune.form', 'aip')"
    " WHERE submitted<>'' AND json_valid(spec);"
    "UPDATE studies SET spec=json_set(spec, '$.hypertune.form', 'native')"
    " WHERE submitted='' AND json_valid(spec)"
    " AND json_extract(spec, '$.hypertune.substitute');";

/* Results of earlier studies that count as the study's own, each at a point of
 * it; and earlier studies of those that it names. */
static const char fifteenth_schema[] =
    "ALTER TABLE prior_results ADD COLUMN point TEXT;"
    "CREATE INDEX prior_points ON prior_results(study, point)"
    " WHERE point IS NOT NULL;"
    "ALTER TABLE priors ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE priors ADD COLUMN own INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE priors ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;";

static const struct db_migration migrations[] = {
    {first_schema, NULL},      {second_schema, NULL},
    {third_schema, NULL},      {fourth_schema, NULL},
    {fifth_schema, NULL},      {sixth_schema, NULL},
    {seventh_schema, NULL},    {eighth_schema, front_mark_all},
    {ninth_schema, NULL},      {tenth_schema, NULL},
    {eleventh_schema, NULL},   {twelfth_schema, NULL},
    {thirteenth_schema, NULL}, {fourteenth_schema, NULL},
    {fifteenth_schema, NULL},
};

/* The core itself decides when the log is written back, see db_checkpoint(). */
static const struct db_kind kind = {
    .application_id = DB_APPLICATION_ID,
    .versions = (int)(sizeof migrations / sizeof *migrations),
    .migrations = migrations,
    .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA foreign_keys=ON; PRAGMA wal_autocheckpoint=0;"
               "PRAGMA journal_size_limit=0; PRAGMA trusted_schema=OFF;",
    .reading = "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;",
};

static int note_wal_pages(void *context, sqlite3 *handle, const char *name,
                          int pages)
{
    (void)handle, (void)name;
    struct db *db = context;
    db->wal_pages = pages;
    return SQLITE_OK;
}

enum ht_status db_open(const char *path, struct db **db, struct ht_error *err)
{
    const enum ht_status status = db_file_open(path, true, &kind, db, err);
    /* After the pragmas: wal_autocheckpoint takes the hook away. */
    if (status == HT_OK)
        sqlite3_wal_hook((*db)->handle, note_wal_pages, *db);
    return status;
}

enum ht_status db_open_readonly(const char *path, struct db **db,
                                struct ht_error *err)
{
    return db_file_open(path, false, &kind, db, err);
}
