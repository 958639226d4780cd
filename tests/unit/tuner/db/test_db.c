/* The file itself: who may open it, and checksums. */
#include "proto/base/token.h"
#include "tests/lib/db_place.h"
#include "tuner/db/changes.h"
#include "tuner/db/tokens.h"
#include "tuner/db/write.h"

static void a_new_file_is_set_up_for_safety(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_place_ask(db, "PRAGMA synchronous") == 2);
    CHECK(db_place_ask(db, "PRAGMA foreign_keys") == 1);
    CHECK(db_place_ask(db, "PRAGMA wal_autocheckpoint") == 0);
    CHECK(db_place_ask(db, "PRAGMA user_version") == 13);
    CHECK(db_place_ask(db, "PRAGMA application_id") == DB_APPLICATION_ID);
    CHECK(db_place_ask(db, "SELECT count(*) FROM pragma_journal_mode "
                           "WHERE journal_mode='wal'") == 1);
    CHECK(db_place_ask(
              db, "SELECT count(*) FROM pragma_table_list WHERE schema='main' "
                  "AND type='table' AND name NOT LIKE 'sqlite%' "
                  "AND strict=0") == 0);
    CHECK(db_check(db, NULL) == HT_OK);
    db_close(db);
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    db_close(db);
    db_place_close(&place);
}

static void a_newer_file_is_refused(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct ht_error err = {0};
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    db_close(db);
    db_place_tamper(&place, "PRAGMA user_version=99");
    CHECK(db_open(place.path, &db, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "version 99") != NULL);
    db_place_close(&place);
}

static void the_file_of_another_program_is_refused(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    db_place_tamper(&place, "CREATE TABLE bookmarks(url TEXT)");
    CHECK(db_open(place.path, &db, NULL) == HT_PRECONDITION);
    db_place_tamper(&place, "PRAGMA application_id=7");
    CHECK(db_open(place.path, &db, NULL) == HT_PRECONDITION);
    db_place_close(&place);
}

static void what_is_no_database_is_refused(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    FILE *file = fopen(place.path, "w");
    for (int i = 0; file != NULL && i < 100; i++)
        fputs("this is not a database at all\n", file);
    if (file != NULL)
        fclose(file);
    CHECK(db_open(place.path, &db, NULL) == HT_CORRUPT);
    db_place_close(&place);
}

static void readers_cannot_write(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL, *reader = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_open_readonly(place.path, &reader, NULL) == HT_OK);
    CHECK(db_meta_set(reader, "a", "b", NULL) == HT_UNAVAILABLE);
    db_close(reader);
    db_close(db);
    db_place_close(&place);
}

static void put_runner(struct db *db)
{
    const struct runner_row row = {
        .id = "r", .engine = "", .host = "", .boot = "", .rules = "{}"};
    CHECK(db_runner_save(db, &row, NULL) == HT_OK);
}

static void a_point_is_stored_once(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    struct trial_row row = {
        .study = 1, .id = 1, .params = "{\"x\":1}", .reason = ""};
    bool inserted = false;
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && inserted);
    row.id = 2;
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && !inserted);
    row.replicate = 1; /* an intended repeat */
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && inserted);
    db_close(db);
    db_place_close(&place);
}

static void a_trial_has_one_winner_at_most(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    db_place_put(db, 1, TRIAL_ACTIVE, 0);
    put_runner(db);
    for (int64_t n = 1; n <= 2; n++) {
        unsigned char hash[TOKEN_HASH_BYTES] = {(unsigned char)n};
        const struct attempt_lease lease = {"boot", 1, hash};
        struct attempt_row row = {
            .study = 1, .trial = 1, .n = n, .runner = "r", .reason = ""};
        CHECK(db_attempt_insert(db, &row, &lease, NULL) == HT_OK);
        row.winner = true;
        CHECK((db_attempt_save(db, &row, NULL) == HT_OK) == (n == 1));
    }
    db_close(db);
    db_place_close(&place);
}

