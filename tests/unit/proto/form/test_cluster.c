/* CLUSTER_SPEC and TF_CONFIG, whole, of every form of job. */
#include "proto/form/cluster.h"
#include "tests/check.h"

#define JOB ",\"job\":{\"a\":1}"
#define CLOUD ",\"environment\":\"cloud\"}"

static const char *const masters[] = {"127.0.0.1:3000"};
static const char *const workers[] = {"127.0.0.1:3001", "host\"b:1"};
static const char *const servers[] = {"h:4"};
static const char *const evaluators[] = {"127.0.0.1:3003"};
static const struct cluster_pool pools[] = {{"master", 1, masters},
                                            {"worker", 2, workers},
                                            {"ps", 1, servers},
                                            {"evaluator", 1, evaluators}};
static const struct cluster_pool gap[] = {{"master", 1, masters},
                                          {"ps", 1, servers}};

static void check(const struct cluster *cluster, const char *type, size_t index,
                  const char *spec, const char *tf_config)
{
    struct text text = {0};
    cluster_spec_text(cluster, type, index, &text);
    CHECK_TEXT(text.data, spec);
    text_clear(&text);
    cluster_tf_config_text(cluster, type, index, &text);
    CHECK_TEXT(text.data, tf_config);
    text_free(&text);
}

static struct cluster of(enum job_dialect form, size_t n)
{
    return (struct cluster){.form = form,
                            .n_pools = n,
                            .pools = pools,
                            .trial = "3",
                            .job_json = "{\"a\":1}"};
}

static void one_replica_of_ai_platform_knows_itself(void)
{
    const struct cluster cluster = of(JOB_AIP, 1);
    static const char same[] =
        "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]},\"task\":{\"type\":"
        "\"master\",\"index\":0,\"trial\":\"3\"}" JOB CLOUD;
    check(&cluster, "master", 0, same, same);
}

#define NAMED "\"worker\":[\"127.0.0.1:3001\",\"host\\\"b:1\"],\"ps\":[\"h:4\"]"

static void a_cluster_of_ai_platform_has_its_names(void)
{
    const struct cluster cluster = of(JOB_AIP, 3);
    static const char same[] =
        "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]," NAMED
        "},\"task\":{\"type\":\"worker\",\"index\":1,\"trial\":\"3\"}" JOB
            CLOUD;
    check(&cluster, "worker", 1, same, same);
}

static void a_chief_is_in_tf_config_alone(void)
{
    struct cluster cluster = of(JOB_AIP, 3);
    cluster.chief = true;
    check(&cluster, "master", 0,
          "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]," NAMED
          "},\"task\":{\"type\":\"master\",\"index\":0,\"trial\":\"3\"}" JOB
              CLOUD,
          "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"]," NAMED
          "},\"task\":{\"type\":\"chief\",\"index\":0,\"trial\":\"3\"}" JOB
              CLOUD);
}

static void evaluators_make_a_chief_and_leave_tensorflow_s_cluster(void)
{
    const enum job_dialect forms[] = {JOB_AIP, JOB_NATIVE};
    for (size_t i = 0; i < 2; i++) {
        const struct cluster cluster = of(forms[i], 4);
        check(&cluster, "evaluator", 0,
              "{\"cluster\":{\"master\":[\"127.0.0.1:3000\"]," NAMED
              ",\"evaluator\":[\"127.0.0.1:3003\"]},\"task\":{\"type\":"
              "\"evaluator\",\"index\":0,\"trial\":\"3\"}" JOB CLOUD,
              "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"]," NAMED
              "},\"task\":{\"type\":\"evaluator\",\"index\":0,"
              "\"trial\":\"3\"}" JOB CLOUD);
    }
}

static void vertex_numbers_its_pools(void)
{
    const struct cluster cluster = of(JOB_VERTEX, 4);
#define SPEC(task)                                                             \
    "{\"cluster\":{\"workerpool0\":[\"127.0.0.1:3000\"],\"workerpool1\":["     \
    "\"127.0.0.1:3001\",\"host\\\"b:1\"],\"workerpool2\":[\"h:4\"],"           \
    "\"workerpool3\":[\"127.0.0.1:3003\"]},\"task\":{" task                    \
    ",\"trial\":\"3\"}" JOB CLOUD
#define TF(task)                                                               \
    "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"]," NAMED "},\"task\":{" task  \
    ",\"trial\":\"3\"}" JOB CLOUD
    check(&cluster, "master", 0, SPEC("\"type\":\"workerpool0\",\"index\":0"),
          TF("\"type\":\"chief\",\"index\":0"));
    check(&cluster, "worker", 1, SPEC("\"type\":\"workerpool1\",\"index\":1"),
          TF("\"type\":\"worker\",\"index\":1"));
    check(&cluster, "ps", 0, SPEC("\"type\":\"workerpool2\",\"index\":0"),
          TF("\"type\":\"ps\",\"index\":0"));
    check(&cluster, "evaluator", 0,
          SPEC("\"type\":\"workerpool3\",\"index\":0"),
          TF("\"type\":\"evaluator\",\"index\":0"));
}

static void a_skipped_pool_keeps_its_number(void)
{
    struct cluster cluster = of(JOB_VERTEX, 2);
    cluster.pools = gap;
    check(&cluster, "ps", 0,
          "{\"cluster\":{\"workerpool0\":[\"127.0.0.1:3000\"],"
          "\"workerpool2\":[\"h:4\"]},\"task\":{\"type\":\"workerpool2\","
          "\"index\":0,\"trial\":\"3\"}" JOB CLOUD,
          "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"],\"ps\":[\"h:4\"]},"
          "\"task\":{\"type\":\"ps\",\"index\":0,\"trial\":\"3\"}" JOB CLOUD);
}

static void without_tuning_there_is_no_trial(void)
{
    struct cluster cluster = {.n_pools = 1, .pools = pools};
    check(&cluster, "master", 0,
          "{\"cluster\":{\"workerpool0\":[\"127.0.0.1:3000\"]},\"task\":{"
          "\"type\":\"workerpool0\",\"index\":0}" CLOUD,
          "{\"cluster\":{\"chief\":[\"127.0.0.1:3000\"]},\"task\":{"
          "\"type\":\"chief\",\"index\":0}" CLOUD);
}

int main(void)
{
    RUN(one_replica_of_ai_platform_knows_itself);
    RUN(a_cluster_of_ai_platform_has_its_names);
    RUN(a_chief_is_in_tf_config_alone);
    RUN(evaluators_make_a_chief_and_leave_tensorflow_s_cluster);
    RUN(vertex_numbers_its_pools);
    RUN(a_skipped_pool_keeps_its_number);
    RUN(without_tuning_there_is_no_trial);
    return check_done();
}
