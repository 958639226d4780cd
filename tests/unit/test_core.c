/* The whole life of studies, driven through the core's queue. */
#include "tests/unit/core_fixture.h"

static const char two_points[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: [1, 2]\n"
    "algorithm: grid\ntrials: 10\nparallel: 2\nretries: 1\n"
    "command: [./train]\n";

static void a_study_runs_to_its_end(void)
{
    struct fixture f;
    fixture_open(&f);
    struct request *made = fixture_submit(&f, two_points);
    CHECK(made->status == HT_OK);
    const struct node *status =
        node_find(fixture_reply(made), "hypertuneStatus");
    CHECK_TEXT(node_get_string(status, "name", ""), "s");
    CHECK_TEXT(node_get_string(status, "reason", ""), "no runner is connected");
    fixture_hello(&f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(&f, 2, leased) == 2);
    CHECK_TEXT(node_get_string(leased[0].node, "name", ""), "ht-ab12cd34-1-1-1");
    CHECK_TEXT(node_get_string(node_find(leased[1].node, "paramArgs")->first
                                   ? node_find(leased[1].node, "paramArgs")->first
                                   : NULL,
                               "", "") == NULL
                   ? ""
                   : node_find(leased[1].node, "paramArgs")->first->text,
               "--lr=2");
    CHECK_TEXT(fixture_study(&f, 1).reason, "2 of 2 run");
    fixture_succeed(&f, &leased[0], "0.5");
    fixture_succeed(&f, &leased[1], "0.75");
    CHECK(fixture_await_study(&f, 1, STUDY_SUCCEEDED));
    CHECK_TEXT(fixture_study(&f, 1).reason,
               "all 2 points of the space were tried");
    const struct trial_row best = fixture_trial(&f, 1, 2);
    CHECK(best.state == TRIAL_SUCCEEDED && best.objective == 0.75);
    CHECK_TEXT(best.final_metrics, "{\"accuracy\":0.75}");
    CHECK(!core_is_busy(f.core));
    fixture_close(&f);
}

int main(void)
{
    RUN(a_study_runs_to_its_end);
    return check_done();
}
