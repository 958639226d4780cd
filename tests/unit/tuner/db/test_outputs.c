/* Which output folders a runner must remove. */
#include "tuner/db/outputs.h"

#include "tests/lib/db_place.h"

/* Trials 1 and 2 with two attempts each: the first ran on "a", the second on
 * "b". */
static void put_attempts(struct db *db)
{
    for (int64_t trial = 1; trial <= 2; trial++) {
        db_place_put(db, trial, TRIAL_SUCCEEDED, 1);
        db_place_put_attempt(db, trial, 1, "a");
        db_place_put_attempt(db, trial, 2, "b");
    }
}

static struct outputs_list unwanted(struct db_case *c, const char *runner,
                                    size_t limit)
{
    struct outputs_list list = {0};
    CHECK(db_outputs_unwanted(c->db, c->arena, runner, limit, &list, NULL) ==
          HT_OK);
    return list;
}

static void each_runner_removes_what_it_has(struct db_case *c)
{
    put_attempts(c->db);
    CHECK(unwanted(c, "a", 9).n == 0);
    for (int64_t trial = 1; trial <= 2; trial++)
        CHECK(db_outputs_move(c->db, 1, trial, OUTPUTS_THERE, OUTPUTS_UNWANTED,
                              NULL) == HT_OK);
    CHECK(unwanted(c, "a", 9).n == 2 && unwanted(c, "a", 1).n == 1);
    const struct outputs_name name = {1, 1};
    CHECK(db_outputs_settle(c->db, "a", &name, false, NULL) == HT_OK);
    const struct outputs_list left = unwanted(c, "a", 9);
    CHECK(left.n == 1 && left.rows[0].trial == 2);
    CHECK(unwanted(c, "b", 9).n == 2);
    CHECK(db_outputs_settle(c->db, "b", &name, true, NULL) == HT_OK);
    CHECK(unwanted(c, "b", 9).n == 1);
    CHECK(db_place_ask(c->db, "SELECT outputs FROM attempts "
                              "WHERE trial=1 AND n=1") == OUTPUTS_DISCARDED);
    CHECK(db_place_ask(c->db, "SELECT outputs FROM attempts "
                              "WHERE trial=1 AND n=2") == OUTPUTS_KEPT);
}

static void only_outputs_of_the_named_state_move(struct db_case *c)
{
    put_attempts(c->db);
    db_place_tamper(&c->place, "UPDATE attempts SET outputs=2 WHERE n=1");
    CHECK(db_outputs_move(c->db, 1, 1, OUTPUTS_THERE, OUTPUTS_UNWANTED, NULL) ==
          HT_OK);
    CHECK(unwanted(c, "a", 9).n == 0 && unwanted(c, "b", 9).n == 1);
    /* What was wanted again before the runner answered stays. */
    CHECK(db_outputs_move(c->db, 1, 1, OUTPUTS_UNWANTED, OUTPUTS_THERE, NULL) ==
          HT_OK);
    const struct outputs_name name = {1, 1};
    CHECK(db_outputs_settle(c->db, "b", &name, false, NULL) == HT_OK);
    CHECK(db_place_ask(c->db, "SELECT outputs FROM attempts "
                              "WHERE trial=1 AND n=2") == OUTPUTS_THERE);
}

int main(void)
{
    RUN_ON_DB(each_runner_removes_what_it_has);
    RUN_ON_DB(only_outputs_of_the_named_state_move);
    return check_done();
}
