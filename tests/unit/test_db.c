/* The file itself: migrations, who may open it, checksums, the best trial. */
#include <sqlite3.h>

#include "tests/unit/db_place.h"

static void a_new_file_is_set_up_for_safety(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(ask(db, "PRAGMA synchronous") == 2);
    CHECK(ask(db, "PRAGMA foreign_keys") == 1);
    CHECK(ask(db, "PRAGMA wal_autocheckpoint") == 0);
    CHECK(ask(db, "PRAGMA user_version") == 15);
    CHECK(ask(db, "PRAGMA application_id") == DB_APPLICATION_ID);
    CHECK(ask(db, "SELECT count(*) FROM pragma_journal_mode "
                  "WHERE journal_mode='wal'") == 1);
    CHECK(ask(db, "SELECT count(*) FROM pragma_table_list WHERE schema='main' "
                  "AND type='table' AND name NOT LIKE 'sqlite%' "
                  "AND strict=0") == 0);
    CHECK(db_check(db, NULL) == HT_OK);
    db_close(db);
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    db_close(db);
    remove_place(&place);
}

static void a_newer_file_is_refused(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    struct ht_error err = {0};
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    db_close(db);
    tamper(&place, "PRAGMA user_version=99");
    CHECK(db_open(place.path, &db, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "version 99") != NULL);
    remove_place(&place);
}

static void the_file_of_another_program_is_refused(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    tamper(&place, "CREATE TABLE bookmarks(url TEXT)");
    CHECK(db_open(place.path, &db, NULL) == HT_PRECONDITION);
    tamper(&place, "PRAGMA application_id=7");
    CHECK(db_open(place.path, &db, NULL) == HT_PRECONDITION);
    remove_place(&place);
}

static void what_is_no_database_is_refused(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    FILE *file = fopen(place.path, "w");
    for (int i = 0; file != NULL && i < 100; i++)
        fputs("this is not a database at all\n", file);
    if (file != NULL)
        fclose(file);
    CHECK(db_open(place.path, &db, NULL) == HT_CORRUPT);
    remove_place(&place);
}

/* A migration cut off in the middle leaves the old version: SQLite's own
 * rollback is what is relied on, so the statement that fails is put last. */
static void a_migration_that_fails_leaves_the_file_as_it_was(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    char sql[96];
    struct ht_error err = {0};
    snprintf(sql, sizeof sql,
             "PRAGMA application_id=%d; CREATE TABLE runners(id TEXT)",
             DB_APPLICATION_ID);
    tamper(&place, sql);
    CHECK(db_open(place.path, &db, &err) == HT_IO);
    CHECK(strstr(err.text, "runners already exists") != NULL);
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    CHECK(sqlite3_open(place.path, &handle) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(handle, "SELECT count(*) FROM sqlite_schema", -1,
                             &stmt, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 1);
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    remove_place(&place);
}

static void readers_cannot_write(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL, *reader = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_open_readonly(place.path, &reader, NULL) == HT_OK);
    CHECK(db_meta_set(reader, "a", "b", NULL) == HT_UNAVAILABLE);
    db_close(reader);
    db_close(db);
    remove_place(&place);
}

static void an_older_file_is_migrated_before_it_is_read(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL, *reader = NULL;
    struct ht_error err = {0};
    tamper(&place, "PRAGMA user_version=0");
    CHECK(db_open_readonly(place.path, &reader, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "has version 0, and 15 is read here") != NULL);
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_open_readonly(place.path, &reader, NULL) == HT_OK);
    db_close(reader);
    db_close(db);
    remove_place(&place);
}

/* The file of an older version whose studies are of every form. */
static void make_forms(const struct place *place)
{
    struct db *db = NULL;
    static const struct study_row rows[] = {
        {.name = "aip",
         .spec = "{\"seed\":\"1\",\"x\":1.10,\"hypertune\":{\"name\":\"a\"}}",
         .submitted = "{}"},
        {.name = "native", .spec = "{\"hypertune\":{\"substitute\":true}}"},
        {.name = "vertex", .spec = "{\"hypertune\":{\"name\":\"v\"}}"},
        {.name = "broken", .spec = "{", .submitted = "{}"}};
    CHECK(db_open(place->path, &db, NULL) == HT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct study_row row = rows[i];
        row.id = (int64_t)i + 1;
        row.project = row.location = row.display = row.reason = "local";
        CHECK(db_study_insert(db, &row, NULL) == HT_OK);
    }
    db_close(db);
    tamper(place, "ALTER TABLE studies DROP COLUMN job_spec;"
                  "DROP INDEX prior_points;"
                  "ALTER TABLE prior_results DROP COLUMN point;"
                  "ALTER TABLE priors DROP COLUMN failures;"
                  "ALTER TABLE priors DROP COLUMN own;"
                  "ALTER TABLE priors DROP COLUMN inherited;"
                  "PRAGMA user_version=13");
}

