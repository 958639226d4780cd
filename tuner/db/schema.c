/* schema.c - the tables and indexes of hypertune.db. Comments inside the
 * statements are kept in the file: `.schema` of the sqlite3 shell shows them.
 * tests/unit/tuner/db/test_schema.c compares the numbers of states in them with
 * rows.h, states.h those in conditions. */

#include <stddef.h>

#include "tuner/db/file.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"

/* In every table: _ms are milliseconds of the wall clock since 1970, shown and
 * never compared, 0: not yet; texts that are JSON are '' where there is none.
 * A row ends with its long texts, so that what is looked through lies on the
 * page itself. */
static const char meta_table[] =
    "CREATE TABLE meta(\n"
    "  -- 'server_id': 8 hex digits, in the names of attempts;\n"
    "  -- 'commits': how many transactions there were, see mark.h;\n"
    "  -- 'incarnation': 1 more after each restore; 'restored': of which\n"
    "  -- moment, until what ran then has ended\n"
    "  key TEXT PRIMARY KEY,\n"
    "  value TEXT NOT NULL\n"
    ") STRICT, WITHOUT ROWID;";

static const char studies_table[] =
    "CREATE TABLE studies(\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice\n"
    "  -- what it is called: projects/P/locations/L/studies/NAME\n"
    "  project TEXT NOT NULL,\n"
    "  location TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  display TEXT NOT NULL,\n"
    "  kind INTEGER NOT NULL -- 0 TUNING, 1 STUDY (clients run its trials),\n"
    "    -- 2 CUSTOM\n"
    "    CHECK(kind BETWEEN 0 AND 2),\n"
    "  -- where it stands\n"
    "  state INTEGER NOT NULL -- 0 RUNNING, 1 PAUSED, 2 STOPPING,\n"
    "    -- 3 CANCELLING, 4 SUCCEEDED,\n"

    "-- 5 STOPPED, 6 FAILED, 7 CANCELLED, 8 DELETING\n"
    "    CHECK(state BETWEEN 0 AND 8),\n"
    "  ends_as INTEGER NOT NULL -- what STOPPING becomes, a state\n"
    "    CHECK(ends_as BETWEEN 0 AND 8),\n"
    "  revision INTEGER NOT NULL DEFAULT 0, -- of its newest event\n"
    "  -- the search\n"
    "  seed INTEGER NOT NULL,\n"
    "  next_trial INTEGER NOT NULL DEFAULT 1, -- id of the next trial\n"
    "  confirmations INTEGER NOT NULL DEFAULT 0, -- of the trials made, those\n"
    "    -- that repeat others\n"
    "  exhausted INTEGER NOT NULL DEFAULT 0\n"
    "    CHECK(exhausted IN (0, 1)), -- no untried point is left\n"
    "  -- counts that its rules look at\n"
    "  stale_trials INTEGER NOT NULL DEFAULT 0, -- ended in a row without a\n"
    "    -- better objective\n"
    "  refusals INTEGER NOT NULL DEFAULT 0, -- attempts in a row that no\n"
    "    -- runner could begin\n"
    "  unreported_in_row INTEGER NOT NULL DEFAULT 0, -- first trials without\n"
    "    -- the objective; -1: one had it, -2: held for that\n"
    "  -- milliseconds spent RUNNING, in all and when\n"
    "  used_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  first_run_used_ms INTEGER NOT NULL DEFAULT 0, -- its first one\n"
    "    -- ran; 0: none has\n"
    "  gain_ms INTEGER NOT NULL DEFAULT 0, -- the best objective grew last\n"
    "  -- times\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  started_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  ended_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  updated_ms INTEGER NOT NULL, -- of its newest event\n"
    "  -- texts\n"
    "  reason TEXT NOT NULL, -- why it is in this state, in words\n"
    "  ended TEXT NOT NULL DEFAULT '', -- RUNNING again only to confirm: the\n"
    "    -- reason of the end that it goes back to\n"
    "  submitted TEXT NOT NULL DEFAULT '', -- JSON, trainingInput of an AI\n"
    "    -- Platform job as it was sent\n"
    "  job_spec TEXT NOT NULL DEFAULT '', -- JSON, the same of a Vertex job's\n"
    "    -- trialJobSpec or jobSpec, for its replicas; '': that of spec\n"
    "  spec TEXT NOT NULL -- JSON, as a Vertex HyperparameterTuningJob\n"
    ") STRICT;"
    /* A study being deleted frees its name at once. */
    "CREATE UNIQUE INDEX studies_name ON studies(project, location, name)"
    " WHERE " STUDY_IS_SHOWN ";"
    /* Jobs of AI Platform have a project but no location. */
    "CREATE INDEX studies_project ON studies(project, name)"
    " WHERE " STUDY_IS_SHOWN ";"
    "CREATE INDEX studies_display ON studies(project, location, display);"
    "CREATE INDEX studies_state ON studies(state);";

