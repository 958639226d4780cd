/* Jobs in containers, as all forms have them: whose image and machine a
 * replica gets, what is refused before an engine sees it, and what is told of
 * it on the way from one form to another. */
#include <stdio.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

static struct arena *arena;

static struct job *read_text(const char *text, struct diag *diag)
{
    return spec_read(arena, form_read, text, diag);
}

/* A good document; its faults are printed otherwise. */
static struct job *read_good(const char *text, struct diag *diag)
{
    struct job *job = read_text(text, diag);
    if (job == NULL) {
        struct text said = {0};
        diag_print(diag, &said);
        CHECK_TEXT(said.data, "a good spec");
        text_free(&said);
    }
    return job;
}

static const struct diag_item *find_item(const struct diag *diag,
                                         const char *path)
{
    const struct diag_item *item = diag->first;
    while (item && strcmp(item->path, path) != 0)
        item = item->next;
    return item;
}

/* ---- who gets what ---- */

static void each_pool_of_vertex_has_its_own(void)
{
    struct diag diag;
    const struct job *job = read_good(
        "{\"jobSpec\":{\"workerPoolSpecs\":["
        "{\"machineSpec\":{\"machineType\":\"n1-standard-4\"},"
        "\"containerSpec\":{\"imageUri\":\"r.io/master:1\",\"command\":[\"m\"],"
        "\"args\":[\"--a\"],\"env\":[{\"name\":\"A\",\"value\":\"1\"}]}},"
        "{\"machineSpec\":{\"machineType\":\"g2-standard-4\","
        "\"acceleratorType\":\"NVIDIA_L4\",\"acceleratorCount\":1},"
        "\"replicaCount\":\"9\",\"containerSpec\":{\"imageUri\":"
        "\"r.io/worker:1\"}},"
        "{\"replicaCount\":3,\"containerSpec\":{\"imageUri\":\"r.io/ps:1\"}},"
        "{\"replicaCount\":1,\"containerSpec\":{\"imageUri\":\"r.io/eval:1\"}}]"
        "},\"hypertune\":{\"cpus\":2,\"replicas\":{\"ps\":{\"cpus\":0.5,"
        "\"memoryBytes\":\"1048576\"}}}}",
        &diag);
    if (job == NULL)
        return;
    CHECK(diag.warnings == 0 && job->n_pools == 4 && job_needs_images(job));
    CHECK_TEXT(job->pools[0].machine, "n1-standard-4");
    CHECK(job->pools[0].command.n == 1 && job->pools[0].args.n == 1);
    CHECK(job->pools[0].env.n == 1 && job->pools[1].env.n == 0);
    CHECK_TEXT(job->pools[1].type, "worker");
    CHECK_TEXT(job->pools[1].image, "r.io/worker:1");
    CHECK_TEXT(job->pools[1].accelerator, "NVIDIA_L4");
    CHECK(job->pools[1].count == 9 && job->pools[1].gpus == 1);
    CHECK(job->pools[1].command.n == 0 && job->pools[1].cpus == 0);
    CHECK_TEXT(job->pools[2].type, "ps");
    CHECK(job->pools[2].cpus == 0.5 && job->cpus == 2);
    CHECK(job->pools[2].memory_bytes == 1048576);
    CHECK(job->pools[2].machine == NULL);
    CHECK_TEXT(job->pools[3].image, "r.io/eval:1");
}

/* The page on distributed training: the master's image where a role has none
 * of its own. */
