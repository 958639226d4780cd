/* What trials were worth at the rungs that they came to. */
#include "tuner/db/rungs.h"

#include "tests/lib/db_place.h"

static void set(struct db *db, int64_t trial, int64_t rung, const char *goals)
{
    const struct rung_row row = {.study = 1,
                                 .trial = trial,
                                 .rung = rung,
                                 .at = (double)(rung + 1) * 10,
                                 .goals = goals};
    CHECK(db_rung_set(db, &row, NULL) == HT_OK);
}

static void put_all(struct db *db)
{
    for (int64_t id = 1; id <= 3; id++)
        db_place_put(db, id, TRIAL_ACTIVE, 0);
    set(db, 2, 1, "[0.5]");
    set(db, 2, 0, "[0.25]");
    set(db, 1, 0, "[null]");
}

static void rungs_come_by_trial_and_in_order(struct db_case *c)
{
    struct rung_trial_list list;
    put_all(c->db);
    const struct trial_row passed = {.study = 1, .id = 2, .rungs_passed = 2};
    CHECK(db_trial_set_rungs_passed(c->db, &passed, NULL) == HT_OK);
    CHECK(db_rung_trials(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 2);
    if (list.n != 2)
        return;
    CHECK(list.rows[0].trial == 1 && list.rows[0].n == 1 &&
          list.rows[0].rungs_passed == 0);
    CHECK_TEXT(list.rows[0].rungs[0].goals, "[null]");
    CHECK(list.rows[1].trial == 2 && list.rows[1].n == 2);
    CHECK(list.rows[1].rungs_passed == 2);
    CHECK(list.rows[1].state == TRIAL_ACTIVE);
    if (list.rows[1].n != 2)
        return;
    CHECK(list.rows[1].rungs[0].rung == 0 && list.rows[1].rungs[0].at == 10);
    CHECK(list.rows[1].rungs[1].rung == 1 && list.rows[1].rungs[1].at == 20);
}

static void a_rung_that_is_set_again_has_the_new_values(struct db_case *c)
{
    struct rung_trial_list list;
    put_all(c->db);
    set(c->db, 1, 0, "[0.75]");
    CHECK(db_rung_trials(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 2 && list.rows[0].n == 1);
    CHECK_TEXT(list.rows[0].rungs[0].goals, "[0.75]");
}

static void a_trial_forgets_its_rungs(struct db_case *c)
{
    struct rung_trial_list list;
    put_all(c->db);
    CHECK(db_rung_clear(c->db, 1, 2, NULL) == HT_OK);
    CHECK(db_rung_trials(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].trial == 1);
}

static void trials_that_confirm_others_do_not_count(struct db_case *c)
{
    struct rung_trial_list list;
    put_all(c->db);
    db_place_tamper(&c->place, "UPDATE trials SET confirms=1 WHERE id=2");
    CHECK(db_rung_trials(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].trial == 1);
}

int main(void)
{
    RUN_ON_DB(rungs_come_by_trial_and_in_order);
    RUN_ON_DB(a_rung_that_is_set_again_has_the_new_values);
    RUN_ON_DB(a_trial_forgets_its_rungs);
    RUN_ON_DB(trials_that_confirm_others_do_not_count);
    return check_done();
}