static const char trial_counts_table[] =
    "CREATE TABLE trial_counts(\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  state INTEGER NOT NULL -- as in trials\n"
    "    CHECK(state BETWEEN 0 AND 9),\n"
    "  n INTEGER NOT NULL, -- trials of the study in that state,\n"
    "  confirming INTEGER NOT NULL DEFAULT 0, -- those of them that repeat\n"
    "    -- others\n"
    "  PRIMARY KEY(study, state)\n"
    ") STRICT, WITHOUT ROWID;";

static const char metadata_table[] =
    "CREATE TABLE metadata(\n"
    "  -- what clients keep with a study and its trials\n"
    "  version INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, so\n"
    "    -- that nobody who follows them misses one\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  trial INTEGER NOT NULL, -- 0: of the study\n"
    "  ns TEXT NOT NULL, -- namespace\n"
    "  key TEXT NOT NULL,\n"
    "  value TEXT NOT NULL,\n"
    "  UNIQUE(study, trial, ns, key)\n"
    ") STRICT;"
    "CREATE INDEX metadata_study ON metadata(study, version);";

static const char priors_table[] =
    "CREATE TABLE priors(\n"
    "  -- what a study starts from: jobs and results of earlier ones, as they\n"
    "  -- were when it was created; they may be deleted without it\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  n INTEGER NOT NULL, -- from 0\n"
    "  origin INTEGER NOT NULL, -- the earlier study\n"
    "  same INTEGER NOT NULL\n"
    "    CHECK(same IN (0, 1)), -- parameters and objective\n"
    "  shared INTEGER NOT NULL, -- parameters that both have\n"
    "  results INTEGER NOT NULL, -- that mean something here\n"
    "  failures INTEGER NOT NULL, -- beside them: trials without a result\n"
    "  own INTEGER NOT NULL, -- of both, those that count as the study's own\n"
    "  inherited INTEGER NOT NULL\n"
    "    CHECK(inherited IN (0, 1)), -- an earlier one of a study that was\n"
    "    -- named\n"
    "  resource TEXT NOT NULL, -- its full name\n"
    "  name TEXT NOT NULL,\n"
    "  spec TEXT NOT NULL, -- JSON, as in studies\n"
    "  PRIMARY KEY(study, n)\n"
    ") STRICT, WITHOUT ROWID;";

static const char prior_results_table[] =
    "CREATE TABLE prior_results(\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  prior INTEGER NOT NULL, -- priors.n\n"
    "  -- as in trials, of the earlier study\n"
    "  trial INTEGER NOT NULL,\n"
    "  state INTEGER NOT NULL\n"
    "    CHECK(state BETWEEN 0 AND 9),\n"
    "  objective REAL,\n"
    "  final_step INTEGER NOT NULL DEFAULT 0,\n"
    "  final_metrics TEXT,\n"
    "  params TEXT NOT NULL,\n"
    "  stop TEXT NOT NULL DEFAULT '', -- without the curve\n"
    "  point TEXT, -- JSON, canonical, of the study that counts it as its "
    "own;\n"
    "    -- NULL: it teaches by transfer\n"
    "  PRIMARY KEY(study, prior, trial)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX prior_points ON prior_results(study, point)"
    " WHERE point IS NOT NULL;";

/* Measured on this shape: the trial table with its objective column indexed
 * finds the best of 10^6 in 7 us. */
