/* The differences of two jobs in native names. */
#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

static struct arena *arena;

static struct job *read_text(const char *text)
{
    struct diag diag;
    struct job *job = spec_read(arena, native_read, text, &diag);
    CHECK(job != NULL);
    return job;
}

#define HEAD "goal: maximize acc\ncommand: [train]\n"
#define LR "parameters: {lr: {type: double, min: 0.001, max: 0.1}}\n"

static void each_difference_is_one_line_in_native_names(void)
{
    static const struct {
        const char *old, *new, *want;
    } cases[] = {
        {HEAD LR, HEAD LR, ""},
        {HEAD LR,
         HEAD "parameters: {lr: {type: double, min: 0.001, max: 0.1, former: "
              "{min: 0, max: 9}}}\n",
         ""},
        {HEAD "parameters: {a: [1, 2]}\n",
         HEAD "parameters: {a: {values: [1], former: {values: [2]}}}\n",
         "parameters.a: [1,2] -> [1]\n"},
        {HEAD LR, HEAD LR "trials: 20\nargs: auto\ngrace: 30\n", ""},
        {HEAD LR,
         HEAD "parameters: {lr: {type: double, min: 0.001, max: 0.5}}\n",
         "parameters.lr.max: 0.1 -> 0.5\n"},
        {HEAD LR "trials: 40\n", HEAD LR "trials: 60\n", "trials: 40 -> 60\n"},
        {HEAD LR "algorithm: random\n", HEAD LR, ""},
        {HEAD LR, HEAD LR "algorithm: random\n", "algorithm: none -> random\n"},
        {HEAD LR, HEAD LR "trials: 60\n", "trials: 20 -> 60\n"},
        {HEAD LR, HEAD LR "until: {time: 2h, target: 1}\n",
         "until.target: none -> 1\nuntil.time: none -> 2h\n"},
        {HEAD LR "slurm: {time: 1h, options: {nice: 1}}\n",
         HEAD LR "slurm: {time: 02:00:00, qos: low}\nrunOn: {engine: slurm}\n",
         "slurm.time: 3600s -> 7200s\n"
         "slurm.options: [\"--nice=1\"] -> none\nslurm.qos: none -> low\n"},
        {HEAD LR, HEAD LR "slurm: {}\n", "runOn.engine: none -> slurm\n"},
        {HEAD LR "until: {end: \"2026-12-31T19:00:00+01:00\"}\n",
         HEAD LR "until: {end: \"2026-12-31T18:00:00Z\", letFinish: true}\n",
         "until.letFinish: none -> true\n"},
        {HEAD LR "replicas: {worker: {count: 2}}\n",
         HEAD LR "replicas: {worker: {count: 3, args: [-x]}}\n",
         "replicas.worker.count: 2 -> 3\n"
         "replicas.worker.command: [\"train\"] -> [\"train\",\"-x\"]\n"},
        {HEAD LR, HEAD LR "outputDir: /o\nreplicas: {chief: true}\n",
         "outputDir: none -> /o\nreplicas.chief: none -> true\n"},
        {HEAD "parameters: {a: [1, 2], b: {values: [1], when: {a: 1}}}\n",
         HEAD "parameters: {a: [1, 2], b: {values: [1], when: {a: 2}}}\n",
         "parameters.b.when.a: [1] -> [2]\n"},
        {HEAD LR "env: {A: 1, B: 2}\n", HEAD LR "env: {B: 3}\n",
         "env.A: 1 -> none\nenv.B: 2 -> 3\n"},
        {HEAD LR, "goal: minimize acc\ncommand: [train, -x]\n" LR,
         "goal: maximize acc -> minimize acc\n"
         "command: [\"train\"] -> [\"train\",\"-x\"]\n"},
        {HEAD LR, HEAD "parameters: {lr: [0.1, 0.2]}\n",
         "parameters.lr: {\"type\":\"double\",\"min\":0.001,\"max\":0.1} -> "
         "[0.1,0.2]\n"},
        {HEAD "parameters: {a: [1, 2], b: x}\n",
         HEAD "parameters: {a: [1, 2]}\n", "parameters.b: x -> none\n"},
        {HEAD "parameters: {a: [1, 2], b: x}\n",
         HEAD "parameters: {b: x, a: [1, 2]}\n", "parameters: order changed\n"},
        {HEAD LR "seed: 1\n", HEAD LR, ""},
        {HEAD LR "seed: 1\n", HEAD LR "seed: 2\n", "seed: 1 -> 2\n"},
        {HEAD LR, "name: a\n" HEAD LR, ""},
        {"name: a\n" HEAD LR, "name: b\n" HEAD LR, "name: a -> b\n"},
        {HEAD LR "seed: 9007199254740992\n", HEAD LR "seed: 9007199254740993\n",
         "seed: 9007199254740992 -> 9007199254740993\n"},
        {HEAD LR "workdir: a\n", HEAD LR "workdir: \"a\\nb\"\n",
         "workdir: a -> a\\x0ab\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        size_t lines = 0;
        size_t n =
            form_diff(read_text(cases[i].old), read_text(cases[i].new), &out);
        for (const char *c = cases[i].want; *c; c++)
            lines += *c == '\n';
        CHECK_TEXT(out.data ? out.data : "", cases[i].want);
        CHECK(n == lines);
        text_free(&out);
    }
}

static void what_submit_recorded_is_no_difference(void)
{
    static const struct pair path[] = {{"PATH", "/bin"}};
    struct job *old = read_text(HEAD LR), *new = read_text(HEAD LR);
    new->captured_env = (struct pairs){1, path};
    struct text out = {0};
    CHECK(form_diff(old, new, &out) == 0);
    CHECK(out.len == 0);
    text_free(&out);
}

static void other_replicas_are_compared_too(void)
{
    struct job *old = read_text(HEAD LR), *new = read_text(HEAD LR);
    struct pool pools[2];
    pools[0] = old->pools[0];
    pools[1] = old->pools[0];
    pools[1].type = "worker";
    pools[1].count = 3;
    old->pools = new->pools = pools;
    old->n_pools = new->n_pools = 2;
    struct text out = {0};
    CHECK(form_diff(old, new, &out) == 0);
    struct pool more[2] = {pools[0], pools[1]};
    more[1].count = 4;
    new->pools = more;
    CHECK(form_diff(old, new, &out) == 1);
    CHECK_TEXT(out.data, "replicas.worker.count: 3 -> 4\n");
    text_free(&out);
}

static void members_without_effect_are_compared_by_their_path(void)
{
    struct job *old = read_text(HEAD LR), *new = read_text(HEAD LR);
    struct kept one = {"trialJobSpec.network", "\"one\"", NULL};
    struct kept two = {"trialJobSpec.network", "\"two\"", NULL};
    struct text out = {0};
    old->kept = &one;
    new->kept = &two;
    CHECK(form_diff(old, new, &out) == 1);
    CHECK_TEXT(out.data, "kept.trialJobSpec.network: \"one\" -> \"two\"\n");
    text_free(&out);
    new->kept = NULL;
    new->kind = JOB_STUDY;
    CHECK(form_diff(old, new, &out) == 2);
    text_free(&out);
}

/* A study whose parameters "x" are children of one parent; the second one's
 * range ends at `max`. */
static const char *vertex_text(int max)
{
    return arena_printf(
        arena,
        "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{\"metricId\":"
        "\"l\","
        "\"goal\":\"MINIMIZE\"}],\"parameters\":[{\"parameterId\":\"opt\","
        "\"categoricalValueSpec\":{\"values\":[\"a\",\"b\"]},"
        "\"conditionalParameterSpecs\":["
        "{\"parentCategoricalValues\":{\"values\":[\"a\"]},\"parameterSpec\":"
        "{\"parameterId\":\"x\",\"doubleValueSpec\":{\"maxValue\":1}}},"
        "{\"parentCategoricalValues\":{\"values\":[\"b\"]},\"parameterSpec\":"
        "{\"parameterId\":\"x\",\"doubleValueSpec\":{\"maxValue\":%d}}}]}]}}",
        max);
}

static void parameters_that_share_a_name_are_compared_in_order(void)
{
    struct text lines = {0};
    struct ht_error err;
    struct job *two, *same, *three;
    CHECK(vertex_parse(arena, vertex_text(2), &two, &err) == HT_OK);
    CHECK(vertex_parse(arena, vertex_text(2), &same, &err) == HT_OK);
    CHECK(vertex_parse(arena, vertex_text(3), &three, &err) == HT_OK);
    CHECK(form_diff(two, same, &lines) == 0);
    CHECK(form_diff(two, three, &lines) == 1);
    CHECK_TEXT(text_string(&lines), "parameters.x.max: 2 -> 3\n");
    text_free(&lines);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(each_difference_is_one_line_in_native_names);
    RUN(what_submit_recorded_is_no_difference);
    RUN(other_replicas_are_compared_too);
    RUN(members_without_effect_are_compared_by_their_path);
    RUN(parameters_that_share_a_name_are_compared_in_order);
    arena_free(arena);
    return check_done();
}
