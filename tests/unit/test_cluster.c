/* CLUSTER_SPEC and TF_CONFIG. */
#include "proto/cluster.h"
#include "tests/check.h"

static const char *const masters[] = {"127.0.0.1:3000"};
static const char *const workers[] = {"127.0.0.1:3001", "host\"b:1"};
static const char *const evaluators[] = {"127.0.0.1:3003"};
static const struct cluster_pool pools[] = {{"master", 1, masters},
                                            {"worker", 2, workers},
                                            {"evaluator", 1, evaluators}};

static void one_replica_of_a_trial_knows_itself(void)
{
    struct cluster cluster = {
        .n_pools = 1, .pools = pools, .trial = "3", .job_json = "{\"a\":1}"};
    struct text text = {0};
    cluster_spec_text(&cluster, "master", 0, &text);
    CHECK_TEXT(text.data,
               "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]},\"task\":{"
               "\"type\":\"master\",\"index\":0,\"trial\":\"3\"},"
               "\"job\":{\"a\":1}}");
    text_clear(&text);
    cluster_tf_config_text(&cluster, "master", 0, &text);
    CHECK_TEXT(text.data,
               "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]},\"task\":{"
               "\"type\":\"master\",\"index\":0,\"trial\":\"3\"},"
               "\"environment\":\"cloud\"}");
    text_free(&text);
}

static void without_tuning_there_is_no_trial_and_no_job(void)
{
    struct cluster cluster = {.n_pools = 2, .pools = pools};
    struct text text = {0};
    cluster_spec_text(&cluster, "worker", 1, &text);
    CHECK_TEXT(text.data, "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"],"
                          "\"worker\":[\"127.0.0.1:3001\",\"host\\\"b:1\"]},"
                          "\"task\":{\"type\":\"worker\",\"index\":1}}");
    text_free(&text);
}

static void evaluators_make_the_master_chief_in_tf_config_only(void)
{
    struct cluster cluster = {.n_pools = 3, .pools = pools, .trial = "1"};
    struct text text = {0};
    cluster_tf_config_text(&cluster, "master", 0, &text);
    CHECK_TEXT(text.data,
               "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"],\"worker\":["
               "\"127.0.0.1:3001\",\"host\\\"b:1\"]},\"task\":{\"type\":"
               "\"chief\",\"index\":0,\"trial\":\"1\"},"
               "\"environment\":\"cloud\"}");
    text_clear(&text);
    cluster_spec_text(&cluster, "master", 0, &text);
    CHECK(strstr(text.data, "\"chief\"") == NULL);
    CHECK(strstr(text.data, "\"evaluator\":[\"127.0.0.1:3003\"]") != NULL);
    text_free(&text);
}

static void an_evaluator_is_told_the_cluster_it_evaluates(void)
{
    struct cluster cluster = {.n_pools = 3, .pools = pools};
    struct text text = {0};
    cluster_tf_config_text(&cluster, "evaluator", 0, &text);
    CHECK(strstr(text.data, "\"task\":{\"type\":\"evaluator\",\"index\":0}") !=
          NULL);
    CHECK(strstr(text.data, "127.0.0.1:3003") == NULL);
    text_free(&text);
}

static void a_job_may_call_its_master_chief_everywhere(void)
{
    struct cluster cluster = {.n_pools = 2, .pools = pools, .chief = true};
    struct text text = {0};
    cluster_spec_text(&cluster, "master", 0, &text);
    CHECK(strstr(text.data, "{\"cluster\":{\"chief\":[") == text.data);
    CHECK(strstr(text.data, "\"task\":{\"type\":\"chief\"") != NULL);
    CHECK(strstr(text.data, "master") == NULL);
    text_clear(&text);
    cluster_tf_config_text(&cluster, "worker", 0, &text);
    CHECK(strstr(text.data, "\"chief\":[") != NULL);
    CHECK(strstr(text.data, "\"type\":\"worker\"") != NULL);
    text_free(&text);
}

int main(void)
{
    RUN(one_replica_of_a_trial_knows_itself);
    RUN(without_tuning_there_is_no_trial_and_no_job);
    RUN(evaluators_make_the_master_chief_in_tf_config_only);
    RUN(an_evaluator_is_told_the_cluster_it_evaluates);
    RUN(a_job_may_call_its_master_chief_everywhere);
    return check_done();
}