static const char trials_table[] =
    "CREATE TABLE trials(\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  id INTEGER NOT NULL, -- from 1\n"
    "  -- where it stands\n"
    "  state INTEGER NOT NULL -- 0 PREPARED (nobody has seen it yet),\n"
    "    -- 1 REQUESTED, 2 ACTIVE, 3 STOPPING, 4 SUCCEEDED, 5 STOPPED,\n"
    "    -- 6 FAILED, 7 INFEASIBLE, 8 CANCELLED, 9 PAUSED\n"
    "    CHECK(state BETWEEN 0 AND 9),\n"
    "  revision INTEGER NOT NULL DEFAULT 0, -- of its newest move\n"
    "  attempt INTEGER NOT NULL DEFAULT 0, -- the newest, 0: none\n"
    "  failures INTEGER NOT NULL DEFAULT 0, -- attempts that failed by its\n"
    "    -- own fault,\n"
    "  losses INTEGER NOT NULL DEFAULT 0, -- in a row, without progress\n"
    "  rungs_passed INTEGER NOT NULL DEFAULT 0, -- of its early stopping rule\n"
    "  pausing INTEGER NOT NULL DEFAULT 0\n"
    "    CHECK(pausing IN (0, 1)), -- STOPPING only to be PAUSED\n"
    "  -- the suggestion\n"
    "  ordinal INTEGER NOT NULL, -- from 0\n"
    "  replicate INTEGER NOT NULL DEFAULT 0, -- of the same point, from 0\n"
    "  confirms INTEGER NOT NULL DEFAULT 0, -- the trial that it repeats, 0:\n"
    "    -- it belongs to the search\n"
    "  chosen_by_person INTEGER NOT NULL DEFAULT 0\n"
    "    CHECK(chosen_by_person IN (0, 1)), -- its point, or a part of it:\n"
    "    -- then why says how the search chose the rest\n"
    "  -- the result: decided once, when it ends. It is no copy of a record:\n"
    "  -- a client may say it without one, of several metrics each may come\n"
    "  -- from another record, and what comes later does not change it.\n"
    "  objective REAL, -- NULL: it has none\n"
    "  final_step INTEGER NOT NULL DEFAULT 0,\n"
    "  final_elapsed_ms INTEGER NOT NULL DEFAULT -1, -- -1: not said\n"
    "  optimal INTEGER NOT NULL DEFAULT 0\n"
    "    CHECK(optimal IN (0, 1)), -- of several metrics: nothing beats it\n"
    "  -- the newest record: the rest of its key in measurements, all NULL:\n"
    "  -- nothing was reported\n"
    "  latest_attempt INTEGER,\n"
    "  latest_replica TEXT,\n"
    "  latest_writer INTEGER,\n"
    "  latest_seq INTEGER,\n"
    "  -- times\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  started_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  ended_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  -- texts\n"
    "  client TEXT NOT NULL DEFAULT '', -- who asked for it, '': nobody\n"
    "  reason TEXT NOT NULL, -- why it is in this state, in words\n"
    "  params TEXT NOT NULL, -- JSON, the canonical point\n"
    "  final_metrics TEXT, -- JSON object of the result, NULL: none\n"
    "  why TEXT NOT NULL DEFAULT '', -- JSON, why the search chose it\n"
    "  stop TEXT NOT NULL DEFAULT '', -- JSON, why it was stopped early\n"
    "  PRIMARY KEY(study, id)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE UNIQUE INDEX trials_point ON trials(study, params, replicate);"
    "CREATE INDEX trials_best ON trials(study, state, objective)"
    " WHERE " TRIAL_SEARCHES ";"
    "CREATE INDEX trials_open ON trials(study, state, id)"
    " WHERE " TRIAL_IS_OPEN ";"
    "CREATE INDEX trials_paused ON trials(study, id)"
    " WHERE " TRIAL_IS_PAUSED ";"
    "CREATE INDEX trials_confirm ON trials(study, confirms)"
    " WHERE " TRIAL_CONFIRMS ";"
    "CREATE INDEX trials_optimal ON trials(study, id)"
    " WHERE " TRIAL_IS_OPTIMAL ";";

static const char rungs_table[] =
    "CREATE TABLE rungs(\n"
    "  -- where a trial stood at the rungs of its early stopping rule\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  rung INTEGER NOT NULL, -- from 0\n"
    "  place REAL NOT NULL, -- step or seconds\n"
    "  goals TEXT NOT NULL, -- JSON array, a number for each metric\n"
    "  PRIMARY KEY(study, trial, rung),\n"
    "  FOREIGN KEY(study, trial) REFERENCES trials(study, id)\n"
    ") STRICT, WITHOUT ROWID;";

