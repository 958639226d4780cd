/* How a job becomes a study: its name, its first event, and what is refused. */
#include "tests/lib/core_fixture.h"

#define SPEC(name)                                                             \
    "spec: 1\nname: " name "\ngoal: maximize accuracy\n"                       \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "trials: 4\nparallel: 1\ncommand: [./train]\n"

static void a_study_begins_with_an_event_and_its_method(struct fixture *f)
{
    struct event_list list = {0};
    CHECK(fixture_submit(f, SPEC("s"))->status == HT_OK);
    struct db *db = fixture_db(f);
    CHECK(db_event_list(db, f->arena, 1, 0, 1, &list, NULL) == HT_OK);
    db_close(db);
    CHECK(list.n == 1 && list.rows[0].revision == 1);
    CHECK_TEXT(list.rows[0].kind, "study.created");
    CHECK_TEXT(list.rows[0].from, "");
    CHECK_TEXT(list.rows[0].to, "RUNNING");
    const struct study_row row = fixture_study(f, 1);
    CHECK(strstr(row.spec, "\"algorithm\"") != NULL); /* it named none */
    CHECK(row.state == STUDY_RUNNING && row.revision >= 1);
}

static void a_name_is_given_once(struct fixture *f)
{
    CHECK(fixture_submit(f, SPEC("s"))->status == HT_OK);
    struct request *req = fixture_submit(f, SPEC("s"));
    CHECK(req->status == HT_EXISTS);
    CHECK_TEXT(req->err.text, "the name s is taken");
}

/* Google's form has a display name alone. */
static const char vertex[] =
    "{\"displayName\":\"My job: 1\",\"maxTrialCount\":3,"
    "\"parallelTrialCount\":1,\"studySpec\":{\"metrics\":[{\"metricId\":\"a\","
    "\"goal\":\"MAXIMIZE\"}],\"parameters\":[{\"parameterId\":\"x\","
    "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}]},\"trialJobSpec\":"
    "{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":\"i\"}}]}}";

static void a_display_name_becomes_a_name_that_is_free(struct fixture *f)
{
    CHECK(fixture_call(f, study_create, NULL, vertex)->status == HT_OK);
    CHECK(fixture_call(f, study_create, NULL, vertex)->status == HT_OK);
    CHECK_TEXT(fixture_study(f, 1).name, "My-job--1");
    CHECK_TEXT(fixture_study(f, 2).name, "My-job--1-2");
    CHECK_TEXT(fixture_study(f, 2).display, "My job: 1");
}

int main(void)
{
    RUN_ON_CORE(a_study_begins_with_an_event_and_its_method);
    RUN_ON_CORE(a_name_is_given_once);
    RUN_ON_CORE(a_display_name_becomes_a_name_that_is_free);
    return check_done();
}
