/* Learning curves: which trials have one, and which points it consists of. */
#include "tuner/db/curve.h"

#include <math.h>

#include "tests/lib/db_place.h"

enum { MOST = 100 };

static void record(struct db *db, int64_t attempt, int64_t step,
                   const char *metrics)
{
    const struct trial_name name = {1, 1, attempt};
    db_place_put_record(db, &name, step, metrics);
}

static struct curve_points points(struct db_case *c, const char *metric,
                                  size_t most)
{
    static const struct trial_row trial = {.study = 1, .id = 1};
    const struct curve_question question = {
        .trial = &trial, .master = "master-0", .metric = metric, .most = most};
    struct curve_points points = {0};
    CHECK(db_curve_points(c->db, c->arena, &question, &points, NULL) == HT_OK);
    return points;
}

/* A trial with a record of each text, at the steps from 1 on. */
static void record_all(struct db_case *c, size_t n, const char *const metrics[])
{
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    for (size_t i = 0; i < n; i++)
        record(c->db, 1, (int64_t)i + 1, metrics[i]);
}

static void points_rise_and_have_the_metric(struct db_case *c)
{
    record_all(c, 3,
               (const char *const[]){"{\"a\":0.25,\"b\":1}", "{\"b\":2}",
                                     "{\"a\":0.5}"});
    record(c->db, 1, 0, "{\"a\":0.125}"); /* arrives last */
    static const struct curve_point want[] = {{0, 0.125}, {1, 0.25}, {3, 0.5}};
    const struct curve_points curve = points(c, "a", MOST);
    CHECK(curve.n == 3 && curve.n_odd == 0);
    for (size_t i = 0; i < curve.n && i < 3; i++)
        CHECK(curve.points[i].step == want[i].step &&
              curve.points[i].value == want[i].value);
    CHECK(points(c, "c", MOST).n == 0);
}

static void a_further_attempt_replaces_what_it_measures_again(struct db_case *c)
{
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    for (int64_t step = 1; step <= 4; step++)
        record(c->db, 1, step, "{\"a\":1}");
    record(c->db, 2, 3, "{\"a\":2}");
    const struct curve_points curve = points(c, "a", MOST);
    CHECK(curve.n == 3);
    if (curve.n == 3)
        CHECK(curve.points[1].value == 1 && curve.points[2].step == 3 &&
              curve.points[2].value == 2);
}

static void what_is_not_finite_is_apart(struct db_case *c)
{
    record_all(c, 3,
               (const char *const[]){"{\"a\":\"NaN\"}", "{\"a\":2}",
                                     "{\"a\":\"-Infinity\"}"});
    const struct curve_points curve = points(c, "a", MOST);
    CHECK(curve.n == 1 && curve.points[0].step == 2);
    CHECK(curve.n_odd == 2);
    if (curve.n_odd == 2)
        CHECK(isnan(curve.odd[0].value) && curve.odd[1].value == -INFINITY);
}

static void a_long_curve_is_thinned_evenly(struct db_case *c)
{
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    for (int64_t step = 1; step <= 101; step++)
        record(c->db, 1, step, "{\"a\":1}");
    const struct curve_points curve = points(c, "a", 11);
    CHECK(curve.n == 11);
    for (size_t i = 0; i < curve.n; i++)
        CHECK(curve.points[i].step == (int64_t)i * 10 + 1);
    CHECK(points(c, "a", 2).points[1].step == 101);
}

static void metrics_are_named_by_the_first_records(struct db_case *c)
{
    struct metric_names names;
    const struct trial_row trial = {.study = 1, .id = 1};
    db_place_put(c->db, 1, TRIAL_ACTIVE, 0);
    record(c->db, 1, 1, "{\"loss\":1}");
    record(c->db, 1, 2, "{\"accuracy\":1,\"loss\":2}");
    CHECK(db_curve_metrics(c->db, c->arena, &trial, "master-0", &names, NULL) ==
          HT_OK);
    CHECK(names.n == 2);
    if (names.n == 2) {
        CHECK_TEXT(names.names[0], "accuracy");
        CHECK_TEXT(names.names[1], "loss");
    }
    CHECK(db_curve_metrics(c->db, c->arena, &trial, "worker-0", &names, NULL) ==
          HT_OK);
    CHECK(names.n == 0);
}

static void the_best_the_running_and_the_failed_are_chosen(struct db_case *c)
{
    static const enum trial_state states[] = {
        TRIAL_SUCCEEDED, TRIAL_STOPPED, TRIAL_SUCCEEDED, TRIAL_ACTIVE,
        TRIAL_PAUSED,    TRIAL_FAILED,  TRIAL_INFEASIBLE};
    static const int64_t want[] = {3, 2, 5, 7, 6};
    const struct curve_choice choice = {
        .study = 1, .maximize = true, .top = 2, .running = 1, .failed = 9};
    struct trial_list list;
    for (int64_t id = 1; id <= 7; id++)
        db_place_put(c->db, id, states[id - 1], (double)id);
    CHECK(db_curve_choose(c->db, c->arena, &choice, &list, NULL) == HT_OK);
    CHECK(list.n == 5);
    for (size_t i = 0; i < list.n && i < 5; i++)
        CHECK(list.rows[i].id == want[i]);
}

static void trials_that_ran_and_did_not_fail_have_a_curve(struct db_case *c)
{
    static const enum trial_state states[] = {TRIAL_SUCCEEDED, TRIAL_REQUESTED,
                                              TRIAL_FAILED, TRIAL_CANCELLED,
                                              TRIAL_ACTIVE};
    struct trial_list list;
    for (int64_t id = 1; id <= 5; id++)
        db_place_put(c->db, id, states[id - 1], 1);
    db_place_tamper(&c->place, "UPDATE trials SET started_ms=1");
    CHECK(db_curve_trials(c->db, c->arena, 1, 9, &list, NULL) == HT_OK);
    CHECK(list.n == 3 && list.rows[0].id == 5 && list.rows[1].id == 2 &&
          list.rows[2].id == 1);
    db_place_tamper(&c->place, "UPDATE trials SET started_ms=0 WHERE id=2");
    CHECK(db_curve_trials(c->db, c->arena, 1, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].id == 5);
}

int main(void)
{
    RUN_ON_DB(points_rise_and_have_the_metric);
    RUN_ON_DB(a_further_attempt_replaces_what_it_measures_again);
    RUN_ON_DB(what_is_not_finite_is_apart);
    RUN_ON_DB(a_long_curve_is_thinned_evenly);
    RUN_ON_DB(metrics_are_named_by_the_first_records);
    RUN_ON_DB(the_best_the_running_and_the_failed_are_chosen);
    RUN_ON_DB(trials_that_ran_and_did_not_fail_have_a_curve);
    return check_done();
}