static const char runners_table[] =
    "CREATE TABLE runners(\n"
    "  id TEXT PRIMARY KEY, -- its name\n"
    "  engine TEXT NOT NULL, -- what it runs trials with\n"
    "  host TEXT NOT NULL,\n"
    "  boot TEXT NOT NULL, -- another one for each start of it\n"
    "  slots INTEGER NOT NULL, -- trials at a time\n"
    "  online INTEGER NOT NULL CHECK(online IN (0, 1)),\n"
    "  seen_ms INTEGER NOT NULL, -- when it came or went\n"
    "  rules TEXT NOT NULL DEFAULT '{}' -- JSON, what it can and may do\n"
    ") STRICT, WITHOUT ROWID;";

static const char attempts_table[] =
    "CREATE TABLE attempts(\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  n INTEGER NOT NULL, -- from 1\n"
    "  -- where it stands\n"
    "  state INTEGER NOT NULL -- 0 STARTING, 1 RUNNING, 2 DRAINING, 3 ENDED\n"
    "    CHECK(state BETWEEN 0 AND 3),\n"
    "  outcome INTEGER NOT NULL DEFAULT 0 -- 0 NONE, 1 SUCCEEDED, 2 FAILED,\n"
    "    -- 3 STOPPED, 4 TIMEOUT, 5 LOST\n"
    "    CHECK(outcome BETWEEN 0 AND 5),\n"
    "  exit_code INTEGER NOT NULL DEFAULT -1, -- -1: none\n"
    "  signal INTEGER NOT NULL DEFAULT 0, -- 0: none\n"
    "  winner INTEGER NOT NULL DEFAULT 0\n"
    "    CHECK(winner IN (0, 1)), -- its records decided the trial\n"
    "  outputs INTEGER NOT NULL DEFAULT 0 -- its folders: 0 THERE,\n"
    "    -- 1 UNWANTED, 2 DISCARDED, 3 KEPT (where it must not remove them)\n"
    "    CHECK(outputs BETWEEN 0 AND 3),\n"
    "  -- the lease\n"
    "  runner TEXT NOT NULL, -- one of runners; of an imported trial the one\n"
    "    -- that it had elsewhere, or ''\n"
    "  boot TEXT NOT NULL, -- of the runner\n"
    "  lease_id INTEGER NOT NULL, -- the request that it was given to\n"
    "  token_hash BLOB NOT NULL UNIQUE, -- SHA-256 of what reports must carry\n"
    "  -- times\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  started_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  ended_ms INTEGER NOT NULL DEFAULT 0,\n"
    "  -- candidates for the result: the newest record with the objective and\n"
    "  -- the one with the best finite value of it. The rest of their keys in\n"
    "  -- measurements, NULL: none; they may be of an earlier attempt.\n"
    "  last_attempt INTEGER,\n"
    "  last_replica TEXT,\n"
    "  last_writer INTEGER,\n"
    "  last_seq INTEGER,\n"
    "  best_attempt INTEGER,\n"
    "  best_replica TEXT,\n"
    "  best_writer INTEGER,\n"
    "  best_seq INTEGER,\n"
    "  -- texts\n"
    "  reason TEXT NOT NULL DEFAULT '', -- why it is in this state, in words\n"
    "  facts TEXT NOT NULL DEFAULT '', -- JSON, what it ran on\n"
    "  doctor TEXT NOT NULL DEFAULT '', -- JSON, why it had no objective\n"
    "  PRIMARY KEY(study, trial, n),\n"
    "  FOREIGN KEY(study, trial) REFERENCES trials(study, id)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX attempts_open ON attempts(runner)"
    " WHERE " ATTEMPT_IS_OPEN ";"
    "CREATE INDEX attempts_unwanted ON attempts(runner)"
    " WHERE " OUTPUTS_ARE_UNWANTED ";"
    "CREATE UNIQUE INDEX attempts_winner ON attempts(study, trial)"
    " WHERE winner=1;";

