/* The Vertex form: every fault is reported with its place. */
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"

static struct arena *arena;

static struct job *read_tuning(const char *text, struct diag *diag)
{
    diag_init(diag, arena, "job", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), diag);
    return root ? vertex_read(root, JOB_TUNING, diag) : NULL;
}

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
     "must be a whole number, is \"3.5\""},
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
     "studySpec.metrics[0].goal", "is missing"},
    {"{\"studySpec\":{\"metrics\":[{\"goal\":1}],\"parameters\":[" LR
     "]}," TRIAL "}",
     "studySpec.metrics[0].metricId", "is missing"},
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
     "studySpec.parameters[0].integerValueSpec.maxValue",
     "must be a whole number, is \"9223372036854775808\""},
    {PARAM("\"doubleValueSpec\":{\"minValue\":\"NaN\",\"maxValue\":1}"),
     "studySpec.parameters[0].doubleValueSpec.minValue",
     "must be a number, is \"NaN\""},
    {"{" STUDY(LR) "," TRIAL ",\"labels\":{\"run\":7}}", "labels.run",
     "must be text, not a number"},
    {PARAM("\"discreteValueSpec\":{\"values\":[1,1]}"),
     "studySpec.parameters[0].discreteValueSpec.values[1]", "listed twice"},
    {PARAM("\"categoricalValueSpec\":{}"),
     "studySpec.parameters[0].categoricalValueSpec.values", "is missing"},
    {PARAM("\"doubleValueSpec\":{\"maxValue\":1},"
           "\"conditionalParameterSpecs\":[{\"parentDiscreteValues\":"
           "{\"values\":[0.5]},\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0]", "is continuous"},
    {POOL("[]"), "trialJobSpec.workerPoolSpecs", "1 to 4 pools"},
    {POOL("[{}]"), "trialJobSpec.workerPoolSpecs[0].containerSpec",
     "is missing"},
    {POOL("[{\"containerSpec\":{}}]"),
     "trialJobSpec.workerPoolSpecs[0].containerSpec.imageUri", "is missing"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"replicaCount\":2}]"),
     "trialJobSpec.workerPoolSpecs[0].replicaCount", "exactly one replica"},
    {POOL("[{\"pythonPackageSpec\":{}}]"),
     "trialJobSpec.workerPoolSpecs[0].pythonPackageSpec.pythonModule",
     "is missing"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\",\"env\":[{}]}}]"),
     "trialJobSpec.workerPoolSpecs[0].containerSpec.env[0].name", "is missing"},
    {OURS("\"slurm\":{},\"runOn\":{\"engine\":\"docker\"}"), "hypertune.slurm",
     "is for Slurm, and runOn asks for the engine docker"},
    {OURS("\"slurm\":{\"time\":3600}"), "hypertune.slurm.time", "has no unit"},
    {OURS("\"slurm\":{\"options\":[\"--error=x\"]}"),
     "hypertune.slurm.options[0]", "--error is set by hypertune"},
    {OURS("\"name\":\"12\""), "hypertune.name", "study's number"},
    {OURS("\"seeds\":1"), "hypertune.seeds", "did you mean \"seed\"?"},
    {OURS("\"cpus\":-1"), "hypertune.cpus", "must be from 0"},
    {OURS("\"parameters\":{\"q\":{}}"), "hypertune.parameters.q",
     "there is no parameter \"q\""},
    {PARAM("\"categoricalValueSpec\":{\"values\":[\"a\"]},"
           "\"conditionalParameterSpecs\":[{\"parentIntValues\":"
           "{\"values\":[1]},\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0].parentIntValues",
     "use parentCategoricalValues"},
    {PARAM("\"categoricalValueSpec\":{\"values\":[\"a\"]},"
           "\"conditionalParameterSpecs\":[{\"parentCategoricalValues\":"
           "{\"values\":[\"b\"]},\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0]"
     ".parentCategoricalValues.values[0]",
     "can never have it"},
    {PARAM("\"categoricalValueSpec\":{\"values\":[\"a\"]},"
           "\"conditionalParameterSpecs\":[{\"parentCategoricalValues\":"
           "{\"values\":[\"a\"]}}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0].parameterSpec",
     "is missing"},
    {PARAM("\"categoricalValueSpec\":{\"values\":[\"a\"]},"
           "\"conditionalParameterSpecs\":[{\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[0]",
     "add parentCategoricalValues"},
    {PARAM("\"categoricalValueSpec\":{\"values\":[\"a\",\"b\"]},"
           "\"conditionalParameterSpecs\":[{\"parentCategoricalValues\":"
           "{\"values\":[\"a\"]},\"parameterSpec\":" LR
           "},{\"parentCategoricalValues\":{\"values\":[\"b\",\"a\"]},"
           "\"parameterSpec\":" LR "}]"),
     "studySpec.parameters[0].conditionalParameterSpecs[1].parameterSpec",
     "first as "
     "studySpec.parameters[0].conditionalParameterSpecs[0].parameterSpec"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"studyStoppingConfig\":{\"maximumRuntimeConstraint\":"
     "{\"endTime\":\"soon\"}}}," TRIAL "}",
     "studySpec.studyStoppingConfig.maximumRuntimeConstraint.endTime",
     "no time after 1970"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"medianAutomatedStoppingSpec\":{},\"decayCurveStoppingSpec\":{}}"
     "," TRIAL "}",
     "studySpec.decayCurveStoppingSpec", "one early stopping rule"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"decayCurveStoppingSpec\":{}}," TRIAL
     ",\"hypertune\":{\"earlyStopping\":\"median\"}}",
     "hypertune.earlyStopping", "studySpec names the rule decay"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"observationNoise\":\"MEDIUM\"}," TRIAL "}",
     "studySpec.observationNoise", "one of OBSERVATION_NOISE_UNSPECIFIED"},
    {"{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":1,"
     "\"safetyConfig\":{\"desiredMinSafeTrialsFraction\":2}}],"
     "\"parameters\":[" LR "]}," TRIAL "}",
     "studySpec.metrics[0].safetyConfig.desiredMinSafeTrialsFraction",
     "must be from 0 to 1"},
    {"{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":1,"
     "\"safetyConfig\":{}}],\"parameters\":[" LR "]}," TRIAL "}",
     "studySpec.metrics", "nothing is left to improve"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"machineSpec\":"
          "{\"acceleratorType\":\"TPU_V3\"}}]"),
     "trialJobSpec.workerPoolSpecs[0].machineSpec.acceleratorType", "no TPUs"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"machineSpec\":"
          "{\"machineType\":\"ct5lp-hightpu-4t\"}}]"),
     "trialJobSpec.workerPoolSpecs[0].machineSpec.machineType", "no TPUs"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"pythonPackageSpec\":"
          "{\"pythonModule\":\"m\"}}]"),
     "trialJobSpec.workerPoolSpecs[0]", "both containerSpec and"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"}},"
          "{\"replicaCount\":2,\"machineSpec\":{}}]"),
     "trialJobSpec.workerPoolSpecs[1].containerSpec", "is missing"},
    {POOL("[{\"containerSpec\":{\"imageUri\":\"i\"},\"diskSpec\":"
          "{\"bootDiskSize\":1}}]"),
     "trialJobSpec.workerPoolSpecs[0].diskSpec.bootDiskSize",
     "did you mean \"bootDiskSizeGb\"?"},
    {"{" STUDY(LR) ",\"trialJobSpec\":{\"workerPoolSpecs\":" POOLS
                   ",\"baseOutputDirectory\":{\"outputUriPrefix\":\"out\"}}}",
     "trialJobSpec.baseOutputDirectory.outputUriPrefix", "no absolute path"},
    {"{" STUDY(LR) ",\"trialJobSpec\":{\"workerPoolSpecs\":" POOLS
                   ",\"networks\":\"n\"}}",
     "trialJobSpec.networks", "did you mean \"network\"?"},
    {OURS("\"algorithm\":\"random\""), "hypertune.algorithm",
     "one of bayesian"},
    {"{\"studySpec\":{" METRICS ",\"parameters\":[" LR
     "],\"algorithm\":3}," TRIAL ",\"hypertune\":{\"algorithm\":\"bayesian\"}}",
     "hypertune.algorithm", "names another"},
    {OURS("\"parameterOrder\":[\"lr\",\"lr\"]"), "hypertune.parameterOrder",
     "every parameter exactly once"},
    {OURS("\"kept\":{\"studySpec.x\":1}"), "hypertune.kept.studySpec.x",
     "has its own place"},
    {OURS("\"kept\":{\"a[999].b\":1}"), "hypertune.kept.a[999].b",
     "no path of a member"},
    {OURS("\"parameters\":{\"lr\":{\"step\":2}}"),
     "hypertune.parameters.lr.step", "larger than the range"}};