static void the_masters_image_is_every_role_s(void)
{
    struct diag diag;
    const struct job *job =
        read_good("trainingInput:\n"
                  "  scaleTier: CUSTOM\n"
                  "  masterType: n1-highcpu-16\n"
                  "  workerType: n1-highcpu-16\n"
                  "  parameterServerType: n1-highmem-8\n"
                  "  workerCount: 9\n"
                  "  parameterServerCount: 3\n"
                  "  masterConfig: {imageUri: gcr.io/p/trainer:1}\n"
                  "  parameterServerConfig: {imageUri: gcr.io/p/ps:1}\n"
                  "  args: [--epochs, 3]\n",
                  &diag);
    if (job == NULL)
        return;
    CHECK(diag.warnings == 0 && job->n_pools == 3);
    CHECK_TEXT(job->pools[1].image, "gcr.io/p/trainer:1");
    CHECK_TEXT(job->pools[2].image, "gcr.io/p/ps:1");
    CHECK_TEXT(job->pools[2].machine, "n1-highmem-8");
    CHECK(job->pools[1].args.n == 2 && job->pools[1].count == 9);
}

static void an_accelerator_without_a_count_is_told(void)
{
    struct diag diag;
    CHECK(read_good("trainingInput:\n  masterConfig:\n    imageUri: a/b\n"
                    "    acceleratorConfig: {type: NVIDIA_TESLA_T4}\n",
                    &diag) != NULL);
    CHECK(
        find_item(&diag, "trainingInput.masterConfig.acceleratorConfig.type"));
    CHECK(read_good("{\"jobSpec\":{\"workerPoolSpecs\":[{\"machineSpec\":"
                    "{\"acceleratorType\":\"NVIDIA_L4\"},\"containerSpec\":"
                    "{\"imageUri\":\"a/b\"}}]}}",
                    &diag) != NULL);
    CHECK(find_item(&diag, "jobSpec.workerPoolSpecs[0].machineSpec."
                           "acceleratorType"));
}

/* ---- Google's storage ---- */

#define NATIVE "goal: maximize a\nparameters: {lr: [1, 2]}\nimage: a/b\n"

static void any_mention_of_a_bucket_is_found(void)
{
    static const char *const mentions[] = {
        NATIVE "command: [train, --data=gs://b/p]\n",
        NATIVE "env: {DATA: gs://b/p}\n",
        NATIVE "env: {DATA: \"logs://a,gs://b/p\"}\n",
        NATIVE "jobDir: gs://b/jobs\n",
        NATIVE "rewriteGs: true\noutputDir: gs://b/out\n",
        NATIVE "replicas: {ps: {args: [gs://b]}}\n",
        "goal: maximize a\nparameters: {data: [gs://b/1, gs://b/2]}\n"
        "image: a/b\n"};
    struct diag diag;
    for (size_t i = 0; i < sizeof mentions / sizeof *mentions; i++) {
        const struct job *job = read_good(mentions[i], &diag);
        CHECK(job && job_mentions_gcs(job));
    }
    const struct job *job = read_good(
        NATIVE "labels: {a: gs://b}\nenv: {A: 'logs://b', B: bags://gs}\n",
        &diag);
    CHECK(job && !job_mentions_gcs(job));
}

#define OUTPUT                                                                 \
    "{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"     \
    "\"a/b\"}}],\"baseOutputDirectory\":{\"outputUriPrefix\":\"gs://b/o\"}}"

static void a_bucket_is_an_output_folder_where_it_is_mounted(void)
{
    struct diag diag;
    const struct job *job =
        read_good(OUTPUT ",\"hypertune\":{\"rewriteGs\":true}}", &diag);
    CHECK_TEXT(job ? job->output_dir : NULL, "gs://b/o");
    CHECK(diag.warnings == 0);
    job = read_good(OUTPUT "}", &diag);
    CHECK(job && job->output_dir == NULL && diag.warnings == 1);
    struct text json = {0};
    json_print(vertex_write(job), &json);
    CHECK(strstr(json.data, "\"outputUriPrefix\":\"gs://b/o\"") != NULL);
    text_free(&json);
}

/* ---- refused ---- */

#define POOL(text)                                                             \
    "{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"     \
    "\"a/b\"" text "}}]}}"
#define OURS(text)                                                             \
    "{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"     \
    "\"a/b\"}}]},\"hypertune\":{" text "}}"
#define AIP "trainingInput:\n  masterConfig: {imageUri: a/b}\n"

