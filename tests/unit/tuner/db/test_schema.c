/* The tables of hypertune.db, and the file of before there was this schema. */
#include "tests/lib/db_place.h"
#include "tuner/db/db.h"
#include "tuner/db/states.h"

/* One that a program of before the first release has written. */
static void copy_old_file(const char *to)
{
    char bytes[64 * 1024];
    FILE *from = fopen("tests/data/before_release_hypertune.db", "rb");
    FILE *file = fopen(to, "wb");
    CHECK(from != NULL && file != NULL);
    if (from == NULL || file == NULL)
        return;
    const size_t n = fread(bytes, 1, sizeof bytes, from);
    CHECK(n > 10000 && fwrite(bytes, 1, n, file) == n);
    fclose(from);
    fclose(file);
}

static void a_file_of_before_the_release_is_refused_by_name(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct ht_error err = {0}, read_err = {0};
    copy_old_file(place.path);
    CHECK(db_open(place.path, &db, &err) == HT_PRECONDITION);
    CHECK(db_open_readonly(place.path, &db, &read_err) == HT_PRECONDITION);
    CHECK_TEXT(read_err.text, err.text);
    CHECK(strncmp(err.text, place.path, strlen(place.path)) == 0);
    CHECK(strstr(err.text,
                 "is a hypertune database of before the first release "
                 "(id 0x4879546e); this program cannot read it: "
                 "give another data folder") != NULL);
    db_place_close(&place);
}

static bool schema_says(struct db *db, const char *table, int number,
                        const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM sqlite_schema WHERE name='%s' AND "
             "sql LIKE '%% %d %s%%'",
             table, number, name);
    return db_place_ask(db, sql) == 1;
}

/* What is said of states in the file is what the program means. */
static void the_schema_names_its_numbers(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    for (int i = STUDY_RUNNING; i <= STUDY_DELETING; i++)
        CHECK(schema_says(db, "studies", i,
                          db_study_state_name((enum study_state)i)));
    for (int i = JOB_TUNING; i <= JOB_CUSTOM; i++)
        CHECK(schema_says(db, "studies", i,
                          db_study_kind_name((enum job_kind)i)));
    for (int i = TRIAL_PREPARED; i < TRIAL_STATES; i++)
        CHECK(schema_says(db, "trials", i,
                          db_trial_state_name((enum trial_state)i)));
    for (int i = ATTEMPT_STARTING; i <= ATTEMPT_ENDED; i++)
        CHECK(schema_says(db, "attempts", i,
                          db_attempt_state_name((enum attempt_state)i)));
    for (int i = OUTCOME_SUCCEEDED; i <= OUTCOME_LOST; i++)
        CHECK(schema_says(db, "attempts", i,
                          db_attempt_outcome_name((enum attempt_outcome)i)));
    db_close(db);
    db_place_close(&place);
}

static void every_table_has_a_primary_key(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_place_ask(
              db, "SELECT count(*) FROM pragma_table_list AS t "
                  "WHERE schema='main' AND type='table' "
                  "AND t.name NOT LIKE 'sqlite%' AND NOT EXISTS("
                  "SELECT 1 FROM pragma_table_info(t.name) WHERE pk>0)") == 0);
    CHECK(db_place_ask(db, "SELECT count(*) FROM pragma_table_list "
                           "WHERE schema='main' AND type='table'") > 12);
    db_close(db);
    db_place_close(&place);
}

/* SQLite gives no query an index whose condition it says in other words. */
static void partial_indexes_are_taken(void)
{
    static const char *const queries[] = {
        "SELECT id FROM trials WHERE study=1 AND " TRIAL_IS_OPEN,
        "SELECT id FROM trials INDEXED BY trials_open WHERE study=1 "
        "AND " TRIAL_IS_REQUESTED " AND " TRIAL_IS_OPEN,
        "SELECT id FROM trials INDEXED BY trials_paused WHERE study=1 "
        "AND " TRIAL_IS_PAUSED,
        "SELECT id FROM trials INDEXED BY trials_best WHERE study=1 "
        "AND " TRIAL_SEARCHES " AND " TRIAL_HAS_RESULT,
        "SELECT id FROM trials INDEXED BY trials_confirm WHERE study=1 "
        "AND " TRIAL_CONFIRMS,
        "SELECT id FROM trials INDEXED BY trials_optimal WHERE study=1 "
        "AND " TRIAL_IS_OPTIMAL,
        "SELECT trial FROM prior_results INDEXED BY prior_points WHERE study=1 "
        "AND point IS NOT NULL",
        "SELECT n FROM attempts INDEXED BY attempts_open WHERE runner='r' "
        "AND " ATTEMPT_IS_OPEN,
        "SELECT n FROM attempts INDEXED BY attempts_unwanted "
        "WHERE runner='r' AND " OUTPUTS_ARE_UNWANTED,
        "SELECT id FROM studies INDEXED BY studies_name WHERE project='p' AND "
        "location='l' AND name='n' AND " STUDY_IS_SHOWN,
        "SELECT id FROM studies INDEXED BY studies_project WHERE project='p' "
        "AND name='n' AND " STUDY_IS_SHOWN};
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        CHECK(db_place_ask(db, queries[i]) == -1); /* no row, and no error */
    db_close(db);
    db_place_close(&place);
}

int main(void)
{
    RUN(a_file_of_before_the_release_is_refused_by_name);
    RUN(the_schema_names_its_numbers);
    RUN(every_table_has_a_primary_key);
    RUN(partial_indexes_are_taken);
    return check_done();
}
