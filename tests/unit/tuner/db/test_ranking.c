/* Trials of a study by their results: in order, on the Pareto front, and those
 * worth confirming. */
#include "tuner/db/ranking.h"

#include "tests/lib/db_place.h"

/* Trials with these states and objectives, by id from 1. */
struct result {
    enum trial_state state;
    double objective;
};

static void put_results(struct db_case *c, size_t n,
                        const struct result results[])
{
    for (size_t i = 0; i < n; i++)
        db_place_put(c->db, (int64_t)i + 1, results[i].state,
                     results[i].objective);
}

static void the_best_trial_is_the_older_of_equals(struct db_case *c)
{
    struct trial_row best;
    CHECK(db_trial_best(c->db, c->arena, 1, true, &best, NULL) == HT_NOT_FOUND);
    put_results(c, 5,
                (const struct result[]){{TRIAL_SUCCEEDED, 0.25},
                                        {TRIAL_STOPPED, 0.75},
                                        {TRIAL_SUCCEEDED, 0.75},
                                        {TRIAL_FAILED, 9.0},
                                        {TRIAL_STOPPED, 0.25}});
    CHECK(db_trial_best(c->db, c->arena, 1, true, &best, NULL) == HT_OK);
    CHECK(best.id == 2);
    CHECK(db_trial_best(c->db, c->arena, 1, false, &best, NULL) == HT_OK);
    CHECK(best.id == 1);
}

static void the_best_within_is_not_outside(struct db_case *c)
{
    struct trial_row best, row = {.study = 1, .outside = true};
    int64_t n = -1;
    put_results(c, 4,
                (const struct result[]){{TRIAL_SUCCEEDED, 0.25},
                                        {TRIAL_STOPPED, 0.75},
                                        {TRIAL_SUCCEEDED, 0.75},
                                        {TRIAL_STOPPED, 0.5}});
    for (row.id = 2; row.id <= 3; row.id++)
        CHECK(db_trial_set_outside(c->db, &row, NULL) == HT_OK);
    CHECK(db_trial_best_within(c->db, c->arena, 1, true, &best, NULL) == HT_OK);
    CHECK(best.id == 4 && !best.outside);
    CHECK(db_trial_best_within(c->db, c->arena, 1, false, &best, NULL) ==
          HT_OK);
    CHECK(best.id == 1);
    CHECK(db_trial_best(c->db, c->arena, 1, true, &best, NULL) == HT_OK);
    CHECK(best.id == 2 && best.outside);
    CHECK(db_trial_outside_count(c->db, 1, &n, NULL) == HT_OK && n == 2);
}

static void
the_best_trials_come_first_and_of_equals_the_older(struct db_case *c)
{
    struct id_list list;
    struct ranking ranking = {.study = 1, .maximize = true, .n = 3};
    put_results(c, 6,
                (const struct result[]){{TRIAL_SUCCEEDED, 1},
                                        {TRIAL_STOPPED, 4},
                                        {TRIAL_FAILED, 9},
                                        {TRIAL_SUCCEEDED, 4},
                                        {TRIAL_SUCCEEDED, 3},
                                        {TRIAL_ACTIVE, 8}});
    CHECK(db_trial_ranking(c->db, c->arena, &ranking, &list, NULL) == HT_OK);
    CHECK(list.n == 3 && list.ids[0] == 2 && list.ids[1] == 4 &&
          list.ids[2] == 5);
    ranking.maximize = false;
    ranking.n = 9;
    CHECK(db_trial_ranking(c->db, c->arena, &ranking, &list, NULL) == HT_OK);
    CHECK(list.n == 4 && list.ids[0] == 1 && list.ids[1] == 5 &&
          list.ids[2] == 2 && list.ids[3] == 4);
}

