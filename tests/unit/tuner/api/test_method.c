/* What the methods on a study or a trial have in common. */
#include "tuner/api/method.h"

#include "tests/lib/core_fixture.h"
#include "tuner/api/vizier.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 2\nparallel: 1\n"
                           "command: [./train]\n";

static enum ht_status refuse(struct method_call *call, struct ht_error *err)
{
    return method_study_ended(call, err);
}

static request_handler refuse_request;
METHOD(refuse_request, METHOD_STUDY, refuse, method_reply_empty)

static void what_the_path_names_is_found_or_missed(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, study_pause, "t", NULL)->status == HT_NOT_FOUND);
    static const struct {
        const char *id, *text;
    } wrong[] = {{"9", "study s has no trial 9; its trials are 1 to 1"},
                 {"x", "study s has no trial x"},
                 {"1x", "study s has no trial 1x"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct request *req =
            fixture_call_trial(f, trial_stop, "s", wrong[i].id, NULL);
        CHECK(req->status == HT_NOT_FOUND);
        CHECK_TEXT(req->err.text, wrong[i].text);
    }
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
}

static void clients_do_not_run_the_trials_of_a_job(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct request *req =
        fixture_call_trial(f, vizier_complete_trial, "s", "1", "{}");
    CHECK(req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text, "study s belongs to a job that runs its trials "
                              "itself");
}

static void a_refusal_has_no_reply(struct fixture *f)
{
    fixture_submit(f, spec);
    struct request *req = fixture_call(f, refuse_request, "s", NULL);
    CHECK(req->status == HT_PRECONDITION && req->reply.len == 0);
    CHECK_TEXT(req->err.text, "study s has ended: RUNNING");
}

int main(void)
{
    RUN_ON_CORE(what_the_path_names_is_found_or_missed);
    RUN_ON_CORE(clients_do_not_run_the_trials_of_a_job);
    RUN_ON_CORE(a_refusal_has_no_reply);
    return check_done();
}