static void only_what_ends_or_goes_changes_results(void)
{
    static const struct {
        const char *kind, *from, *to;
        bool changes;
    } events[] = {
        {"trial.created", "", "REQUESTED", false},
        {"trial.moved", "REQUESTED", "ACTIVE", false},
        {"trial.measured", "", "", false},
        {"trial.moved", "STOPPING", "PAUSED", false},
        {"trial.moved", "ACTIVE", "SUCCEEDED", true},
        {"trial.moved", "FAILED", "REQUESTED", true},
        {"trial.deleted", "REQUESTED", "", true},
        {"study.moved", "RUNNING", "SUCCEEDED", false},
    };
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    bool changed;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const struct event_row row = {.study = 1,
                                      .revision = (int64_t)i + 1,
                                      .actor = "core",
                                      .kind = events[i].kind,
                                      .trial = 1,
                                      .from = events[i].from,
                                      .to = events[i].to,
                                      .reason = "",
                                      .data = ""};
        CHECK(db_event_insert(db, &row, NULL) == HT_OK);
        CHECK(db_results_changed(db, 1, (int64_t)i, &changed, NULL) == HT_OK);
        CHECK(changed == events[i].changes);
    }
    CHECK(db_results_changed(db, 1, 0, &changed, NULL) == HT_OK && changed);
    db_close(db);
    db_place_close(&place);
}

static void put_record(struct db *db, int64_t trial, int64_t seq)
{
    bool inserted = false;
    const char *metrics = seq == 1 ? "{\"a\":0.5}" : "{\"a\":\"NaN\"}";
    const struct measurement_row row = {.study = 1,
                                        .trial = trial,
                                        .attempt = 1,
                                        .replica = "master-0",
                                        .writer = UINT64_MAX,
                                        .seq = seq,
                                        .step = 10 * seq,
                                        .metrics = metrics,
                                        .checkpoint = ""};
    CHECK(db_measurement_insert(db, &row, &inserted, NULL) == HT_OK);
    CHECK(inserted);
}

/* Trial 1 with two records, each told by an event, and trial 2 with one. */
static void put_told_records(struct db *db)
{
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    put_runner(db);
    for (int64_t i = 1; i <= 3; i++) {
        const int64_t trial = i == 3 ? 2 : 1, seq = i == 3 ? 1 : i;
        if (seq == 1)
            db_place_put(db, trial, TRIAL_ACTIVE, 0);
        put_record(db, trial, seq);
        struct event_row event = {.study = 1,
                                  .revision = i,
                                  .actor = "trial",
                                  .kind = "trial.measured",
                                  .trial = trial,
                                  .attempt = 1,
                                  .from = "",
                                  .to = "",
                                  .reason = "",
                                  .data = "",
                                  .record = {1, "master-0", UINT64_MAX, seq}};
        CHECK(db_event_insert(db, &event, NULL) == HT_OK);
    }
}

static void check_told(struct db *db, struct arena *arena)
{
    static const char *const told[] = {
        "{\"step\":10,\"metrics\":{\"a\":0.5}}",
        "{\"step\":20,\"metrics\":{\"a\":\"NaN\"}}",
        "{\"step\":10,\"metrics\":{\"a\":0.5}}"};
    struct event_list list;
    CHECK(db_event_list(db, arena, 1, 0, 9, &list, NULL) == HT_OK);
    CHECK(list.n == 3);
    for (size_t i = 0; i < list.n; i++)
        CHECK_TEXT(list.rows[i].data, told[i]);
}

