/* The Vertex form: Google's own jobs, and faults with their places. */
#include "proto/job.h"
#include "proto/json.h"
#include "tests/check.h"

static struct arena *arena;

static struct job *read_text(const char *text, struct diag *diag)
{
    diag_init(diag, arena, "job", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), diag);
    return root ? job_read_vertex(root, JOB_TUNING, diag) : NULL;
}

/* ---- Google's jobs ---- */

/* As the Python SDK sends it over REST: enums are numbers, int64 both ways,
 * nulls where nothing was said. */
static const char sdk_job[] =
    "{\"displayName\":\"resnet\",\"labels\":{\"team\":\"vision\"},"
    "\"maxTrialCount\":16,\"parallelTrialCount\":\"4\","
    "\"maxFailedTrialCount\":0,\"encryptionSpec\":null,"
    "\"name\":\"projects/1/locations/l/hyperparameterTuningJobs/9\","
    "\"state\":3,\"createTime\":\"2026-01-01T00:00:00Z\",\"trials\":[],"
    "\"studySpec\":{\"algorithm\":3,\"measurementSelectionType\":2,"
    "\"observationNoise\":1,"
    "\"metrics\":[{\"metricId\":\"val/acc\",\"goal\":1}],"
    "\"studyStoppingConfig\":{\"maxNumTrials\":12,"
    "\"maximumRuntimeConstraint\":{\"maxDuration\":\"3.5s\"}},"
    "\"parameters\":["
    "{\"parameterId\":\"lr\",\"scaleType\":2,\"doubleValueSpec\":"
    "{\"minValue\":1e-5,\"maxValue\":0.1}},"
    "{\"parameterId\":\"offset\",\"doubleValueSpec\":{\"maxValue\":1}},"
    "{\"parameterId\":\"n\",\"integerValueSpec\":"
    "{\"minValue\":\"9007199254740993\",\"maxValue\":9007199254740999}},"
    "{\"parameterId\":\"b\",\"discreteValueSpec\":{\"values\":[64,32],"
    "\"defaultValue\":60}},"
    "{\"parameterId\":\"opt\",\"categoricalValueSpec\":{\"values\":"
    "[\"adam\",\"sgd\"]},\"conditionalParameterSpecs\":[{"
    "\"parentCategoricalValues\":{\"values\":[\"sgd\"]},"
    "\"parameterSpec\":{\"parameterId\":\"momentum\",\"doubleValueSpec\":"
    "{\"minValue\":0,\"maxValue\":0.9}}}]}]},"
    "\"trialJobSpec\":{\"serviceAccount\":\"a@b\",\"scheduling\":"
    "{\"timeout\":\"600s\",\"disableRetries\":true},\"workerPoolSpecs\":["
    "{\"machineSpec\":{\"machineType\":\"n1-standard-4\",\"acceleratorType\":4,"
    "\"acceleratorCount\":2},\"replicaCount\":\"1\",\"containerSpec\":"
    "{\"imageUri\":\"gcr.io/p/i\",\"args\":[\"--epochs\",\"3\"],"
    "\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\"}]}},"
    "{},"
    "{\"replicaCount\":2,\"containerSpec\":{\"imageUri\":\"ps\"}}]}}";

static void a_job_of_googles_client_is_understood(void)
{
    struct diag diag;
    const struct job *job = read_text(sdk_job, &diag);
    CHECK(job != NULL && diag.errors == 0);
    if (job == NULL)
        return;
    CHECK_TEXT(job->display, "resnet");
    CHECK(job->name == NULL && !job->substitute);
    CHECK(job->max_trials == 12 && job->parallel == 4);
    CHECK(job->algorithm == ALGORITHM_RANDOM);
    CHECK(job->selection == SELECT_BEST);
    CHECK(job->metrics[0].maximize);
    CHECK(job->until.time_ms == 3500 && job->trial_timeout_ms == 600000);
    CHECK(job->retries == 0 && job->pools[0].gpus == 2);
    CHECK(job->n_pools == 2);
    CHECK_TEXT(job->pools[1].type, "ps");
    CHECK(job->pools[1].count == 2 && job->pools[0].args.n == 2);
    CHECK_TEXT(job->pools[0].env.items[1].value, "");
}

