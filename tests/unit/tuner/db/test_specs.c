/* What a study searched before each change, and the file of before there was
 * such a table. */
#include "tuner/db/specs.h"

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

static const char *then(struct db_case *c, int64_t until)
{
    struct study_row row = {0};
    CHECK(db_spec_then(c->db, c->arena, 1, until, &row, NULL) == HT_OK);
    CHECK(row.id == 1);
    return row.spec;
}

static int64_t changed(struct db_case *c, int64_t until)
{
    int64_t revision = -1;
    CHECK(db_spec_changed(c->db, 1, until, &revision, NULL) == HT_OK);
    return revision;
}

static void each_moment_has_its_spec(struct db_case *c)
{
    const char *now = then(c, 5);
    CHECK(changed(c, INT64_MAX) == 0);
    CHECK(db_spec_keep(c->db, 1, 10, "first", NULL) == HT_OK);
    CHECK(db_spec_keep(c->db, 1, 20, "second", NULL) == HT_OK);
    CHECK_TEXT(then(c, 0), "first");
    CHECK_TEXT(then(c, 9), "first");
    CHECK_TEXT(then(c, 10), "second");
    CHECK_TEXT(then(c, 19), "second");
    CHECK_TEXT(then(c, 20), now);
    CHECK_TEXT(then(c, INT64_MAX), now);
    CHECK(changed(c, 9) == 0 && changed(c, 10) == 10);
    CHECK(changed(c, 19) == 10 && changed(c, INT64_MAX) == 20);
}

static void they_go_with_their_study(struct db_case *c)
{
    bool left = true;
    CHECK(db_spec_keep(c->db, 1, 10, "first", NULL) == HT_OK);
    CHECK(db_study_erase(c->db, 1, 100, &left, NULL) == HT_OK && !left);
    CHECK(db_place_ask(c->db, "SELECT count(*) FROM specs") == 0);
}

static void a_withdrawn_suggestion_is_no_trial_made(struct db_case *c)
{
    struct study_row row = {.id = 1, .next_trial = 7, .confirmations = 1};
    CHECK(db_study_count_withdrawn(c->db, &row, NULL) == HT_OK);
    CHECK(db_study_count_withdrawn(c->db, &row, NULL) == HT_OK);
    CHECK(db_study_trials_made(&row) == 3);
    CHECK(db_study_get(c->db, c->arena, 1, &row, NULL) == HT_OK);
    CHECK(row.withdrawn == 2);
}

int main(void)
{
    RUN_ON_DB(each_moment_has_its_spec);
    RUN_ON_DB(they_go_with_their_study);
    RUN_ON_DB(a_withdrawn_suggestion_is_no_trial_made);
    return check_done();
}