/* Without rowids it takes 35 bytes less a record. */
static const char measurements_table[] =
    "CREATE TABLE measurements(\n"
    "  -- one row for each record that was reported: the only copy of what it\n"
    "  -- says. Never changed; goes with its trial, since trials, attempts\n"
    "  -- and events refer to it.\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL, -- 0: a client reported it to the server\n"
    "  replica TEXT NOT NULL, -- 'master-0'; of attempt 0 'client'\n"
    "  writer INTEGER NOT NULL, -- one process; 64 random bits, or 0: a\n"
    "    -- program that counts nothing, seq is a hash\n"
    "  seq INTEGER NOT NULL, -- counts from 1 in its writer\n"
    "  step INTEGER NOT NULL,\n"
    "  time_ms INTEGER NOT NULL, -- when it was reported\n"
    "  crc INTEGER NOT NULL, -- CRC-32C of the other columns\n"
    "  checkpoint TEXT NOT NULL, -- '': none\n"
    "  metrics TEXT NOT NULL, -- JSON object; 'NaN' and infinities as texts\n"
    "  PRIMARY KEY(study, trial, attempt, replica, writer, seq),\n"
    "  FOREIGN KEY(study, trial) REFERENCES trials(study, id)\n"
    ") STRICT, WITHOUT ROWID;";

static const char writers_table[] =
    "CREATE TABLE writers(\n"
    "  -- how far the records of each writer have come\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL,\n"
    "  replica TEXT NOT NULL,\n"
    "  writer INTEGER NOT NULL,\n"
    "  have INTEGER NOT NULL, -- highest seq without a gap below\n"
    "  records INTEGER NOT NULL, -- stored\n"
    "  PRIMARY KEY(study, trial, attempt, replica, writer),\n"
    "  FOREIGN KEY(study, trial, attempt) REFERENCES attempts(study, trial, "
    "n)\n"
    ") STRICT, WITHOUT ROWID;";

static const char events_table[] =
    "CREATE TABLE events(\n"
    "  -- one row for each revision of a study\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  revision INTEGER NOT NULL, -- from 1; only a restore skips some\n"
    "  time_ms INTEGER NOT NULL,\n"
    "  actor TEXT NOT NULL, -- who caused it: 'core', 'runner NAME', 'trial',\n"
    "    -- who asked: the role of the token, 'client' where none is asked "
    "for\n"
    "  kind TEXT NOT NULL, -- 'trial.moved' and so on, see docs/http.md\n"
    "  trial INTEGER NOT NULL, -- 0: of the study\n"
    "  attempt INTEGER NOT NULL, -- 0: of none\n"
    "  \"from\" TEXT NOT NULL, -- states in words, '': no move\n"
    "  \"to\" TEXT NOT NULL,\n"
    "  reason TEXT NOT NULL,\n"
    "  -- of trial.measured the record: the rest of its key in measurements;\n"
    "  -- NULL: none, or its trial was deleted since, then data has the copy\n"
    "  record_attempt INTEGER,\n"
    "  record_replica TEXT,\n"
    "  record_writer INTEGER,\n"
    "  record_seq INTEGER,\n"
    "  data TEXT NOT NULL, -- JSON object, '': none\n"
    "  PRIMARY KEY(study, revision)\n"
    ") STRICT, WITHOUT ROWID;";

/* The space, the constraints and the bounds of a study may change. */
static const char live_edits[] =
    "CREATE TABLE specs(\n"
    "  -- what a study searched before a change of it\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  revision INTEGER NOT NULL, -- of the change, study.changed\n"
    "  spec TEXT NOT NULL, -- JSON, as in studies, until then\n"
    "  PRIMARY KEY(study, revision)\n"
    ") STRICT, WITHOUT ROWID;"
    /* Suggestions that a change deleted before they began. */
    "ALTER TABLE studies ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;"
    /* Its point is none of today's space or violates a constraint. */
    "ALTER TABLE trials ADD COLUMN outside INTEGER NOT NULL DEFAULT 0"
    " CHECK(outside IN (0, 1));"
    "CREATE INDEX trials_outside ON trials(study, id)"
    " WHERE " TRIAL_IS_OUTSIDE ";";

/* A study pauses when its first attempts fail alike. */
static const char crashes[] =
    "ALTER TABLE studies ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE studies ADD COLUMN crash TEXT NOT NULL DEFAULT '';";

/* Of attempts as in rows.h: when a silent one was last heard of, how often it
 * used to report, and whether it was stopped for that. */
