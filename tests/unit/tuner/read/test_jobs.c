/* Studies as their kinds of resources: lists, one job in pieces. */
#include "tests/lib/core_fixture.h"
#include "tuner/read/reader.h"

#define SPEC(name, labels)                                                     \
    "spec: 1\nname: " name "\ngoal: maximize accuracy\n"                       \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "algorithm: random\ntrials: 2\nparallel: 2\ncommand: [./train]\n" labels

/* A question; the caller frees the request. */
static struct request *ask(struct fixture *f, reader_handler *handle,
                           const char *study, const char *key,
                           const char *value)
{
    const struct pair said = {key, value};
    struct request *req = fixture_request(f, NULL, NULL);
    struct reader reader = {
        .db = fixture_db(f), .deadline_ms = INT64_MAX, .req = req};
    req->study = study;
    req->scope.kinds = 0;
    req->query = (struct pairs){key != NULL, &said};
    req->status = handle(&reader, req, &req->err);
    req->query = (struct pairs){0};
    db_close(reader.db);
    return req;
}

/* The displayNames of a list, such as "b a ". */
static const char *names_of(struct fixture *f, const char *key,
                            const char *value)
{
    struct request *req = ask(f, read_jobs, NULL, key, value);
    const char *all = "";
    CHECK(req->status == HT_OK);
    NODE_EACH (item, node_first(fixture_reply(req), "hyperparameterTuningJobs"))
        all = arena_printf(f->arena, "%s%s ", all,
                           node_get_string(item, "displayName", "?"));
    request_free(req);
    return all;
}

static void a_list_is_newest_first_and_filtered(struct fixture *f)
{
    fixture_submit(f, SPEC("a", "labels: {team: red}\n"));
    fixture_submit(f, SPEC("b", ""));
    CHECK_TEXT(names_of(f, NULL, NULL), "b a ");
    CHECK_TEXT(names_of(f, "filter", "labels.team=red"), "a ");
    CHECK_TEXT(names_of(f, "filter", "NOT labels:team"), "b ");
    CHECK_TEXT(names_of(f, "filter", "displayName:\"a*\""), "a ");
    CHECK_TEXT(names_of(f, "filter", "state=JOB_STATE_SUCCEEDED"), "");
    CHECK_TEXT(names_of(f, "pageSize", "1"), "b ");
}

static void a_mask_leaves_what_it_names(struct fixture *f)
{
    fixture_submit(f, SPEC("a", ""));
    struct request *req = ask(f, read_jobs, NULL, "readMask", "display_name");
    CHECK_TEXT(req->reply.data,
               "{\"hyperparameterTuningJobs\":[{\"displayName\":\"a\"}]}");
    request_free(req);
}

static void a_job_has_its_trials_unless_it_is_basic(struct fixture *f)
{
    fixture_submit(f, SPEC("a", ""));
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    struct request *req = ask(f, read_job, "a", NULL, NULL);
    CHECK(req->status == HT_OK && !req->more);
    const struct node *trials = node_find(fixture_reply(req), "trials");
    CHECK(trials != NULL && trials->count == 2);
    request_free(req);
    req = ask(f, read_job, "a", "view", "BASIC");
    CHECK(node_find(fixture_reply(req), "trials") == NULL);
    CHECK_TEXT(node_get_string(fixture_reply(req), "displayName", ""), "a");
    request_free(req);
}

static void ai_platform_has_the_trials_in_its_output(struct fixture *f)
{
    fixture_submit(f, SPEC("a", ""));
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    struct request *req = ask(f, read_aip_job, "a", NULL, NULL);
    CHECK(req->status == HT_OK);
    const struct node *output = node_find(fixture_reply(req), "trainingOutput");
    CHECK(output != NULL && node_find(output, "trials")->count == 2);
    request_free(req);
    req = ask(f, read_aip_job, "b", NULL, NULL);
    CHECK(req->status == HT_NOT_FOUND);
    CHECK_TEXT(req->err.text, "there is no job b in project local");
    request_free(req);
}

int main(void)
{
    RUN_ON_CORE(a_list_is_newest_first_and_filtered);
    RUN_ON_CORE(a_mask_leaves_what_it_names);
    RUN_ON_CORE(a_job_has_its_trials_unless_it_is_basic);
    RUN_ON_CORE(ai_platform_has_the_trials_in_its_output);
    return check_done();
}