static void a_trial_that_confirms_another_is_not_ranked(struct db_case *c)
{
    struct id_list list;
    const struct ranking ranking = {.study = 1, .maximize = true, .n = 9};
    db_place_put(c->db, 1, TRIAL_SUCCEEDED, 1);
    db_place_put(c->db, 2, TRIAL_SUCCEEDED, 2);
    db_place_tamper(&c->place, "UPDATE trials SET confirms=1 WHERE id=2");
    CHECK(db_trial_ranking(c->db, c->arena, &ranking, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.ids[0] == 1);
}

/* Trials 1 to 6 of one study, and final metrics where they have a result. */
static void put_all(struct db_case *c)
{
    static const struct result all[] = {
        {TRIAL_SUCCEEDED, 1}, {TRIAL_ACTIVE, 7},   {TRIAL_STOPPED, 3},
        {TRIAL_SUCCEEDED, 3}, {TRIAL_PREPARED, 9}, {TRIAL_FAILED, 8}};
    put_results(c, sizeof all / sizeof *all, all);
    db_place_tamper(&c->place,
                    "UPDATE trials SET final_metrics='{\"m\":1}' "
                    "WHERE id IN (1, 3, 4); "
                    "UPDATE trials SET objective=NULL WHERE id IN (2, 5)");
}

static bool is(const struct id_list *list, size_t n, const int64_t ids[])
{
    return list->n == n && memcmp(list->ids, ids, n * sizeof *ids) == 0;
}

static void results_come_first_then_the_rest_by_id(struct db_case *c)
{
    struct id_list list;
    put_all(c);
    CHECK(db_trial_order(c->db, c->arena, 1, true, &list, NULL) == HT_OK);
    CHECK(is(&list, 5, (const int64_t[]){3, 4, 1, 2, 6}));
    CHECK(db_trial_order(c->db, c->arena, 1, false, &list, NULL) == HT_OK);
    CHECK(is(&list, 5, (const int64_t[]){1, 3, 4, 2, 6}));
    CHECK(db_trial_order(c->db, c->arena, 2, false, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
}

static void marks_of_the_front_are_set_and_cleared(struct db_case *c)
{
    struct front_rows list;
    bool marked = true;
    put_all(c);
    CHECK(db_front_is_marked(c->db, 1, 3, &marked, NULL) == HT_OK && !marked);
    CHECK(db_front_mark(c->db, 1, 4, true, NULL) == HT_OK);
    CHECK(db_front_mark(c->db, 1, 3, true, NULL) == HT_OK);
    CHECK(db_front_is_marked(c->db, 1, 3, &marked, NULL) == HT_OK && marked);
    CHECK(db_front_marked(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 2 && list.rows[0].id == 3 && list.rows[1].id == 4);
    CHECK(db_front_mark(c->db, 1, 3, false, NULL) == HT_OK);
    CHECK(db_front_marked(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].objective == 3);
    CHECK(db_front_clear(c->db, 1, NULL) == HT_OK);
    CHECK(db_front_marked(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 0);
}

static void results_for_the_front_come_page_by_page(struct db_case *c)
{
    struct front_rows list;
    put_all(c);
    CHECK(db_front_results(c->db, c->arena, 1, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 3 && list.rows[0].id == 1 && list.rows[2].id == 4);
    CHECK_TEXT(list.rows[0].metrics, "{\"m\":1}");
    CHECK(db_front_results(c->db, c->arena, 1, 3, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].id == 4);

    CHECK(db_begin(c->db, NULL) == HT_OK);
    for (int64_t id = 7; id < 7 + DB_FRONT_PAGE; id++)
        db_place_put(c->db, id, TRIAL_SUCCEEDED, 1);
    CHECK(db_commit(c->db, NULL) == HT_OK);
    db_place_tamper(&c->place, "UPDATE trials SET final_metrics='{}'");
    CHECK(db_front_results(c->db, c->arena, 1, 0, &list, NULL) == HT_OK);
    CHECK(list.n == DB_FRONT_PAGE);
}

/* 3 repeats the point of 1, 4 confirms 2. */
static void each_point_is_a_finalist_once_by_its_best_trial(struct db_case *c)
{
    struct trial_list list;
    const struct ranking ranking = {.study = 1, .maximize = true, .n = 2};
    for (int64_t id = 1; id <= 5; id++)
        db_place_put(c->db, id, TRIAL_SUCCEEDED, (double)id);
    db_place_tamper(&c->place,
                    "UPDATE trials SET params='{\"x\":1}', replicate=1 "
                    "WHERE id=3; UPDATE trials SET params='{\"x\":2}', "
                    "replicate=1, confirms=2 WHERE id=4; "
                    "UPDATE trials SET objective=-5 WHERE id=5");
    CHECK(db_confirm_finalists(c->db, c->arena, &ranking, &list, NULL) ==
          HT_OK);
    CHECK(list.n == 2 && list.rows[0].id == 3 && list.rows[1].id == 2);
    CHECK(db_confirm_list(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].id == 4 && list.rows[0].confirms == 2);
}

int main(void)
{
    RUN_ON_DB(the_best_trial_is_the_older_of_equals);
    RUN_ON_DB(the_best_within_is_not_outside);
    RUN_ON_DB(the_best_trials_come_first_and_of_equals_the_older);
    RUN_ON_DB(a_trial_that_confirms_another_is_not_ranked);
    RUN_ON_DB(results_come_first_then_the_rest_by_id);
    RUN_ON_DB(marks_of_the_front_are_set_and_cleared);
    RUN_ON_DB(results_for_the_front_come_page_by_page);
    RUN_ON_DB(each_point_is_a_finalist_once_by_its_best_trial);
    return check_done();
}
