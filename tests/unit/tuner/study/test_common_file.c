/* A metrics file or outputDir that all trials of a study share. */
#include "tuner/study/common_file.h"

#include "tests/lib/core_fixture.h"

#define SPEC(name, more)                                                       \
    "spec: 1\nname: " name "\ngoal: maximize accuracy\n"                       \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\nalgorithm: random\n"   \
    "trials: 4\nparallel: 1\ncommand: [./train]\n" more

static void two_open_studies_have_no_output_folder_in_common(struct fixture *f)
{
    CHECK(fixture_submit(f, SPEC("a", "outputDir: /data/out\n"))->status ==
          HT_OK);
    struct request *req =
        fixture_submit(f, SPEC("b", "outputDir: /data/out//\n"));
    CHECK(req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text, "study a has the same outputDir, /data/out: end "
                              "it, or choose another");
    CHECK(fixture_submit(f, SPEC("c", "outputDir: /data/out2\n"))->status ==
          HT_OK);
    CHECK(fixture_call(f, study_cancel, "a", NULL)->status == HT_OK);
    CHECK(fixture_await_study(f, 1, STUDY_CANCELLED));
    CHECK(fixture_submit(f, SPEC("b", "outputDir: /data/out\n"))->status ==
          HT_OK);
}

static void nor_a_metrics_file(struct fixture *f)
{
    CHECK(fixture_submit(f, SPEC("a", "metrics: {file: /data/m.json}\n"))
              ->status == HT_OK);
    struct request *req =
        fixture_submit(f, SPEC("b", "metrics: {file: /data/./m.json}\n"));
    CHECK(req->status == HT_PRECONDITION);
    CHECK(strstr(req->err.text,
                 "study a writes the same metrics file, /data/m.json") != NULL);
}

static bool is_free;

static enum ht_status ask(struct core *core, struct request *req,
                          struct ht_error *err)
{
    const struct job *job;
    const enum ht_status status = core_job(core, 1, &job, err);
    text_puts(&req->reply, "{}");
    return status == HT_OK ? common_file_is_free(core, 1, job, &is_free, err)
                           : status;
}

static void one_trial_at_a_time_runs_on_a_metrics_file(struct fixture *f)
{
    fixture_submit(f, SPEC("a", "metrics: {file: /data/m.json}\n"));
    fixture_hello(f, 2);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, ask, NULL, NULL)->status == HT_OK && is_free);
    const struct leased leased = fixture_begin(f);
    CHECK(fixture_call(f, ask, NULL, NULL)->status == HT_OK && !is_free);
    fixture_end(f, &leased, "\"outcome\":\"failed\",\"exit\":1");
}

static void without_one_trials_are_free(struct fixture *f)
{
    fixture_submit(f, SPEC("a", ""));
    fixture_hello(f, 1);
    fixture_begin(f);
    is_free = false;
    CHECK(fixture_call(f, ask, NULL, NULL)->status == HT_OK && is_free);
}

int main(void)
{
    RUN_ON_CORE(two_open_studies_have_no_output_folder_in_common);
    RUN_ON_CORE(nor_a_metrics_file);
    RUN_ON_CORE(one_trial_at_a_time_runs_on_a_metrics_file);
    RUN_ON_CORE(without_one_trials_are_free);
    return check_done();
}