static void studies_of_an_older_version_get_their_form(void)
{
    static const char *const specs[] = {
        "{\"seed\":\"1\",\"x\":1.10,"
        "\"hypertune\":{\"name\":\"a\",\"form\":\"aip\"}}",
        "{\"hypertune\":{\"substitute\":true,\"form\":\"native\"}}",
        "{\"hypertune\":{\"name\":\"v\"}}", "{"};
    struct place place;
    make_place(&place);
    make_forms(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct study_row row;
        CHECK(db_study_get(db, arena, (int64_t)i + 1, &row, NULL) == HT_OK);
        CHECK_TEXT(row.spec, specs[i]);
        CHECK_TEXT(row.job_spec, "");
    }
    db_close(db);
    arena_free(arena);
    remove_place(&place);
}

static void the_best_trial_is_the_older_of_equals(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct trial_row best;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &a_study, NULL) == HT_OK);
    CHECK(db_trial_best(db, arena, 1, true, &best, NULL) == HT_NOT_FOUND);
    put_trial(db, 1, TRIAL_SUCCEEDED, 0.25);
    put_trial(db, 2, TRIAL_STOPPED, 0.75);
    put_trial(db, 3, TRIAL_SUCCEEDED, 0.75);
    put_trial(db, 4, TRIAL_FAILED, 9.0);
    put_trial(db, 5, TRIAL_STOPPED, 0.25);
    CHECK(db_trial_best(db, arena, 1, true, &best, NULL) == HT_OK);
    CHECK(best.id == 2);
    CHECK(db_trial_best(db, arena, 1, false, &best, NULL) == HT_OK);
    CHECK(best.id == 1);
    arena_free(arena);
    db_close(db);
    remove_place(&place);
}

static void a_point_is_stored_once(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &a_study, NULL) == HT_OK);
    struct trial_row row = {
        .study = 1, .id = 1, .params = "{\"x\":1}", .reason = ""};
    bool inserted = false;
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && inserted);
    row.id = 2;
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && !inserted);
    row.replicate = 1; /* an intended repeat */
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && inserted);
    db_close(db);
    remove_place(&place);
}

static void a_trial_has_one_winner_at_most(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &a_study, NULL) == HT_OK);
    put_trial(db, 1, TRIAL_ACTIVE, 0);
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
    remove_place(&place);
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
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    bool changed;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &a_study, NULL) == HT_OK);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const struct event_row row = {.study = 1,
                                      .revision = (int64_t)i + 1,
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
    remove_place(&place);
}

static void a_changed_record_is_noticed(void)
{
    static const char *const changes[] = {
        "UPDATE measurements SET step=step+1",
        "UPDATE measurements SET metrics='{\"a\":2}'",
        "UPDATE measurements SET seq=9",
        "UPDATE measurements SET checkpoint='x'",
        "UPDATE measurements SET time_ms=1",
        "UPDATE measurements SET writer=1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct place place;
        make_place(&place);
        struct db *db = NULL;
        struct ht_error err = {0};
        bool inserted = false;
        CHECK(db_open(place.path, &db, NULL) == HT_OK);
        const struct measurement_row row = {.study = 1,
                                            .trial = 2,
                                            .attempt = 1,
                                            .replica = "master-0",
                                            .writer = UINT64_MAX,
                                            .seq = 3,
                                            .step = 4,
                                            .time_ms = 5,
                                            .metrics = "{\"a\":1}",
                                            .checkpoint = ""};
        CHECK(db_measurement_insert(db, &row, &inserted, NULL) == HT_OK);
        CHECK(db_measurement_check(db, NULL) == HT_OK);
        db_close(db);
        tamper(&place, changes[i]);
        CHECK(db_open(place.path, &db, NULL) == HT_OK);
        CHECK(db_measurement_check(db, &err) == HT_CORRUPT);
        CHECK(strstr(err.text, "trial 2 of study 1") != NULL);
        db_close(db);
        remove_place(&place);
    }
}

static void the_wal_is_measured_and_emptied(void)
{
    struct place place;
    make_place(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_meta_set(db, "a", "b", NULL) == HT_OK);
    CHECK(db_wal_pages(db) > 0);
    CHECK(db_checkpoint(db, true, NULL) == HT_OK);
    CHECK(db_wal_pages(db) == 0);
    db_close(db);
    remove_place(&place);
}

static void studies_are_found_by_number_name_and_kind(void)
{
    struct place place;
    make_place(&place);
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
    CHECK(db_study_insert(db, &a_study, NULL) == HT_OK);
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
    arena_free(arena);
    db_close(db);
    remove_place(&place);
}

int main(void)
{
    RUN(a_new_file_is_set_up_for_safety);
    RUN(a_newer_file_is_refused);
    RUN(the_file_of_another_program_is_refused);
    RUN(what_is_no_database_is_refused);
    RUN(a_migration_that_fails_leaves_the_file_as_it_was);
    RUN(readers_cannot_write);
    RUN(an_older_file_is_migrated_before_it_is_read);
    RUN(studies_of_an_older_version_get_their_form);
    RUN(the_best_trial_is_the_older_of_equals);
    RUN(a_point_is_stored_once);
    RUN(a_trial_has_one_winner_at_most);
    RUN(only_what_ends_or_goes_changes_results);
    RUN(a_changed_record_is_noticed);
    RUN(the_wal_is_measured_and_emptied);
    RUN(studies_are_found_by_number_name_and_kind);
    return check_done();
}