static void an_event_tells_the_one_copy_of_a_record(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct trial_row trial;
    struct measurement_row latest;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    put_told_records(db);
    check_told(db, arena);
    CHECK(db_place_ask(db, "SELECT count(*) FROM events WHERE data=''") == 3);
    CHECK(db_trial_get(db, arena, 1, 1, &trial, NULL) == HT_OK);
    CHECK(db_trial_latest(db, arena, &trial, &latest, NULL) == HT_OK);
    CHECK(latest.metrics == NULL);
    trial.latest = (struct record_name){1, "master-0", UINT64_MAX, 2};
    CHECK(db_trial_set_latest(db, &trial, NULL) == HT_OK);
    CHECK(db_trial_get(db, arena, 1, 1, &trial, NULL) == HT_OK);
    CHECK(db_trial_latest(db, arena, &trial, &latest, NULL) == HT_OK);
    CHECK(latest.step == 20);
    CHECK_TEXT(latest.metrics, "{\"a\":\"NaN\"}");
    /* Its trial goes with it; what was told is not told otherwise. */
    CHECK(db_trial_erase(db, &trial, NULL) == HT_OK);
    CHECK(db_place_ask(db, "SELECT count(*) FROM measurements") == 1);
    check_told(db, arena);
    CHECK(db_measurement_check(db, NULL) == HT_OK);
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

static void a_record_that_is_named_and_missing_is_damage(void)
{
    static const char *const names[] = {
        "UPDATE trials SET latest_attempt=1, latest_replica='master-0', "
        "latest_writer=-1, latest_seq=9 WHERE id=2",
        "UPDATE attempts SET last_attempt=1, last_replica='master-0', "
        "last_writer=-1, last_seq=9",
        "UPDATE attempts SET best_attempt=1, best_replica='master-0', "
        "best_writer=-1, best_seq=9",
        "UPDATE events SET record_seq=9 WHERE trial=2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct db_place place;
        db_place_open(&place);
        struct db *db = NULL;
        struct arena *arena = arena_new();
        struct trial_row trial;
        struct measurement_row latest;
        struct attempt_scores scores;
        struct ht_error err = {0};
        static const unsigned char hash[TOKEN_HASH_BYTES];
        const struct attempt_lease lease = {"boot", 1, hash};
        const struct attempt_row attempt = {
            .study = 1, .trial = 2, .n = 1, .runner = "r", .reason = ""};
        CHECK(db_open(place.path, &db, NULL) == HT_OK);
        put_told_records(db);
        CHECK(db_attempt_insert(db, &attempt, &lease, NULL) == HT_OK);
        CHECK(db_measurement_check(db, NULL) == HT_OK);
        db_place_tamper(&place, names[i]);
        CHECK(db_measurement_check(db, &err) == HT_CORRUPT);
        CHECK_TEXT(err.text, "a record of trial 2 of study 1 is missing");
        CHECK(db_trial_get(db, arena, 1, 2, &trial, NULL) == HT_OK);
        CHECK(db_trial_latest(db, arena, &trial, &latest, NULL) ==
              (i == 0 ? HT_CORRUPT : HT_OK));
        CHECK(db_scores_get(db, arena, &attempt, &scores, NULL) ==
              (i == 1 || i == 2 ? HT_CORRUPT : HT_OK));
        /* It goes before what names it while its study is removed. */
        db_place_tamper(&place, "UPDATE studies SET state=8");
        CHECK(db_measurement_check(db, NULL) == HT_OK);
        arena_free(arena);
        db_close(db);
        db_place_close(&place);
    }
}

static void the_wal_is_measured_and_emptied(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_meta_set(db, "a", "b", NULL) == HT_OK);
    CHECK(db_wal_pages(db) > 0);
    CHECK(db_checkpoint(db, true, NULL) == HT_OK);
    CHECK(db_wal_pages(db) == 0);
    db_close(db);
    db_place_close(&place);
}

