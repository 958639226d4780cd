#include "tuner/ask/read_mask.h"

#include <stdio.h>
#include <string.h>

#include "proto/doc/json.h"
#include "tests/check.h"

static const char job[] =
    "{\"name\":\"n\",\"displayName\":\"d\",\"labels\":{\"a_b\":\"1\",\"c\":"
    "\"2\"},\"studySpec\":{\"metrics\":[{\"metricId\":\"m\",\"goal\":\"g\"},{"
    "\"metricId\":\"k\"}],\"algorithm\":\"A\"},\"hypertuneStatus\":{\"counts\":"
    "{\"active\":1,\"failed\":0},\"kind\":\"TUNING\"}}";

static enum ht_status read_for(const char *message, const char *text,
                               struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct strings mask;
    const enum ht_status status =
        read_mask_read(arena, text, resource_members_of(message), &mask, err);
    arena_free(arena);
    return status;
}

static void shows(const char *mask_text, const char *wanted)
{
    struct arena *arena = arena_new();
    struct strings mask = {0};
    struct text text = {0};
    CHECK(read_mask_read(arena, mask_text,
                         resource_members_of("HyperparameterTuningJob"), &mask,
                         NULL) == HT_OK);
    cJSON *resource = cJSON_Parse(job);
    read_mask_apply(&mask, resource);
    json_print(resource, &text);
    CHECK_TEXT(text.data, wanted);
    text_free(&text);
    arena_free(arena);
}

static void a_mask_shows_what_it_names(void)
{
    shows("name", "{\"name\":\"n\"}");
    shows("display_name,name", "{\"name\":\"n\",\"displayName\":\"d\"}");
    shows("study_spec.algorithm", "{\"studySpec\":{\"algorithm\":\"A\"}}");
    shows("studySpec,studySpec.algorithm",
          "{\"studySpec\":{\"metrics\":[{\"metricId\":\"m\",\"goal\":\"g\"},{"
          "\"metricId\":\"k\"}],\"algorithm\":\"A\"}}");
    shows("studySpec.observation_noise", "{\"studySpec\":{}}");
    shows("hypertuneStatus.counts.active",
          "{\"hypertuneStatus\":{\"counts\":{\"active\":1}}}");
}

static void a_path_through_a_list_is_one_through_each_item(void)
{
    static const char all[] =
        "{\"studySpec\":{\"metrics\":[{\"metricId\":\"m\"},{\"metricId\":\"k\"}"
        "]}}";
    shows("studySpec.metrics.metric_id", all);
    shows("study_spec.metrics.*.metricId", all);
    shows("studySpec.metrics.*",
          "{\"studySpec\":{\"metrics\":[{\"metricId\":\"m\",\"goal\":\"g\"},{"
          "\"metricId\":\"k\"}]}}");
}

static void a_map_is_shown_by_its_keys(void)
{
    shows("labels.a_b", "{\"labels\":{\"a_b\":\"1\"}}");
    shows("labels.c,labels.none", "{\"labels\":{\"c\":\"2\"}}");
    shows("labels.*", "{\"labels\":{\"a_b\":\"1\",\"c\":\"2\"}}");
    shows("labels.aB", "{\"labels\":{}}"); /* keys are people's own words */
}