static const struct {
    const char *spec, *path, *text;
} faults[] = {
    {"{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"
     "\"a b\"}}]}}",
     "jobSpec.workerPoolSpecs[0].containerSpec.imageUri", "has a character"},
    {"{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"
     "\"a\"}},{\"containerSpec\":{\"command\":[\"c\"]}}]}}",
     "jobSpec.workerPoolSpecs", "the master has an image and the worker"},
    {"{\"jobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"
     "\"a\"}},{\"containerSpec\":{\"imageUri\":\"a\"},\"replicaCount\":1000}]"
     "}}",
     "jobSpec.workerPoolSpecs", "at most 1000 replicas, this one 1001"},
    {POOL(",\"env\":[{\"name\":\"A=B\",\"value\":\"\"}]"),
     "jobSpec.workerPoolSpecs[0].containerSpec.env[0]", "cannot name"},
    {POOL(",\"env\":[{\"name\":\"HYPERTUNE_RESUME\",\"value\":\"1\"}]"),
     "jobSpec.workerPoolSpecs[0].containerSpec.env[0]", "runner's own"},
    {POOL(",\"args\":[\"a\\u0000b\"]"), "", "\\u0000 is not allowed"},
    {OURS("\"volumes\":[\"/data:/proc\"]"), "hypertune.volumes[0]",
     "would cover"},
    {OURS("\"container\":{\"user\":\"a b\"}"), "hypertune.container.user",
     "is no user"},
    {OURS("\"container\":{\"network\":\"container:x\"}"),
     "hypertune.container.network", "is no network"},
    {OURS("\"container\":{\"shm\":\"-1\"}"), "hypertune.container.shm",
     "no size"},
    {OURS("\"secrets\":{\"K\":{\"file\":\"/etc/shadow\"}}"),
     "hypertune.secrets.K.file", "no path"},
    {OURS("\"secrets\":[]"), "hypertune.secrets", "must be a map"},
    {OURS("\"keep\":{\"best\":0}"), "hypertune.keep.best", "must be from 1"},
    {OURS("\"workdir\":\"src\""), "hypertune.workdir", "absolute path in"},
    {OURS("\"code\":{\"tree\":\"abc\"}"), "hypertune.code.tree",
     "is no SHA-256"},
    {OURS("\"code\":{\"folder\":\"abc\"}"), "hypertune.code.folder",
     "is no absolute path"},
    {OURS("\"replicas\":{\"ps\":{\"cpus\":1}}"), "hypertune.replicas.ps",
     "no pool of that type"},
    {OURS("\"passEnv\":[\"A B\"]"), "hypertune.passEnv[0]", "cannot name"},
    {OURS("\"capturedEnv\":[{\"name\":\"HYPERTUNE_TRIAL_DIR\"}]"),
     "hypertune.capturedEnv[0]", "runner's own"},
    {AIP "  workerConfig: {imageUri: 'a b'}\n  workerCount: 1\n",
     "trainingInput.workerConfig.imageUri", "has a character"},
    {AIP "  workerType: cloud_tpu\n  workerCount: 1\n",
     "trainingInput.workerType", "no TPUs"},
    {AIP "  masterType: 'n1 standard'\n", "trainingInput.masterType",
     "no machine type"},
    {AIP "  workerCount: 1000\n", "trainingInput", "at most 1000 replicas"},
    {"trainingInput:\n  pythonModule: t.task\n  workerCount: 1\n"
     "  workerConfig: {imageUri: a/b}\n",
     "trainingInput", "the worker has an image and the master has none"}};

static void hostile_words_are_refused_in_every_form(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct diag diag;
        CHECK(read_text(faults[i].spec, &diag) == NULL);
        const struct diag_item *item = find_item(&diag, faults[i].path);
        if (item == NULL || item->line == 0 ||
            strstr(item->text, faults[i].text) == NULL)
            CHECK_TEXT(item ? item->text : "no such path", faults[i].path);
    }
}

