/* What an attempt tells its runner of the shell that submitted and of what
 * its replicas need. */
#include "tests/lib/core_fixture.h"

#define JOB(pool, ours)                                                        \
    "{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":\"MAXIMIZE\"}]" \
    ","                                                                        \
    "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":"              \
    "{\"maxValue\":1}}]},\"maxTrialCount\":1,\"parallelTrialCount\":1,"        \
    "\"trialJobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{" pool "}},"   \
    "{\"containerSpec\":{" pool "}}]},\"hypertune\":{\"name\":\"s\"," ours     \
    "}}"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
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

/* Every replica has its own run, and what a shell or the job set stays. */
static void variables_of_trackers_name_the_trial(void)
{
    struct fixture f;
    const struct node *attempt =
        attempt_of(&f,
                   JOB("\"env\":[{\"name\":\"WANDB_NAME\",\"value\":\"own\"}],"
                       "\"command\":[\"train\"]",
                       "\"capturedEnv\":[{\"name\":\"WANDB_RESUME\",\"value\":"
                       "\"never\"}]"),
                   "\"images\":false");
    const struct node *master = node_find(attempt, "replicas")->first;
    const struct node *env = node_find(master, "env");
    const struct node *other = node_find(master->next, "env");
    const char *id = value_of(env, "WANDB_RUN_ID");
    CHECK_TEXT(value_of(env, "WANDB_RUN_GROUP"), "s");
    CHECK_TEXT(value_of(env, "WANDB_NAME"), "own");
    CHECK_TEXT(value_of(env, "WANDB_RESUME"), "none");
    CHECK_TEXT(value_of(env, "MLFLOW_RUN_NAME"), "s-1");
    CHECK_TEXT(value_of(other, "MLFLOW_RUN_NAME"), "s-1-worker-0");
    /* That of the attempt, without its number. */
    CHECK_TEXT(arena_printf(f.arena, "%s-1", id),
               node_get_string(attempt, "name", ""));
    CHECK_TEXT(value_of(other, "WANDB_RUN_ID"),
               arena_printf(f.arena, "%s-worker-0", id));
    CHECK(strpbrk(id, "/\\#?%:") == NULL);
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

/* The member "job" of an attempt as text. */
static const char *job_of(struct fixture *f, const struct node *attempt)
{
    const struct node *job = node_find(attempt, "job");
    return job == NULL ? "none" : json_text(f->arena, json_of_node(job));
}

static void the_job_of_vertex_is_shown_as_it_was_sent(void)
{
    struct fixture f;
    static const char spec[] =
        "{\"workerPoolSpecs\":[{\"replicaCount\":1,\"machineSpec\":{"
        "\"acceleratorCount\":0,\"acceleratorType\":%s},\"containerSpec\":{"
        "\"command\":[\"t\"]}},{},{\"containerSpec\":{\"command\":[\"t\"],"
        "\"env\":[]},\"replicaCount\":\"2\"},{\"replicaCount\":0}],"
        "\"network\":\"\"}";
    fixture_open(&f);
    fixture_hello_rules(&f, 4, "\"images\":false");
    const char *sent = arena_printf(f.arena, spec, "5");
    CHECK(fixture_call(&f, study_create_custom, NULL,
                       arena_printf(f.arena,
                                    "{\"displayName\":\"j\",\"jobSpec\":%s}",
                                    sent))
              ->status == HT_OK);
    const struct node *attempt = fixture_lease_one(&f).node;
    CHECK_TEXT(node_get_string(attempt, "form", ""), "vertex");
    CHECK_TEXT(job_of(&f, attempt),
               arena_printf(f.arena, spec, "\"NVIDIA_TESLA_T4\""));
    fixture_close(&f);
}

static void a_native_job_is_shown_as_a_training_input(void)
{
    struct fixture f;
    const struct node *attempt =
        attempt_of(&f, JOB("\"command\":[\"train\"]", "\"form\":\"native\""),
                   "\"images\":false");
    CHECK_TEXT(node_get_string(attempt, "form", ""), "native");
    const struct node *job = node_find(attempt, "job");
    CHECK_TEXT(node_get_string(job, "workerCount", ""), "1");
    CHECK_TEXT(node_get_string(node_find(job, "hyperparameters"), "goal", ""),
               "MAXIMIZE");
    fixture_close(&f);
}

static void a_job_too_long_for_a_variable_is_not_sent(void)
{
    struct fixture f;
    struct text job = {0};
    text_puts(&job, "\"command\":[\"train\"],\"args\":[\"");
    for (int i = 0; i < 7000; i++)
        text_puts(&job, "0123456789");
    text_puts(&job, "\"]");
    fixture_open(&f);
    fixture_hello_rules(&f, 2, "\"images\":false");
    CHECK(fixture_call(
              &f, study_create_custom, NULL,
              arena_printf(
                  f.arena,
                  "{\"displayName\":\"j\",\"jobSpec\":{\"workerPoolSpecs\":[{"
                  "\"containerSpec\":{%s}},{"
                  "\"containerSpec\":{%s}}]}}",
                  job.data, job.data))
              ->status == HT_OK);
    const struct node *attempt = fixture_lease_one(&f).node;
    CHECK_TEXT(job_of(&f, attempt), "none");
    CHECK(node_get_int(attempt, "jobBytes", 0) > 140000);
    text_free(&job);
    fixture_close(&f);
}

/* No other machine could start its trials. */
static void a_tree_that_was_not_sent_is_refused(void)
{
    struct fixture f;
    fixture_open(&f);
    const struct request *req = fixture_call(
        &f, study_create, NULL,
        JOB(VARIABLES, "\"code\":{\"tree\":\"" HASH "\",\"machine\":\"" HASH
                       "\",\"folder\":\"/data\"}"));
    CHECK(req->status == HT_PRECONDITION);
    fixture_close(&f);
}

int main(void)
{
    RUN(a_tree_that_was_not_sent_is_refused);
    json_init();
    RUN(processes_get_the_shell_apart_from_the_job);
    RUN(containers_get_what_was_passed_as_their_own);
    RUN(variables_of_trackers_name_the_trial);
    RUN(replicas_need_what_their_type_says_or_the_job);
    RUN(the_job_of_vertex_is_shown_as_it_was_sent);
    RUN(a_native_job_is_shown_as_a_training_input);
    RUN(a_job_too_long_for_a_variable_is_not_sent);
    return check_done();
}