static void everything_is_shown_without_a_mask(void)
{
    static const char *const empty[] = {NULL, "", "*"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        shows(empty[i], job);
}

static void paths_go_as_deep_as_the_resources(void)
{
    static const char *const good[][2] = {
        {"HyperparameterTuningJob",
         "trials.parameters.value,trials.*.measurements.*.metrics.metricId"},
        {"HyperparameterTuningJob",
         "trial_job_spec.worker_pool_specs.container_spec.env.name"},
        {"HyperparameterTuningJob",
         "studySpec.parameters.conditionalParameterSpecs.parameterSpec."
         "conditionalParameterSpecs.*.parentIntValues.values"},
        {"HyperparameterTuningJob",
         "studySpec.decayCurveStoppingSpec.useElapsedDuration,"
         "studySpec.medianAutomatedStoppingSpec.useElapsedDuration,"
         "studySpec.convexAutomatedStoppingSpec.maxStepCount,"
         "studySpec.transferLearningConfig.priorStudyNames,"
         "studySpec.metrics.safetyConfig.safetyThreshold,"
         "studySpec.parameters.integerValueSpec.minValue,"
         "studySpec.parameters.categoricalValueSpec.values,"
         "studySpec.parameters.discreteValueSpec.defaultValue,"
         "studySpec.studyStoppingConfig.minimumRuntimeConstraint.endTime,"
         "trials.finalMeasurement.stepCount,trials.webAccessUris.master,"
         "encryptionSpec.kmsKeyName,error.message"},
        {"CustomJob",
         "jobSpec.workerPoolSpecs.pythonPackageSpec.env.value,"
         "jobSpec.workerPoolSpecs.machineSpec.reservationAffinity.values,"
         "jobSpec.workerPoolSpecs.nfsMounts.mountPoint,"
         "jobSpec.workerPoolSpecs.diskSpec.bootDiskType,"
         "jobSpec.baseOutputDirectory.outputUriPrefix,"
         "jobSpec.scheduling.timeout,error.details.whatever"},
        {"Study", "studySpec.studyStoppingConfig.maximumRuntimeConstraint."
                  "maxDuration,inactive_reason"},
        {"OfAnyKind", "jobSpec.network,trialJobSpec.network,inactiveReason"},
        {"Job", "trainingInput.masterConfig.acceleratorConfig.count,"
                "trainingInput.evaluatorConfig.diskConfig.bootDiskSizeGb,"
                "trainingInput.scheduling.maxWaitTime,"
                "trainingInput.encryptionConfig.kmsKeyName,"
                "trainingOutput.trials.allMetrics.trainingStep"},
        {"Job", "trainingOutput.trials.finalMetric.objectiveValue,"
                "trainingOutput.trials.hyperparameters.learning_rate,"
                "trainingInput.hyperparameters.params.*.type"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(read_for(good[i][0], good[i][1], NULL) == HT_OK);
}

static void what_is_no_path_is_told(void)
{
    static const char *const wrong[] = {
        "",
        ".name",
        "name.",
        "na me",
        "names",
        "nam",
        "*",
        "name.*",
        "name.first",
        "display__name",
        "trials.nope",
        "trials.",
        "trials.*.",
        "trials.**",
        "trials.*.*",
        "trials.0.id",
        "studySpecs.metrics",
        "studySpec.*.metricId",
        "studySpec.metrics.metricId.x",
        "studySpec.algorithm.x",
        "trialJobSpec.workerPoolSpecs.containerSpec.args.0",
        "jobSpec.network",
        "labels.",
        "labels.*.x",
        "hypertune."};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ht_error err = {0};
        char mask[128], said[256];
        snprintf(mask, sizeof mask, "name,%s,state", wrong[i]);
        snprintf(said, sizeof said, "readMask: there is no field \"%s\"",
                 wrong[i]);
        CHECK(read_for("HyperparameterTuningJob", mask, &err) == HT_INVALID);
        CHECK_TEXT(err.text, said);
    }
    CHECK(read_for("CustomJob", "trials", NULL) == HT_INVALID);
    CHECK(read_for("Study", "labels.a", NULL) == HT_INVALID);
    CHECK(read_for("Job", "name", NULL) == HT_INVALID);
}

static void a_mask_has_an_end(void)
{
    struct text text = {0};
    text_puts(&text, "name");
    for (int i = 1; i < 64; i++)
        text_puts(&text, ",name");
    CHECK(read_for("Study", text.data, NULL) == HT_OK);
    text_puts(&text, ",name");
    CHECK(read_for("Study", text.data, NULL) == HT_INVALID);
    text_free(&text);
}

int main(void)
{
    json_init();
    RUN(a_mask_shows_what_it_names);
    RUN(a_path_through_a_list_is_one_through_each_item);
    RUN(a_map_is_shown_by_its_keys);
    RUN(everything_is_shown_without_a_mask);
    RUN(paths_go_as_deep_as_the_resources);
    RUN(what_is_no_path_is_told);
    RUN(a_mask_has_an_end);
    return check_done();
}