static void its_parameters_are_understood(void)
{
    struct diag diag;
    const struct job *job = read_text(sdk_job, &diag);
    if (job == NULL)
        return;
    const struct param *params = job->space.params;
    CHECK(job->space.n == 6);
    CHECK(params[0].scale == SCALE_LOG && params[0].min == 1e-5);
    CHECK(params[1].min == 0 && params[1].max == 1);
    CHECK(params[2].int_min == 9007199254740993);
    CHECK(params[3].numbers[0] == 32 && params[3].fallback.whole == 1);
    CHECK_TEXT(params[5].name, "momentum");
    CHECK(params[5].when && params[5].when->parent == 4);
    CHECK(params[5].when && params[5].when->values[0].whole == 1);
}

static void what_is_ignored_is_named(void)
{
    struct diag diag;
    read_text(sdk_job, &diag);
    static const char *const paths[] = {
        "studySpec.observationNoise", "trialJobSpec.serviceAccount",
        "trialJobSpec.workerPoolSpecs[0].machineSpec.machineType",
        "trialJobSpec.workerPoolSpecs[0].machineSpec.acceleratorType"};
    CHECK(diag.warnings == sizeof paths / sizeof *paths);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct diag_item *item = diag.first;
        while (item && strcmp(item->path, paths[i]) != 0)
            item = item->next;
        if (item == NULL)
            CHECK_TEXT("no warning", paths[i]);
    }
}

/* ---- faults ---- */

#define METRICS "\"metrics\":[{\"metricId\":\"a\",\"goal\":\"MAXIMIZE\"}]"
#define LR                                                                     \
    "{\"parameterId\":\"lr\",\"doubleValueSpec\":{\"minValue\":1,"             \
    "\"maxValue\":2}}"
#define POOLS "[{\"containerSpec\":{\"imageUri\":\"i\"}}]"
#define TRIAL "\"trialJobSpec\":{\"workerPoolSpecs\":" POOLS "}"
#define STUDY(parameters)                                                      \
    "\"studySpec\":{" METRICS ",\"parameters\":[" parameters "]}"
#define PARAM(spec) "{" STUDY("{\"parameterId\":\"p\"," spec "}") "," TRIAL "}"
#define POOL(pools)                                                            \
    "{" STUDY(LR) ",\"trialJobSpec\":{\"workerPoolSpecs\":" pools "}}"
#define OURS(member) "{" STUDY(LR) "," TRIAL ",\"hypertune\":{" member "}}"