static const char silence[] =
    "ALTER TABLE attempts ADD COLUMN silent_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempts ADD COLUMN usual_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempts ADD COLUMN hung INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX attempts_silent ON attempts(study, trial, n)"
    " WHERE " ATTEMPT_IS_SILENT ";"
    "CREATE INDEX trials_stopped ON trials(study, rungs_passed)"
    " WHERE " TRIAL_STOPPED_EARLY ";";

/* What differed from the git commit of attempts. */
static const char changes_table[] =
    "CREATE TABLE changes(\n"
    "  -- each text once in a study; attempts name it in their facts\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  sha256 TEXT NOT NULL, -- of the whole, in hex\n"
    "  text TEXT NOT NULL, -- the beginning of the whole\n"
    "  PRIMARY KEY(study, sha256)\n"
    ") STRICT, WITHOUT ROWID;"
    /* A replay asks when a trial of its time was deleted. */
    "CREATE INDEX events_deleted ON events(study, trial)"
    " WHERE kind='trial.deleted';";

static const char audit_table[] =
    "CREATE TABLE audit(\n"
    "  -- who changed what over the network, and who was refused: in the\n"
    "  -- transaction of the change. Texts are '' where there is none.\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, so that\n"
    "    -- nobody who follows the log misses a line\n"
    "  time_ms INTEGER NOT NULL,\n"
    "  last_ms INTEGER NOT NULL, -- of the newest request that it counts\n"
    "  count INTEGER NOT NULL, -- requests that were alike\n"
    "  refused INTEGER NOT NULL -- for want of permission\n"
    "    CHECK(refused IN (0, 1)),\n"
    "  code INTEGER NOT NULL, -- HTTP status of the answer\n"
    "  who TEXT NOT NULL, -- name of the principal\n"
    "  peer TEXT NOT NULL, -- address without a port\n"
    "  forwarded TEXT NOT NULL, -- the client's, as a declared proxy named it\n"
    "  action TEXT NOT NULL, -- method and pattern of the route\n"
    "  project TEXT NOT NULL,\n"
    "  study INTEGER NOT NULL, -- 0: none; the study may be deleted\n"
    "  study_name TEXT NOT NULL,\n"
    "  trial TEXT NOT NULL,\n"
    "  detail TEXT NOT NULL, -- what else it was about\n"
    "  error TEXT NOT NULL -- of a failure, cut\n"
    ") STRICT;"
    "CREATE INDEX audit_refused ON audit(refused);";

static const char tokens_table[] =
    "CREATE TABLE tokens(\n"
    "  -- named tokens; those of the data folder are in its files\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL UNIQUE,\n"
    "  role INTEGER NOT NULL -- 0 admin, 1 submit, 2 read, 3 runner, 4 join,\n"
    "    -- 5 share\n"
    "    CHECK(role BETWEEN 0 AND 5),\n"
    "  project TEXT NOT NULL, -- the only one it may use; '': all\n"
    "  runner TEXT NOT NULL, -- the id that it belongs to; '': none yet\n"
    "  created_by TEXT NOT NULL, -- name of a token\n"
    "  hash BLOB NOT NULL UNIQUE -- SHA-256 of the secret\n"
    "    CHECK(length(hash)=32),\n"
    "  old_hash BLOB NOT NULL -- of the secret before; zeros: none\n"
    "    CHECK(length(old_hash)=32),\n"
    "  -- times, 0: none\n"
    "  old_until_ms INTEGER NOT NULL, -- when the old secret ends\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  expires_ms INTEGER NOT NULL,\n"
    "  revoked_ms INTEGER NOT NULL,\n"
    "  study INTEGER NOT NULL DEFAULT 0 -- id of the only one; 0: all\n"
    ") STRICT;"
    "CREATE UNIQUE INDEX tokens_runner ON tokens(runner) WHERE runner<>'';";

static const char sessions_table[] =
    "CREATE TABLE left_sessions(\n"
    "  -- browsers' sessions that were left before their end\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  until_s INTEGER NOT NULL -- when the cookie ends anyway\n"
    ") STRICT;";

/* Each page has a checksum instead. */
static const char drop_crc[] = "ALTER TABLE measurements DROP COLUMN crc;";

