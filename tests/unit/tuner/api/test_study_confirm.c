/* Repeated runs of the best trials. */
#include "tests/lib/core_fixture.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 2\nparallel: 2\n"
                           "command: [./train]\n";

static void succeed(struct fixture *f, const char *const accuracies[], int n)
{
    for (int i = 0; i < n; i++) {
        struct leased leased = fixture_lease_one(f);
        fixture_succeed(f, &leased, accuracies[i]);
    }
}

static void a_study_without_results_has_nothing_to_confirm(struct fixture *f)
{
    fixture_submit(f, spec);
    struct request *req = fixture_call(f, study_confirm, "s", "{}");
    CHECK(req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text, "study s has no result to confirm");
    CHECK(fixture_call(f, study_confirm, "s", "{\"top\":0}")->status ==
          HT_INVALID);
    CHECK(fixture_call(f, study_confirm, "t", "{}")->status == HT_NOT_FOUND);
}

static void the_best_run_again_until_each_has_its_runs(struct fixture *f)
{
    static const char *const first[] = {"0.5", "0.9"};
    static const char *const again[] = {"0.8", "0.7"};
    fixture_submit(f, spec);
    fixture_hello(f, 2);
    succeed(f, first, 2);
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    struct request *req =
        fixture_call(f, study_confirm, "s", "{\"top\":1,\"seeds\":2}");
    CHECK(req->status == HT_OK);
    CHECK(fixture_study(f, 1).next_trial == 5);
    const struct trial_row run = fixture_trial(f, 1, 3);
    CHECK(run.confirms == 2 && run.replicate > 0);
    CHECK_TEXT(run.params, fixture_trial(f, 1, 2).params);
    succeed(f, again, 2);
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    req = fixture_call(f, study_confirm, "s", "{\"top\":1,\"seeds\":2}");
    CHECK(req->status == HT_OK);
    CHECK(fixture_study(f, 1).next_trial == 5); /* none is missing */
}

static void a_cancelled_study_confirms_nothing(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_call(f, study_cancel, "s", NULL);
    struct request *req = fixture_call(f, study_confirm, "s", "{}");
    CHECK(req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text, "study s is CANCELLED");
}

int main(void)
{
    RUN_ON_CORE(a_study_without_results_has_nothing_to_confirm);
    RUN_ON_CORE(the_best_run_again_until_each_has_its_runs);
    RUN_ON_CORE(a_cancelled_study_confirms_nothing);
    return check_done();
}
