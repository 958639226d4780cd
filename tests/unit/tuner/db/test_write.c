/* Writes of the core, and the queries for them. */
#include "tuner/db/write.h"

#include "tests/lib/db_place.h"

static struct study_row row_of(struct db_case *c)
{
    struct study_row row = {0};
    CHECK(db_study_get(c->db, c->arena, 1, &row, NULL) == HT_OK);
    return row;
}

static void each_number_of_a_study_has_its_column(struct db_case *c)
{
    CHECK(db_study_set(c->db, 1, STUDY_USED_MS, 11, NULL) == HT_OK);
    CHECK(db_study_set(c->db, 1, STUDY_REFUSALS, 2, NULL) == HT_OK);
    CHECK(db_study_set(c->db, 1, STUDY_UNREPORTED, -1, NULL) == HT_OK);
    const struct study_row row = row_of(c);
    CHECK(row.used_ms == 11);
    CHECK(row.refusals == 2 && row.unreported_in_row == -1);
}

static void skipped_trial_ids_count_as_no_trials(struct db_case *c)
{
    struct study_row row = row_of(c);
    const int64_t made = db_study_trials_made(&row);
    CHECK(db_study_skip_trials(c->db, &row, 7, NULL) == HT_OK);
    CHECK(row.next_trial == 7 && db_study_trials_made(&row) == made);
    row = row_of(c);
    CHECK(row.next_trial == 7 && db_study_trials_made(&row) == made);
}

static void a_trial_id_is_given_once(struct db_case *c)
{
    int64_t first = 0, second = 0, study = 0;
    CHECK(db_study_take_trial_id(c->db, 1, false, &first, NULL) == HT_OK);
    CHECK(db_study_take_trial_id(c->db, 1, true, &second, NULL) == HT_OK);
    CHECK(first == 1 && second == 2 && row_of(c).confirmations == 1);
    CHECK(db_study_next_id(c->db, &study, NULL) == HT_OK && study == 2);
}

static void put_study(struct db_case *c, int64_t id, enum study_state state)
{
    char name[8];
    struct study_row row = db_place_study;
    snprintf(name, sizeof name, "s%d", (int)id);
    row.id = id;
    row.name = name;
    row.state = state;
    CHECK(db_study_insert(c->db, &row, NULL) == HT_OK);
}

static void studies_that_have_ended_are_finished(struct db_case *c)
{
    struct id_list list = {0};
    put_study(c, 2, STUDY_SUCCEEDED);
    put_study(c, 3, STUDY_CANCELLED);
    put_study(c, 4, STUDY_DELETING);
    put_study(c, 5, STUDY_PAUSED);
    CHECK(db_study_unfinished(c->db, c->arena, &list, NULL) == HT_OK);
    int64_t sum = 0;
    for (size_t i = 0; i < list.n; i++)
        sum += list.ids[i];
    CHECK(list.n == 3 && sum == 1 + 4 + 5);
}

static void a_writer_counts_from_zero(struct db_case *c)
{
    const struct replica_key key = {1, 1, 1, "master-0"};
    struct writer_row row = {.have = 9};
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    db_place_put_attempt(c->db, 1, 1, "r");
    CHECK(db_writer_get(c->db, &key, 7, &row, NULL) == HT_OK);
    CHECK(row.writer == 7 && row.have == 0 && row.records == 0);
    row.have = 3;
    row.records = 4;
    CHECK(db_writer_set(c->db, &key, &row, NULL) == HT_OK);
    row.writer = 8;
    CHECK(db_writer_set(c->db, &key, &row, NULL) == HT_OK);
    CHECK(db_writer_get(c->db, &key, 7, &row, NULL) == HT_OK);
    CHECK(row.writer == 7 && row.have == 3 && row.records == 4);
}

static void an_attempt_is_found_by_its_newest_token(struct db_case *c)
{
    unsigned char old[TOKEN_HASH_BYTES] = {1, 1}, new[TOKEN_HASH_BYTES] = {9};
    struct attempt_row row = {0};
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    db_place_put_attempt(c->db, 1, 1, "r");
    CHECK(db_attempt_by_token(c->db, c->arena, old, &row, NULL) == HT_OK);
    CHECK(row.trial == 1 && row.n == 1);
    CHECK(db_attempt_set_token(c->db, &row, new, NULL) == HT_OK);
    CHECK(db_attempt_by_token(c->db, c->arena, old, &row, NULL) ==
          HT_NOT_FOUND);
    CHECK(db_attempt_by_token(c->db, c->arena, new, &row, NULL) == HT_OK);
}

static void a_metric_is_of_the_step_or_the_nearest_before(struct db_case *c)
{
    const struct trial_name name = {1, 1, 1};
    struct metric_question question = {{1, 1, 1, "master-0"}, "a", 5};
    bool found = false;
    double value = 0;
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    db_place_put_record(c->db, &name, 2, "{\"a\":0.25}");
    db_place_put_record(c->db, &name, 4, "{\"a\":0.5}");
    db_place_put_record(c->db, &name, 6, "{\"a\":0.75}");
    CHECK(db_measurement_value(c->db, &question, &value, &found, NULL) ==
          HT_OK);
    CHECK(found && value == 0.5);
    question.metric = "b";
    CHECK(db_measurement_value(c->db, &question, &value, &found, NULL) ==
          HT_OK);
    CHECK(!found);
}

int main(void)
{
    RUN_ON_DB(each_number_of_a_study_has_its_column);
    RUN_ON_DB(a_trial_id_is_given_once);
    RUN_ON_DB(skipped_trial_ids_count_as_no_trials);
    RUN_ON_DB(studies_that_have_ended_are_finished);
    RUN_ON_DB(a_writer_counts_from_zero);
    RUN_ON_DB(an_attempt_is_found_by_its_newest_token);
    RUN_ON_DB(a_metric_is_of_the_step_or_the_nearest_before);
    return check_done();
}
