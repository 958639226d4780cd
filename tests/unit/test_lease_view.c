/* What an attempt tells its runner of the shell that submitted and of what
 * its replicas need. */
#include "tests/unit/core_fixture.h"

#define JOB(pool, ours)                                                        \
    "{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":\"MAXIMIZE\"}]" \
    ","                                                                        \
    "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":"              \
    "{\"maxValue\":1}}]},\"maxTrialCount\":1,\"parallelTrialCount\":1,"        \
    "\"trialJobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{" pool "}},"   \
    "{\"containerSpec\":{" pool "}}]},\"hypertune\":{\"name\":\"s\"," ours     \
    "}}"
#define VARIABLES                                                              \
    "\"env\":[{\"name\":\"A\",\"value\":\"own\"}],\"command\":[\"train\"]"
#define CAPTURED                                                               \
    "\"capturedEnv\":[{\"name\":\"GIVEN\",\"value\":\"by a shell\"},"          \
    "{\"name\":\"A\",\"value\":\"of a shell\"}]"

/* The attempt of such a job, for a runner with or without containers. */
static const struct node *attempt_of(struct fixture *f, const char *job,
                                     const char *rules)
{
    struct leased leased = {0};
    fixture_open(f);
    fixture_hello_rules(f, 1, rules);
    CHECK(fixture_call(f, study_create, NULL, job)->status == HT_OK);
    leased = fixture_lease_one(f);
    return leased.node;
}

static const char *value_of(const struct node *pairs, const char *name)
{
    const char *value = "none";
    for (const struct node *pair = pairs ? pairs->first : NULL; pair;
         pair = pair->next)
        if (strcmp(pair->first->text, name) == 0)
            value = pair->first->next->text;
    return value;
}

static void processes_get_the_shell_apart_from_the_job(void)
{
    struct fixture f;
    const struct node *attempt =
        attempt_of(&f, JOB(VARIABLES, CAPTURED), "\"images\":false");
    const struct node *replica = node_find(attempt, "replicas")->first;
    CHECK_TEXT(value_of(node_find(attempt, "captured"), "GIVEN"), "by a shell");
    CHECK_TEXT(value_of(node_find(replica, "env"), "GIVEN"), "none");
    CHECK_TEXT(value_of(node_find(replica, "env"), "A"), "own");
    CHECK_TEXT(value_of(node_find(replica, "env"), "HYPERTUNE_SEED"), "0");
    fixture_close(&f);
}

/* What passEnv names is all that submit records for an image; it is the job's
 * own there, and what the job sets comes behind it. */
static void containers_get_what_was_passed_as_their_own(void)
{
    struct fixture f;
    const struct node *attempt =
        attempt_of(&f, JOB("\"imageUri\":\"r.io/a\"," VARIABLES, CAPTURED),
                   "\"images\":true");
    CHECK(node_find(attempt, "captured")->count == 0);
    for (const struct node *replica = node_find(attempt, "replicas")->first;
         replica; replica = replica->next) {
        const struct node *env = node_find(replica, "env");
        CHECK_TEXT(value_of(env, "GIVEN"), "by a shell");
        CHECK_TEXT(value_of(env, "A"), "own");
    }
    fixture_close(&f);
}

static void replicas_need_what_their_type_says_or_the_job(void)
{
    struct fixture f;
    const struct node *attempt = attempt_of(
        &f,
        JOB("\"imageUri\":\"r.io/a\"", "\"cpus\":2,\"memoryBytes\":\"4096\","
                                       "\"replicas\":{\"worker\":"
                                       "{\"cpus\":0.5}}"),
        "\"images\":true");
    const struct node *master = node_find(attempt, "replicas")->first;
    double cpus = 0;
    CHECK(node_double(node_find(master, "cpus"), &cpus) && cpus == 2);
    CHECK(node_double(node_find(master->next, "cpus"), &cpus) && cpus == 0.5);
    CHECK(node_get_int(master->next, "memory", 0) == 4096);
    fixture_close(&f);
}

int main(void)
{
    json_init();
    RUN(processes_get_the_shell_apart_from_the_job);
    RUN(containers_get_what_was_passed_as_their_own);
    RUN(replicas_need_what_their_type_says_or_the_job);
    return check_done();
}
