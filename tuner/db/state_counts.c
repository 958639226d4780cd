#include "tuner/db/state_counts.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

/* Adds rows of (state, number) up; states beyond n are not shown. */
static enum ht_status add_up(struct db *db, sqlite3_stmt *stmt, size_t n,
                             int64_t sums[], struct ht_error *err)
{
    bool row = true;
    enum ht_status status;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        const int64_t state = sqlite3_column_int64(stmt, 0);
        if (state >= 0 && (size_t)state < n)
            sums[state] += sqlite3_column_int64(stmt, 1);
    }
    return status;
}

enum ht_status db_state_counts(struct db *db, struct state_counts *counts,
                               struct ht_error *err)
{
    struct state_counts found = {0};
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT state, count(*) FROM studies GROUP BY state", "");
    if (status == HT_OK)
        status = add_up(db, stmt, STUDY_STATES, found.studies, err);
    if (status == HT_OK)
        status = db_query(db, &stmt, err,
                          "SELECT c.state, sum(c.n) "
                          "FROM trial_counts c JOIN studies s ON s.id=c.study "
                          "WHERE s." STUDY_IS_SHOWN " GROUP BY c.state",
                          "");
    if (status == HT_OK)
        status = add_up(db, stmt, TRIAL_STATES, found.trials, err);
    if (status == HT_OK)
        *counts = found;
    return status;
}

enum ht_status db_state_counts_open(struct db *db, struct arena *arena,
                                    size_t most,
                                    struct open_state_counts *parts,
                                    struct ht_error *err)
{
    struct open_state_counts found = {0};
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT s.id, s.name, c.state, c.n FROM "
                 "(SELECT id, name FROM studies WHERE " STUDY_IS_OPEN " "
                 "ORDER BY id DESC LIMIT ?) s "
                 "JOIN trial_counts c ON c.study=s.id "
                 "ORDER BY s.id, c.state",
                 "i", (int64_t)most);
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        found.rows[found.n++] = (struct open_state_count){
            .study = sqlite3_column_int64(stmt, 0),
            .name = db_column_text(arena, stmt, 1),
            .state = (enum trial_state)sqlite3_column_int64(stmt, 2),
            .n = sqlite3_column_int64(stmt, 3)};
    }
    if (status == HT_OK)
        *parts = found;
    return status;
}
