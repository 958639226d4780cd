#include "tuner/db/state_counts.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

static void add_studies(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct state_counts *counts = row;
    const int64_t state = sqlite3_column_int64(stmt, 0);
    (void)arena;
    if (state >= 0 && state < STUDY_STATES)
        counts->studies[state] += sqlite3_column_int64(stmt, 1);
}

static void add_trials(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct state_counts *counts = row;
    const int64_t state = sqlite3_column_int64(stmt, 0);
    (void)arena;
    if (state >= 0 && state < TRIAL_STATES)
        counts->trials[state] += sqlite3_column_int64(stmt, 1);
}

enum ht_status db_state_counts(struct db *db, struct state_counts *counts,
                               struct ht_error *err)
{
    struct state_counts found = {0};
    const struct db_one studies = {.read = add_studies, .row = &found};
    const struct db_one trials = {.read = add_trials, .row = &found};
    enum ht_status status =
        db_ask_each(db, &studies, err,
                    "SELECT state, count(*) FROM studies GROUP BY state", "");
    if (status == HT_OK)
        status = db_ask_each(db, &trials, err,
                             "SELECT c.state, sum(c.n) FROM trial_counts c "
                             "JOIN studies s ON s.id=c.study "
                             "WHERE s." STUDY_IS_SHOWN " GROUP BY c.state",
                             "");
    if (status == HT_OK)
        *counts = found;
    return status;
}

static void read_open(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct open_state_count *)row = (struct open_state_count){
        .study = sqlite3_column_int64(stmt, 0),
        .name = db_column_text(arena, stmt, 1),
        .state = (enum trial_state)sqlite3_column_int64(stmt, 2),
        .n = sqlite3_column_int64(stmt, 3)};
}

enum ht_status db_state_counts_open(struct db *db, struct arena *arena,
                                    size_t most, struct open_state_counts *list,
                                    struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_open, &list->n, &list->rows), err,
        "SELECT s.id, s.name, c.state, c.n FROM "
        "(SELECT id, name FROM studies WHERE " STUDY_IS_OPEN " "
        "ORDER BY id DESC LIMIT ?) s "
        "JOIN trial_counts c ON c.study=s.id ORDER BY s.id, c.state",
        "i", (int64_t)most);
}