static enum ht_status run_all(struct db *db, const char *const texts[],
                              size_t n, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < n; i++)
        status = db_exec(db, texts[i], err);
    return status;
}

static enum ht_status make_tables(struct db *db, struct ht_error *err)
{
    static const char *const tables[] = {
        meta_table,    studies_table,       trial_counts_table, metadata_table,
        priors_table,  prior_results_table, trials_table,       rungs_table,
        runners_table, attempts_table,      measurements_table, writers_table,
        events_table};
    return run_all(db, tables, sizeof tables / sizeof *tables, err);
}

static enum ht_status make_second(struct db *db, struct ht_error *err)
{
    static const char *const parts[] = {live_edits, crashes, silence,
                                        changes_table};
    return run_all(db, parts, sizeof parts / sizeof *parts, err);
}

static enum ht_status make_audit(struct db *db, struct ht_error *err)
{
    return db_exec(db, audit_table, err);
}

static enum ht_status make_tokens(struct db *db, struct ht_error *err)
{
    return db_exec(db, tokens_table, err);
}

static enum ht_status make_sessions(struct db *db, struct ht_error *err)
{
    return db_exec(db, sessions_table, err);
}

#define FORMER_COLUMNS                                                         \
    "id, name, role, project, runner, created_by, hash, old_hash, "            \
    "old_until_ms, created_ms, expires_ms, revoked_ms"

/* The table of an older file has neither the roles join and share nor a study;
 * that of a still older one was made just now. */
static enum ht_status make_shares(struct db *db, struct ht_error *err)
{
    static const char *const parts[] = {
        "DROP INDEX tokens_runner; ALTER TABLE tokens RENAME TO former_tokens;",
        tokens_table,
        "INSERT INTO tokens(" FORMER_COLUMNS ") SELECT " FORMER_COLUMNS
        " FROM former_tokens; DROP TABLE former_tokens;"};
    return run_all(db, parts, sizeof parts / sizeof *parts, err);
}

static const char report_use_table[] =
    "CREATE TABLE report_use(\n"
    "  -- what each replica has reported, stored or not\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL,\n"
    "  replica TEXT NOT NULL,\n"
    "  records INTEGER NOT NULL, -- that came, over all writers\n"
    "  bytes INTEGER NOT NULL, -- of their values and checkpoints\n"
    "  dropped INTEGER NOT NULL, -- of the records: beyond a budget, in no\n"
    "    -- other table\n"
    "  held TEXT NOT NULL, -- JSON: the dropped records that its result\n"
    "    -- may need, which become measurements when the attempt ends; or ''\n"
    "  PRIMARY KEY(study, trial, attempt, replica),\n"
    "  FOREIGN KEY(study, trial, attempt) REFERENCES attempts(study, trial, "
    "n)\n"
    ") STRICT, WITHOUT ROWID;";

static enum ht_status make_report_use(struct db *db, struct ht_error *err)
{
    static const char *const parts[] = {
        report_use_table,
        "INSERT INTO report_use SELECT study, trial, attempt, replica, "
        "sum(records), 0, 0, '' FROM writers GROUP BY 1, 2, 3, 4;"};
    return run_all(db, parts, sizeof parts / sizeof *parts, err);
}

/* Attempts up to it may have been given after the copy that the server was
 * restored from, so no more are. */
static const char attempts_before[] =
    "ALTER TABLE trials ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;";

static const char trees_table[] =
    "CREATE TABLE trees(\n"
    "  -- folders that are whole in DATA/store\n"
    "  project TEXT NOT NULL,\n"
    "  tree TEXT NOT NULL CHECK(length(tree)=64), -- SHA-256 of its manifest\n"
    "  bytes INTEGER NOT NULL, -- of its files\n"
    "  files INTEGER NOT NULL, -- how many\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  unused_ms INTEGER NOT NULL, -- since when no row of tree_uses names "
    "it;\n"
    "    -- 0: one does, or it has not been seen yet that none does\n"
    "  PRIMARY KEY(project, tree)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE tree_uses(\n"
    "  -- what keeps a tree\n"
    "  study INTEGER NOT NULL REFERENCES studies(id),\n"
    "  trial INTEGER NOT NULL, -- 0: the code of all its trials\n"
    "  attempt INTEGER NOT NULL, -- 0 the same\n"
    "  step INTEGER NOT NULL, -- of the report that named it; -1: at the end\n"
    "  kind INTEGER NOT NULL CHECK(kind BETWEEN 0 AND 1), -- 0 code,\n"
    "    -- 1 a checkpoint\n"
    "  tree TEXT NOT NULL,\n"
    "  project TEXT NOT NULL,\n"
    "  PRIMARY KEY(study, trial, attempt, step, kind, tree),\n"
    "  FOREIGN KEY(project, tree) REFERENCES trees(project, tree)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX tree_uses_tree ON tree_uses(project, tree);";

