/* Counts of studies and trials, over all studies and by study. */
#include "tuner/db/state_counts.h"

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

static void put_study(struct db *db, int64_t id, const char *name,
                      enum study_state state)
{
    struct study_row row = db_place_study;
    row.id = id;
    row.name = name;
    row.state = state;
    CHECK(db_study_insert(db, &row, NULL) == HT_OK);
}

/* Counts `n` trials of the study in that state. */
static void count(struct db *db, int64_t study, enum trial_state state,
                  int64_t n)
{
    const struct trial_row row = {.study = study};
    CHECK(db_trial_count(db, &row, state, n, NULL) == HT_OK);
}

static void a_new_file_counts_nothing(struct db_case *c)
{
    struct state_counts counts;
    struct open_state_counts parts;
    db_place_tamper(&c->place, "DELETE FROM studies");
    CHECK(db_state_counts(c->db, &counts, NULL) == HT_OK);
    for (int state = 0; state < STUDY_STATES; state++)
        CHECK(counts.studies[state] == 0);
    for (int state = 0; state < TRIAL_STATES; state++)
        CHECK(counts.trials[state] == 0);
    CHECK(db_state_counts_open(c->db, c->arena, 9, &parts, NULL) == HT_OK);
    CHECK(parts.n == 0);
}

static void trials_of_all_studies_add_up_by_state(struct db_case *c)
{
    struct state_counts counts;
    put_study(c->db, 2, "b", STUDY_FAILED);
    count(c->db, 1, TRIAL_SUCCEEDED, 3);
    count(c->db, 2, TRIAL_SUCCEEDED, 4);
    count(c->db, 2, TRIAL_PAUSED, 1);
    count(c->db, 1, TRIAL_SUCCEEDED, -1);
    CHECK(db_state_counts(c->db, &counts, NULL) == HT_OK);
    CHECK(counts.studies[STUDY_RUNNING] == 1);
    CHECK(counts.studies[STUDY_FAILED] == 1);
    CHECK(counts.trials[TRIAL_SUCCEEDED] == 6);
    CHECK(counts.trials[TRIAL_PAUSED] == 1);
    CHECK(counts.trials[TRIAL_ACTIVE] == 0);
}

static void a_study_that_is_being_deleted_counts_no_more(struct db_case *c)
{
    struct state_counts counts;
    put_study(c->db, 2, "b", STUDY_DELETING);
    count(c->db, 2, TRIAL_SUCCEEDED, 4);
    CHECK(db_state_counts(c->db, &counts, NULL) == HT_OK);
    CHECK(counts.studies[STUDY_RUNNING] == 1);
    CHECK(counts.trials[TRIAL_SUCCEEDED] == 0);
}

static void the_newest_studies_that_have_not_ended_are_listed(struct db_case *c)
{
    struct open_state_counts parts;
    put_study(c->db, 2, "paused", STUDY_PAUSED);
    put_study(c->db, 3, "ended", STUDY_SUCCEEDED);
    put_study(c->db, 4, "new", STUDY_RUNNING);
    for (int64_t id = 1; id <= 4; id++) {
        count(c->db, id, TRIAL_SUCCEEDED, id);
        count(c->db, id, TRIAL_ACTIVE, 1);
    }
    CHECK(db_state_counts_open(c->db, c->arena, 2, &parts, NULL) == HT_OK);
    CHECK(parts.n == 4);
    if (parts.n != 4)
        return;
    CHECK_TEXT(parts.rows[0].name, "paused");
    CHECK(parts.rows[0].state == TRIAL_ACTIVE && parts.rows[0].n == 1);
    CHECK(parts.rows[1].study == 2 && parts.rows[1].n == 2 &&
          parts.rows[1].state == TRIAL_SUCCEEDED);
    CHECK_TEXT(parts.rows[3].name, "new");
    CHECK(parts.rows[3].study == 4 && parts.rows[3].n == 4);
}

int main(void)
{
    RUN_ON_DB(a_new_file_counts_nothing);
    RUN_ON_DB(trials_of_all_studies_add_up_by_state);
    RUN_ON_DB(a_study_that_is_being_deleted_counts_no_more);
    RUN_ON_DB(the_newest_studies_that_have_not_ended_are_listed);
    return check_done();
}