static void every_fault_has_its_path(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct diag diag;
        CHECK(read_tuning(faults[i].json, &diag) == NULL);
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
            CHECK(item != NULL);
            text_free(&said);
        }
    }
}

static void a_variable_that_is_set_twice_gets_a_warning(void)
{
    static const char text[] =
        POOL("[{\"containerSpec\":{\"imageUri\":\"i\",\"env\":["
             "{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\"},"
             "{\"name\":\"A\",\"value\":\"$(A)2\"}]}}]");
    struct diag diag;
    const struct job *job = read_tuning(text, &diag);
    CHECK(job != NULL && diag.errors == 0 && diag.warnings == 1);
    CHECK_TEXT(diag.first->path,
               "trialJobSpec.workerPoolSpecs[0].containerSpec.env[2]");
    CHECK_TEXT(diag.first->text, "A is set before: the last value counts");
    CHECK(job != NULL && job->pools[0].env.n == 3);
}

static void what_cannot_be_read_back_is_corrupt(void)
{
    struct job *job = NULL;
    struct ht_error err;
    CHECK(vertex_parse(arena, "{\"studySpec\":", &job, &err) == HT_CORRUPT);
    CHECK(vertex_parse(arena, "{}", &job, &err) == HT_CORRUPT);
    CHECK(strstr(err.text, "studySpec") != NULL);
    CHECK(job == NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(every_fault_has_its_path);
    RUN(a_variable_that_is_set_twice_gets_a_warning);
    RUN(what_cannot_be_read_back_is_corrupt);
    arena_free(arena);
    return check_done();
}