static const char checkpoints_table[] =
    "CREATE TABLE checkpoints(\n"
    "  -- what trials may continue from at any runner\n"
    "  id INTEGER PRIMARY KEY, -- the newest is the highest\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL, -- that made it\n"
    "  tree TEXT NOT NULL, -- in the store of the study's project\n"
    "  step INTEGER NOT NULL, -- of the report that named it, -1: none did\n"
    "  created_ms INTEGER NOT NULL,\n"
    "  FOREIGN KEY(study, trial, attempt) REFERENCES attempts(study, trial, "
    "n)\n"
    ") STRICT;"
    "CREATE INDEX checkpoints_trial ON checkpoints(study, trial);";

/* Which trial gets which runner, see tuner/placement. */
static const char placement[] =
    "ALTER TABLE attempts ADD COLUMN gpus TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempts ADD COLUMN moving INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runners ADD COLUMN drain INTEGER NOT NULL DEFAULT 0"
    " CHECK(drain BETWEEN 0 AND 2);"
    "CREATE TABLE projects(\n"
    "  name TEXT PRIMARY KEY,\n"
    "  share REAL NOT NULL CHECK(share>0),\n"
    "  most_slots INTEGER NOT NULL, -- trials at a time, 0: no limit\n"
    "  most_gpus REAL NOT NULL, -- 0: no limit\n"
    "  usage REAL NOT NULL, -- decayed slot-seconds of ended attempts\n"
    "  usage_ms INTEGER NOT NULL, -- when that was so\n"
    "  trials REAL NOT NULL, -- recent attempts, a decayed count, and the\n"
    "  trial_s REAL NOT NULL -- seconds that they ran\n"
    ") STRICT, WITHOUT ROWID;";

static const char usage_table[] =
    "CREATE TABLE trial_usage(\n"
    "  -- what a replica used of its machine\n"
    "  study INTEGER NOT NULL,\n"
    "  trial INTEGER NOT NULL,\n"
    "  attempt INTEGER NOT NULL,\n"
    "  replica TEXT NOT NULL,\n"
    "  device TEXT NOT NULL, -- '' processors and memory; else a GPU\n"
    "  series TEXT NOT NULL, -- JSON of proto/job/usage.h\n"
    "  PRIMARY KEY(study, trial, attempt, replica, device),\n"
    "  FOREIGN KEY(study, trial, attempt) REFERENCES attempts(study, trial, "
    "n)\n"
    ") STRICT, WITHOUT ROWID;";

static const struct db_migration migrations[] = {
    {NULL, make_tables},     {NULL, make_second},       {NULL, make_audit},
    {NULL, make_tokens},     {NULL, make_sessions},     {NULL, make_shares},
    {NULL, make_report_use}, {drop_crc, NULL},          {attempts_before, NULL},
    {trees_table, NULL},     {checkpoints_table, NULL}, {placement, NULL},
    {usage_table, NULL},
};

/* The core itself decides when the log is written back, see db_checkpoint(). */
static const struct db_kind kind = {
    .application_id = DB_APPLICATION_ID,
    .former_id = 0x4879546e, /* "HyTn" */
    .versions = (int)(sizeof migrations / sizeof *migrations),
    .migrations = migrations,
    .writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA foreign_keys=ON; PRAGMA wal_autocheckpoint=0;"
               "PRAGMA journal_size_limit=0; PRAGMA trusted_schema=OFF;",
    .reading = "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;",
    .is_main = true,
};

static int note_wal_pages(void *context, sqlite3 *handle, const char *name,
                          int pages)
{
    (void)handle, (void)name;
    struct db *db = context;
    db->wal_pages = pages;
    db->log_is_empty = false;
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