static void studies_are_found_by_number_name_and_kind(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    static const struct study_scope anywhere = {0};
    static const struct study_scope here = {.project = "p", .location = "l"};
    static const struct study_scope elsewhere = {.project = "q"};
    static const struct study_scope custom = {.kinds = STUDY_KIND(JOB_CUSTOM)};
    static const struct study_scope searching = {
        .kinds = STUDY_KIND(JOB_TUNING) | STUDY_KIND(JOB_STUDY)};
    struct study_row row;
    struct study_list list;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    CHECK(db_study_find(db, arena, &here, "1", &row, NULL) == HT_OK);
    CHECK(db_study_find(db, arena, &here, "digits", &row, NULL) == HT_OK);
    CHECK(db_study_find(db, arena, &anywhere, "digits", &row, NULL) == HT_OK);
    CHECK_TEXT(row.display, "Digits");
    CHECK(db_study_find(db, arena, &searching, "1", &row, NULL) == HT_OK);
    CHECK(db_study_find(db, arena, &custom, "1", &row, NULL) == HT_NOT_FOUND);
    CHECK(db_study_list(db, arena, &searching, 0, 9, &list, NULL) == HT_OK);
    CHECK(list.n == 1);
    CHECK(db_study_list(db, arena, &custom, 0, 9, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
    CHECK(db_study_find(db, arena, &elsewhere, "1", &row, NULL) ==
          HT_NOT_FOUND);
    CHECK(db_study_find(db, arena, &here, "99999999999999999999", &row, NULL) ==
          HT_NOT_FOUND);
    struct ht_error err;
    db_study_find(db, arena, &here, "digts", &row, &err);
    CHECK_TEXT(err.text, "there is no study digts (did you mean digits?)");
    db_study_find(db, arena, &elsewhere, "digts", &row, &err);
    CHECK_TEXT(err.text, "there is no study digts");
    db_study_find(db, arena, &custom, "digts", &row, &err);
    CHECK_TEXT(err.text, "there is no job digts");
    struct trial_row trial;
    CHECK(db_trial_get(db, arena, 1, 7, &trial, &err) == HT_NOT_FOUND);
    CHECK_TEXT(err.text, "study digits has no trial 7, nor any other");
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

/* Of versions that had no checksums of pages, and no trees. */
#define ADD_CRC                                                                \
    "ALTER TABLE measurements ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;"      \
    "DROP TABLE trial_usage; DROP TABLE checkpoints;"                          \
    "ALTER TABLE trials DROP COLUMN attempts_before;"                          \
    "DROP TABLE tree_uses; DROP TABLE trees;"                                  \
    "DROP TABLE projects; ALTER TABLE runners DROP COLUMN drain;"              \
    "ALTER TABLE attempts DROP COLUMN gpus;"                                   \
    "ALTER TABLE attempts DROP COLUMN moving;"

/* As a server of version 1 left it. */
static void an_older_file_is_brought_up_to_date(struct db_case *c)
{
    struct trial_row trial;
    const char *text = "";
    db_place_put(c->db, 1, TRIAL_SUCCEEDED, 0.5);
    db_close(c->db);
    db_place_tamper(&c->place,
                    "DROP INDEX trials_outside; DROP INDEX trials_stopped;"
                    "DROP INDEX attempts_silent; DROP INDEX events_deleted;"
                    "DROP TABLE specs; DROP TABLE changes; DROP TABLE tokens;"
                    "DROP TABLE left_sessions; DROP TABLE report_use;"
                    "ALTER TABLE trials DROP COLUMN outside;"
                    "ALTER TABLE studies DROP COLUMN withdrawn;"
                    "ALTER TABLE studies DROP COLUMN crashes;"
                    "ALTER TABLE studies DROP COLUMN crash;"
                    "ALTER TABLE attempts DROP COLUMN silent_ms;"
                    "ALTER TABLE attempts DROP COLUMN usual_ms;"
                    "ALTER TABLE attempts DROP COLUMN hung;"
                    "DROP TABLE audit; " ADD_CRC "PRAGMA user_version=1;");
    CHECK(db_open(c->place.path, &c->db, NULL) == HT_OK);
    CHECK(db_place_ask(c->db, "PRAGMA user_version") == 13);
    CHECK(db_trial_get(c->db, c->arena, 1, 1, &trial, NULL) == HT_OK);
    CHECK(!trial.outside && trial.objective == 0.5);
    const struct changes_piece piece = {1, "aa", 0, "first"};
    int64_t have;
    CHECK(db_changes_keep(c->db, &piece, &have, NULL) == HT_OK);
    CHECK(db_changes_get(c->db, c->arena, 1, "aa", &text, NULL) == HT_OK);
    CHECK_TEXT(text, "first");
}

/* As a server of that version left it: its tokens have the roles below `roles`
 * and no study. */
static void leave_older_tokens(const struct db_case *c, int version, int roles)
{
    char sql[1000];
    snprintf(
        sql, sizeof sql,
        "ALTER TABLE tokens DROP COLUMN study; DROP TABLE report_use;" ADD_CRC
        "PRAGMA writable_schema=ON;"
        "UPDATE sqlite_schema SET sql=replace(sql, 'BETWEEN 0 AND 5', "
        "'BETWEEN 0 AND %d') WHERE name='tokens'; PRAGMA user_version=%d;",
        roles - 1, version);
    db_place_tamper(&c->place, sql);
}

static void tokens_of_version_5_get_no_study(struct db_case *c)
{
    struct token_row row = {.name = "join-1", .role = TOKEN_OF_JOINER},
                     share = {
                         .name = "share-1", .role = TOKEN_OF_SHARE, .study = 7};
    memset(row.hash, 7, sizeof row.hash);
    CHECK(db_token_save(c->db, &row, NULL) == HT_OK);
    db_close(c->db);
    leave_older_tokens(c, 5, 5);
    CHECK(db_open(c->place.path, &c->db, NULL) == HT_OK);
    CHECK(db_token_get(c->db, c->arena, "join-1", &row, NULL) == HT_OK);
    CHECK(row.role == TOKEN_OF_JOINER && row.hash[31] == 7 && row.study == 0);
    CHECK(db_token_save(c->db, &share, NULL) == HT_OK);
    CHECK(db_token_get(c->db, c->arena, "share-1", &row, NULL) == HT_OK);
    CHECK(row.role == TOKEN_OF_SHARE && row.study == 7);
}

static void tokens_of_an_older_file_remain(struct db_case *c)
{
    struct token_row row = {.name = "ci", .role = TOKEN_OF_READER},
                     joiner = {.name = "join-1", .role = TOKEN_OF_JOINER};
    memset(row.hash, 7, sizeof row.hash);
    CHECK(db_token_save(c->db, &row, NULL) == HT_OK);
    db_close(c->db);
    db_place_tamper(&c->place, "DROP TABLE left_sessions;");
    leave_older_tokens(c, 4, 4);
    CHECK(db_open(c->place.path, &c->db, NULL) == HT_OK);
    CHECK(db_token_get(c->db, c->arena, "ci", &row, NULL) == HT_OK);
    CHECK(row.role == TOKEN_OF_READER && row.hash[31] == 7);
    CHECK(db_token_save(c->db, &joiner, NULL) == HT_OK);
}

int main(void)
{
    RUN(a_new_file_is_set_up_for_safety);
    RUN_ON_DB(an_older_file_is_brought_up_to_date);
    RUN_ON_DB(tokens_of_an_older_file_remain);
    RUN_ON_DB(tokens_of_version_5_get_no_study);
    RUN(a_newer_file_is_refused);
    RUN(the_file_of_another_program_is_refused);
    RUN(what_is_no_database_is_refused);
    RUN(readers_cannot_write);
    RUN(a_point_is_stored_once);
    RUN(a_trial_has_one_winner_at_most);
    RUN(only_what_ends_or_goes_changes_results);
    RUN(an_event_tells_the_one_copy_of_a_record);
    RUN(a_record_that_is_named_and_missing_is_damage);
    RUN(the_wal_is_measured_and_emptied);
    RUN(studies_are_found_by_number_name_and_kind);
    return check_done();
}