/* What Google's own tools set, and a person who copied it, does no harm. */
static void what_a_runner_sets_itself_is_warned_of(void)
{
    struct diag diag;
    CHECK(read_good(POOL(",\"env\":[{\"name\":\"TF_CONFIG\",\"value\":\"{}\"},"
                         "{\"name\":\"HYPERTUNE_SERVER\",\"value\":\"h\"}]"),
                    &diag) != NULL);
    CHECK(diag.warnings == 1 &&
          find_item(&diag, "jobSpec.workerPoolSpecs[0].containerSpec.env[0]"));
}

/* ---- between the forms ---- */

static void what_ai_platform_cannot_say_is_told(void)
{
    static const char *const paths[] = {"container", "secrets",
                                        "reporter",  "rewriteGs",
                                        "keep",      "replicas.*.resources"};
    struct diag diag;
    const struct job *job =
        read_good(NATIVE "machine: n1-standard-4\ncontainer: {pids: 9}\n"
                         "secrets: {K: {file: k}}\nreporter: python\n"
                         "rewriteGs: true\nkeep: {best: 1}\n"
                         "replicas: {ps: {resources: {cpus: 1}}}\n",
                  &diag);
    if (job == NULL)
        return;
    struct text json = {0};
    json_print(aip_write(job, &diag), &json);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (find_item(&diag, paths[i]) == NULL)
            CHECK_TEXT("is not told", paths[i]);
    CHECK(strstr(json.data, "\"masterType\":\"n1-standard-4\"") != NULL);
    CHECK(strstr(json.data, "\"parameterServerType\":\"n1-standard-4\""));
    text_free(&json);
}

static void google_s_machines_go_both_ways(void)
{
    struct diag diag;
    const char *spec = "trainingInput:\n  scaleTier: BASIC_GPU\n"
                       "  masterConfig: {imageUri: a/b}\n";
    struct text aip = {0};
    const struct job *job = read_good(spec, &diag);
    CHECK(job && job->pools[0].gpus == 1 && diag.warnings == 0);
    if (job == NULL)
        return;
    json_print(aip_write(job, &diag), &aip);
    CHECK(strstr(aip.data, "\"scaleTier\":\"BASIC_GPU\"") != NULL);
    CHECK(strstr(aip.data, "acceleratorConfig") == NULL);
    const struct job *again = read_good(arena_strdup(arena, aip.data), &diag);
    CHECK(again && again->pools[0].gpus == 1);
    text_free(&aip);
}

static void changes_of_a_container_are_differences(void)
{
    struct diag diag;
    struct text diff = {0};
    const struct job *old =
        read_good(NATIVE "container: {shm: 1Gi}\nsecrets: {K: {file: a}}\n"
                         "serviceAccount: a@p\n",
                  &diag);
    const struct job *new =
        read_good(NATIVE "machine: n1-standard-4\nkeep: {best: 2}\n"
                         "container: {shm: 2Gi}\nsecrets: {K: {file: b}}\n"
                         "serviceAccount: b@p\n",
                  &diag);
    CHECK(old && new &&form_diff(old, new, &diff) == 5);
    CHECK_TEXT(diff.data, "container.shm: 1073741824 -> 2147483648\n"
                          "secrets.K.file: a -> b\n"
                          "serviceAccount: a@p -> b@p\n"
                          "machine: none -> n1-standard-4\n"
                          "keep.best: none -> 2\n");
    text_free(&diff);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(each_pool_of_vertex_has_its_own);
    RUN(the_masters_image_is_every_role_s);
    RUN(an_accelerator_without_a_count_is_told);
    RUN(any_mention_of_a_bucket_is_found);
    RUN(a_bucket_is_an_output_folder_where_it_is_mounted);
    RUN(hostile_words_are_refused_in_every_form);
    RUN(what_a_runner_sets_itself_is_warned_of);
    RUN(what_ai_platform_cannot_say_is_told);
    RUN(google_s_machines_go_both_ways);
    RUN(changes_of_a_container_are_differences);
    arena_free(arena);
    return check_done();
}