static const struct {
    const char *json, *path, *text;
} faults[] = {
    {"{}", "studySpec", "is missing"},
    {"{" STUDY(LR) "}", "trialJobSpec", "is missing"},
    {"{" STUDY(LR) ",\"trialJobSpec\":{}}", "trialJobSpec.workerPoolSpecs",
     "is missing"},
    {"{" STUDY(LR) "," TRIAL ",\"maxTrialsCount\":3}", "maxTrialsCount",
     "did you mean \"maxTrialCount\"?"},
    {"{" STUDY(LR) "," TRIAL ",\"max_trial_count\":3}", "max_trial_count",
     "did you mean \"maxTrialCount\"?"},
    {"{" STUDY(LR) "," TRIAL ",\"maxTrialCount\":0}", "maxTrialCount",
     "must be from 1 to"},
    {"{" STUDY(LR) "," TRIAL ",\"maxTrialCount\":\"3.5\"}", "maxTrialCount",
     "must be a whole number"},
    {"{" STUDY("") "," TRIAL "}", "studySpec.parameters", "1 to 64"},
    {"{" STUDY(LR "," LR) "," TRIAL "}", "studySpec.parameters[1]",
     "declared twice"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"algorithm\":\"GRID_SERCH\"}," TRIAL "}",
     "studySpec.algorithm", "did you mean \"GRID_SEARCH\"?"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"algorithm\":9}," TRIAL "}",
     "studySpec.algorithm", "unknown algorithm \"9\""},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"algorithm\":2}," TRIAL "}",
     "studySpec.parameters[0]", "use discreteValueSpec"},
    {"{\"studySpec\":{\"metrics\":[],\"parameters\":[" LR "]}," TRIAL "}",
     "studySpec.metrics", "1 to 16 metrics"},
    {"{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\"}],\"parameters\":[" LR
     "]}," TRIAL "}",
     "studySpec.metrics[0]", "goal is missing"},
    {"{\"studySpec\":{\"metrics\":[{\"goal\":1}],\"parameters\":[" LR
     "]}," TRIAL "}",
     "studySpec.metrics[0]", "metricId is missing"},
    {PARAM("\"scaleType\":1"), "studySpec.parameters[0]", "0 value specs"},
    {PARAM("\"doubleValueSpec\":{},\"integerValueSpec\":{}"),
     "studySpec.parameters[0]", "2 value specs"},
    {PARAM("\"doubleValueSpec\":{\"minVal\":1}"),
     "studySpec.parameters[0].doubleValueSpec.minVal", "minValue"},
    {PARAM("\"doubleValueSpec\":{\"minValue\":2,\"maxValue\":1}"),
     "studySpec.parameters[0].doubleValueSpec.minValue", "is 2 but max is 1"},
    {PARAM("\"doubleValueSpec\":{\"maxValue\":1},\"scaleType\":2"),
     "studySpec.parameters[0].doubleValueSpec.minValue", "must be over 0"},
    {PARAM("\"integerValueSpec\":{\"maxValue\":\"9223372036854775808\"}"),
     "studySpec.parameters[0].integerValueSpec.maxValue", "whole number"},
    {PARAM("\"discreteValueSpec\":{\"values\":[1,1]}"),
     "studySpec.parameters[0].discreteValueSpec.values[1]", "listed twice"},
    {PARAM("\"categoricalValueSpec\":{}"),
     "studySpec.parameters[0].categoricalValueSpec.values", "is missing"},
    {PARAM("\"doubleValueSpec\":{\"maxValue\":1},"
           "\"conditionalParameterSpecs\":[{\"parentDiscreteValues\":"
           "{\"values\":[0.5]},\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0]", "is continuous"},
    {POOL("[]"), "trialJobSpec.workerPoolSpecs", "1 to 4 pools"},
    {POOL("[{}]"), "trialJobSpec.workerPoolSpecs[0]", "containerSpec"},
    {POOL("[{\"containerSpec\":{}}]"),
     "trialJobSpec.workerPoolSpecs[0].containerSpec", "imageUri or command"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"replicaCount\":2}]"),
     "trialJobSpec.workerPoolSpecs[0]", "exactly one replica"},
    {POOL("[{\"pythonPackageSpec\":{}}]"),
     "trialJobSpec.workerPoolSpecs[0].pythonPackageSpec",
     "pythonModule is missing"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\",\"env\":[{}]}}]"),
     "trialJobSpec.workerPoolSpecs[0].containerSpec.env[0]", "name is missing"},
    {OURS("\"name\":\"12\""), "hypertune.name", "study's number"},
    {OURS("\"seeds\":1"), "hypertune.seeds", "did you mean \"seed\"?"},
    {OURS("\"cpus\":-1"), "hypertune.cpus", "must be from 0"},
    {OURS("\"parameters\":{\"q\":{}}"), "hypertune.parameters.q",
     "there is no parameter \"q\""},
    {OURS("\"parameters\":{\"lr\":{\"step\":2}}"),
     "hypertune.parameters.lr.step", "larger than the range"}};

static void every_fault_has_its_path(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct diag diag;
        CHECK(read_text(faults[i].json, &diag) == NULL);
        const struct diag_item *item = diag.first;
        while (item && (strcmp(item->path, faults[i].path) != 0 ||
                        item->kind != DIAG_ERROR || item->line != 1 ||
                        !(strstr(item->text, faults[i].text) ||
                          (item->hint && strstr(item->hint, faults[i].text)))))
            item = item->next;
        if (item == NULL) {
            struct text said = {0};
            diag_print(&diag, &said);
            printf("# wanted %s: %s\n# got %s\n", faults[i].path,
                   faults[i].text, said.data ? said.data : "nothing");
            CHECK(!"the fault is found");
            text_free(&said);
        }
    }
}

static void what_cannot_be_read_back_is_corrupt(void)
{
    struct job *job = NULL;
    struct ht_error err;
    CHECK(job_parse(arena, "{\"studySpec\":", &job, &err) == HT_CORRUPT);
    CHECK(job_parse(arena, "{}", &job, &err) == HT_CORRUPT);
    CHECK(strstr(err.text, "studySpec") != NULL);
    CHECK(job == NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(a_job_of_googles_client_is_understood);
    RUN(its_parameters_are_understood);
    RUN(what_is_ignored_is_named);
    RUN(every_fault_has_its_path);
    RUN(what_cannot_be_read_back_is_corrupt);
    arena_free(arena);
    return check_done();
}
