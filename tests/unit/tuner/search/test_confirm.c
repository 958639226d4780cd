/* Finalists and their confirmations: which count, and what is shown. */
#include "tuner/search/confirm.h"

#include "proto/doc/json.h"
#include "tests/lib/db_place.h"

/* Trials 1 and 2 have confirmations 3 and 4, and 5; 9 has gone. */
static void put_all(struct db_case *c)
{
    db_place_put(c->db, 1, TRIAL_SUCCEEDED, 0.5);
    db_place_put(c->db, 2, TRIAL_STOPPED, 0.75);
    db_place_put(c->db, 3, TRIAL_SUCCEEDED, 0.5);
    db_place_put(c->db, 4, TRIAL_ACTIVE, 0);
    db_place_put(c->db, 5, TRIAL_STOPPED, 0.25);
    db_place_put(c->db, 6, TRIAL_SUCCEEDED, 0.125);
    db_place_tamper(&c->place,
                    "UPDATE trials SET confirms=1 WHERE id IN (3, 4);"
                    "UPDATE trials SET confirms=2 WHERE id=5;"
                    "UPDATE trials SET confirms=9 WHERE id=6;"
                    "UPDATE trials SET objective=NULL WHERE id=4;"
                    "UPDATE studies SET confirmations=4");
}

static void confirmations_are_listed_by_the_trial_they_repeat(struct db_case *c)
{
    struct finalist_list list = {0};
    put_all(c);
    CHECK(confirm_read(c->db, c->arena, 1, &list, NULL) == HT_OK);
    CHECK(list.n == 3);
    if (list.n != 3)
        return;
    CHECK(list.items[0].trial == 1 && list.items[0].n == 2);
    CHECK(list.items[0].found->id == 1 && list.items[0].runs[1].id == 4);
    CHECK(list.items[1].trial == 2 && list.items[1].n == 1);
    CHECK(list.items[2].trial == 9 && list.items[2].found == NULL);
}

static void a_stopped_run_counts_where_its_trial_was_stopped_too(void)
{
    const struct trial_row succeeded = {.state = TRIAL_SUCCEEDED};
    const struct trial_row stopped = {.state = TRIAL_STOPPED,
                                      .has_objective = true};
    struct finalist finalist = {.found = &succeeded};
    CHECK(!confirm_counts(&finalist, &stopped));
    finalist.found = &stopped;
    CHECK(confirm_counts(&finalist, &stopped));
    finalist.found = NULL;
    CHECK(!confirm_counts(&finalist, &stopped));
    CHECK(!confirm_counts(&finalist, &succeeded)); /* without an objective */
}

static void what_is_open_and_lost_is_shown(struct db_case *c)
{
    const struct metric_goal goal = {.name = "a", .maximize = true};
    const struct job job = {.n_metrics = 1, .metrics = &goal};
    struct study_row study = {0};
    struct ht_error err;
    cJSON *shown = NULL;
    CHECK(db_study_get(c->db, c->arena, 1, &study, NULL) == HT_OK);
    CHECK(confirm_view(c->db, c->arena, &study, &job, &shown, &err) ==
          HT_NOT_FOUND);
    CHECK_TEXT(err.text, "nothing of study \"digits\" was confirmed");
    put_all(c);
    study.confirmations = 4;
    CHECK(confirm_view(c->db, c->arena, &study, &job, &shown, &err) == HT_OK);
    const char *text = json_text(c->arena, shown);
    CHECK(strstr(text, "{\"metric\":\"a\",\"goal\":\"MAXIMIZE\",\"open\":1,"
                       "\"take\":\"1\"") == text);
    CHECK(strstr(text, "\"trial\":\"1\",\"found\":0.5,\"n\":1,\"open\":1,"
                       "\"lost\":0") != NULL);
}

int main(void)
{
    RUN_ON_DB(confirmations_are_listed_by_the_trial_they_repeat);
    RUN(a_stopped_run_counts_where_its_trial_was_stopped_too);
    RUN_ON_DB(what_is_open_and_lost_is_shown);
    return check_done();
}
