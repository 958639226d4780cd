/* The Vertex form: Google's own jobs, and what they say, read and written. */
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"

static struct arena *arena;

static struct job *read_kind(const char *text, enum job_kind kind,
                             struct diag *diag)
{
    diag_init(diag, arena, "job", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), diag);
    return root ? vertex_read(root, kind, diag) : NULL;
}

static struct job *read_text(const char *text, struct diag *diag)
{
    return read_kind(text, JOB_TUNING, diag);
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
    "\"trialJobSpec\":{\"serviceAccount\":\"a@b\",\"network\":\"n\","
    "\"scheduling\":"
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
    CHECK(job->selection == SELECT_BEST && job->noise == JOB_NOISE_LOW);
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
    static const char *const paths[] = {"trialJobSpec.network"};
    CHECK(diag.warnings == sizeof paths / sizeof *paths);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct diag_item *item = diag.first;
        while (item && strcmp(item->path, paths[i]) != 0)
            item = item->next;
        if (item == NULL)
            CHECK_TEXT("no warning", paths[i]);
    }
}

/* ---- conditions ---- */

static const char conditional[] =
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":["
    "{\"metricId\":\"loss\",\"goal\":\"MINIMIZE\"}],\"parameters\":["
    "{\"parameterId\":\"opt\",\"categoricalValueSpec\":{\"values\":["
    "\"adam\",\"sgd\"]},\"conditionalParameterSpecs\":["
    "{\"parentCategoricalValues\":{\"values\":[\"sgd\"]},\"parameterSpec\":"
    "{\"parameterId\":\"layers\",\"integerValueSpec\":{\"minValue\":\"1\","
    "\"maxValue\":\"9007199254740993\"},\"conditionalParameterSpecs\":["
    "{\"parentIntValues\":{\"values\":[\"3\",\"9007199254740993\"]},"
    "\"parameterSpec\":{\"parameterId\":\"width\",\"discreteValueSpec\":"
    "{\"values\":[0.5,2]},\"conditionalParameterSpecs\":["
    "{\"parentDiscreteValues\":{\"values\":[0.5]},\"parameterSpec\":"
    "{\"parameterId\":\"drop\",\"doubleValueSpec\":{\"minValue\":0,"
    "\"maxValue\":1}}}]}}]}}]},"
    "{\"parameterId\":\"lr\",\"doubleValueSpec\":{\"minValue\":0,"
    "\"maxValue\":1}}]}}";

static void a_study_keeps_its_nested_conditions(void)
{
    struct diag diag;
    struct text out = {0};
    const struct job *job = read_kind(conditional, JOB_STUDY, &diag);
    CHECK(job != NULL && diag.warnings == 0);
    if (job == NULL)
        return;
    CHECK(job->kind == JOB_STUDY && job->n_pools == 0 && job->max_trials == 0);
    CHECK(job->space.n == 5 && job->space.params[0].when == NULL);
    for (size_t i = 1; i < 4; i++)
        CHECK(job->space.params[i].when->parent == i - 1);
    CHECK(job->space.params[2].when->values[1].whole == 9007199254740993);
    CHECK(job->space.params[3].when->values[0].whole == 0);
    json_print(vertex_write(job), &out);
    CHECK_TEXT(out.data, conditional);
    text_free(&out);
}

/* The child of the second "layers" is no child of the first. */
static const char same_named[] =
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":["
    "{\"metricId\":\"loss\",\"goal\":\"MINIMIZE\"}],\"parameters\":["
    "{\"parameterId\":\"opt\",\"categoricalValueSpec\":{\"values\":["
    "\"adam\",\"sgd\"]},\"conditionalParameterSpecs\":["
    "{\"parentCategoricalValues\":{\"values\":[\"sgd\"]},\"parameterSpec\":"
    "{\"parameterId\":\"layers\",\"integerValueSpec\":{\"minValue\":\"1\","
    "\"maxValue\":\"3\"}}},"
    "{\"parentCategoricalValues\":{\"values\":[\"adam\"]},\"parameterSpec\":"
    "{\"parameterId\":\"layers\",\"integerValueSpec\":{\"minValue\":\"3\","
    "\"maxValue\":\"9\"},\"conditionalParameterSpecs\":["
    "{\"parentIntValues\":{\"values\":[\"9\"]},\"parameterSpec\":"
    "{\"parameterId\":\"drop\",\"doubleValueSpec\":{\"minValue\":0,"
    "\"maxValue\":1}}}]}}]}]}}";

static void children_may_share_a_name(void)
{
    struct diag diag;
    struct text out = {0};
    const struct job *job = read_kind(same_named, JOB_STUDY, &diag);
    CHECK(job != NULL && diag.warnings == 0);
    if (job == NULL)
        return;
    CHECK(job->space.n == 4 && job->space.params[3].when->parent == 2);
    json_print(vertex_write(job), &out);
    CHECK_TEXT(out.data, same_named);
    text_free(&out);
}

static const char *written(const struct job *job)
{
    struct text text = {0};
    json_print(vertex_write(job), &text);
    const char *copy = arena_strdup(arena, text.data);
    text_free(&text);
    return copy;
}

static struct param *find_param(const struct job *job, const char *name)
{
    return &job->space.params[space_find(&job->space, name)];
}

/* A child before its parent, two parents, a parent with steps: Google has no
 * words for these, so they stand in hypertune and the order is kept. */
static void what_google_cannot_nest_is_kept_beside_it(void)
{
    static const char spec[] =
        "goal: maximize a\ncommand: [train]\nparameters:\n"
        "  early: {values: [1, 2], when: {opt: x}}\n"
        "  opt: [x, y]\n"
        "  both: {values: [1, 2], when: {opt: x, early: 2}}\n"
        "  step: {type: double, min: 0, max: 1, step: 0.5}\n"
        "  fine: {values: [1, 2], when: {step: 0.5}}\n";
    struct diag diag;
    struct job *back;
    diag_init(&diag, arena, "spec", spec, strlen(spec));
    const struct node *root = node_read(arena, spec, strlen(spec), &diag);
    const struct job *job = native_read(root, &diag);
    CHECK(job != NULL);
    if (job == NULL)
        return;
    const char *json = written(job);
    CHECK(strstr(json, "\"parentCategoricalValues\":{\"values\":[\"x\"]},"
                       "\"parameterSpec\":{\"parameterId\":\"early\"") != NULL);
    CHECK(strstr(json, "\"parameterOrder\":[\"early\",\"opt\",\"both\","
                       "\"step\",\"fine\"]") != NULL);
    CHECK(strstr(json, "\"fine\":{\"when\":[{\"parent\":\"step\",\"values\":"
                       "[0.5]}]}") != NULL);
    CHECK(vertex_parse(arena, json, &back, NULL) == HT_OK);
    CHECK(space_find(&back->space, "early") == 0);
    CHECK(find_param(back, "early")->when->parent == 1);
    CHECK(find_param(back, "both")->when->next != NULL);
    CHECK_TEXT(written(back), json);
}

/* Sixty-four levels would nest deeper than any reader of ours goes. */
static void a_long_chain_of_conditions_is_read_back(void)
{
    struct job *job = NULL;
    struct text text = {0};
    text_puts(&text, "{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\","
                     "\"goal\":1}],\"parameters\":[");
    for (int i = 0; i < 64; i++)
        text_printf(&text,
                    "%s{\"parameterId\":\"p%d\",\"categoricalValueSpec\":"
                    "{\"values\":[\"a\",\"b\"]}}",
                    i > 0 ? "," : "", i);
    text_puts(&text, "]},\"hypertune\":{\"parameters\":{");
    for (int i = 1; i < 64; i++)
        text_printf(&text,
                    "%s\"p%d\":{\"when\":[{\"parent\":\"p%d\",\"values\":"
                    "[\"b\"]}]}",
                    i > 1 ? "," : "", i, i - 1);
    text_puts(&text, "}}}");
    CHECK(vertex_parse(arena, text.data, &job, NULL) == HT_OK);
    text_free(&text);
    if (job == NULL)
        return;
    const char *json = written(job);
    CHECK(vertex_parse(arena, json, &job, NULL) == HT_OK);
    CHECK_TEXT(written(job), json);
    CHECK(job->space.n == 64 && job->space.params[63].when->parent == 62);
}

/* ---- safety metrics ---- */

/* Whoever wants the objective takes the first metric. */
static void safety_metrics_stand_behind_the_objectives(void)
{
    struct diag diag;
    const struct job *job = read_text(
        "{\"studySpec\":{\"metrics\":["
        "{\"metricId\":\"memory\",\"goal\":\"MINIMIZE\",\"safetyConfig\":"
        "{\"safetyThreshold\":4,\"desiredMinSafeTrialsFraction\":0.8}},"
        "{\"metricId\":\"accuracy\",\"goal\":\"MAXIMIZE\"},"
        "{\"metricId\":\"margin\",\"goal\":\"MAXIMIZE\",\"safetyConfig\":{}}],"
        "\"parameters\":[{\"parameterId\":\"lr\",\"doubleValueSpec\":"
        "{\"minValue\":1,\"maxValue\":2}}]},"
        "\"trialJobSpec\":{\"workerPoolSpecs\":[{\"containerSpec\":"
        "{\"imageUri\":\"i\"}}]}}",
        &diag);
    CHECK(job != NULL && job->n_metrics == 3 && job_objectives(job) == 1);
    if (job == NULL || job->n_metrics != 3)
        return;
    CHECK_TEXT(job->metrics[0].name, "accuracy");
    CHECK(job->metrics[1].safety && !job->metrics[1].maximize);
    CHECK(job->metrics[1].threshold == 4 && job->metrics[1].safe_share == 0.8);
    CHECK(job->metrics[2].safety && job->metrics[2].threshold == 0);
    CHECK(strstr(written(job),
                 "\"safetyConfig\":{\"safetyThreshold\":4,"
                 "\"desiredMinSafeTrialsFraction\":0.8}") != NULL);
}

/* ---- the end of a study ---- */

static void every_stopping_rule_is_understood_and_told(void)
{
    static const char study[] =
        "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{\"metricId\":"
        "\"a\",\"goal\":\"MAXIMIZE\"}],\"parameters\":[{\"parameterId\":\"x\","
        "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}],"
        "\"studyStoppingConfig\":{\"maxNumTrials\":40,\"minNumTrials\":5,"
        "\"maxNumTrialsNoProgress\":7,\"maxDurationNoProgress\":\"90.250s\","
        "\"minimumRuntimeConstraint\":{\"maxDuration\":\"60s\"},"
        "\"maximumRuntimeConstraint\":{\"endTime\":"
        "\"2026-12-31T18:00:00.500Z\"},\"shouldStopAsap\":true}}}";
    struct diag diag;
    const struct job *job = read_kind(study, JOB_STUDY, &diag);
    CHECK(job != NULL && diag.warnings == 0);
    if (job == NULL)
        return;
    const struct stopping *until = &job->until;
    CHECK(job->max_trials == 40 && until->min_trials == 5);
    CHECK(until->no_progress == 7 && until->no_progress_ms == 90250);
    CHECK(until->min_time_ms == 60000 && until->time_ms == 0);
    CHECK(until->end_ms == 1798740000500 && !until->let_finish);
    CHECK_TEXT(written(job), study);
}

static void running_trials_finish_unless_google_says_asap(void)
{
    static const char format[] =
        "{\"studySpec\":{\"metrics\":[{\"metricId\":\"a\",\"goal\":1}],"
        "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":"
        "{\"maxValue\":1}}]%s}}";
    static const struct {
        const char *config;
        bool let_finish;
    } cases[] = {
        {"", false}, /* nothing ends it early */
        {",\"studyStoppingConfig\":{\"maxNumTrials\":3}", false},
        {",\"studyStoppingConfig\":{\"maxNumTrialsNoProgress\":3}", true},
        {",\"studyStoppingConfig\":{\"maxNumTrialsNoProgress\":3,"
         "\"shouldStopAsap\":false}",
         true},
        {",\"studyStoppingConfig\":{\"maxNumTrialsNoProgress\":3,"
         "\"shouldStopAsap\":true}",
         false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag diag;
        const char *text = arena_printf(arena, format, cases[i].config);
        const struct job *job = read_kind(text, JOB_STUDY, &diag);
        CHECK(job != NULL && job->until.let_finish == cases[i].let_finish);
    }
}

/* ---- early stopping ---- */

#define RULED(study, hypertune)                                                \
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{\"metricId\":"        \
    "\"a\",\"goal\":\"MAXIMIZE\"}],\"parameters\":[{\"parameterId\":\"x\","    \
    "\"doubleValueSpec\":{\"minValue\":0,\"maxValue\":1}}]" study              \
    "}" hypertune "}"

/* What studySpec has words for stands there alone. */
static void early_stopping_is_written_as_it_was_said(void)
{
    static const char *const texts[] = {
        RULED(",\"medianAutomatedStoppingSpec\":{}", ""),
        RULED(",\"decayCurveStoppingSpec\":{\"useElapsedDuration\":true}", ""),
        RULED(",\"convexAutomatedStoppingSpec\":{\"maxStepCount\":\"90\","
              "\"minStepCount\":\"9\",\"minMeasurementCount\":\"4\","
              "\"useElapsedDuration\":true}",
              ""),
        RULED(",\"convexAutomatedStoppingSpec\":{\"maxStepCount\":\"90\","
              "\"learningRateParameterName\":\"x\","
              "\"updateAllStoppedTrials\":true}",
              ""),
        RULED(",\"medianAutomatedStoppingSpec\":{}",
              ",\"hypertune\":{\"earlyStopping\":{\"rule\":\"median\","
              "\"minTrials\":9}}"),
        RULED("", ",\"hypertune\":{\"earlyStopping\":\"asha\"}"),
        RULED("", ",\"hypertune\":{\"earlyStopping\":{\"rule\":"
                  "\"hyperband\",\"by\":\"time\",\"minSteps\":2,"
                  "\"maxSteps\":54,\"factor\":4}}"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct diag diag;
        const struct job *job = read_kind(texts[i], JOB_STUDY, &diag);
        CHECK(job != NULL && job->early_stop.rule != EARLY_NONE);
        CHECK_TEXT(job ? written(job) : "refused", texts[i]);
    }
}

static void the_older_name_of_the_convex_rule_is_understood(void)
{
    struct diag diag;
    const struct job *job =
        read_kind(RULED(",\"convexStopConfig\":{\"maxNumSteps\":\"90\","
                        "\"minNumSteps\":\"9\",\"autoregressiveOrder\":"
                        "\"5\",\"useSeconds\":true,"
                        "\"learningRateParameterName\":\"lr\"}",
                        ""),
                  JOB_STUDY, &diag);
    /* The order and the name have no effect; v1 has a place for the name. */
    CHECK(job != NULL && diag.warnings == 2);
    CHECK_TEXT(job ? written(job) : "refused",
               RULED(",\"convexAutomatedStoppingSpec\":{\"maxStepCount\":"
                     "\"90\",\"minStepCount\":\"9\","
                     "\"useElapsedDuration\":true,"
                     "\"learningRateParameterName\":\"lr\"}",
                     ""));
}

static void only_trials_of_runners_can_pause(void)
{
    struct diag diag;
    CHECK(read_kind(RULED("", ",\"hypertune\":{\"earlyStopping\":{\"rule\":"
                              "\"asha\",\"pause\":true}}"),
                    JOB_STUDY, &diag) == NULL);
    CHECK_TEXT(diag.first->path, "hypertune.earlyStopping.pause");
    CHECK_TEXT(diag.first->text, "only trials that a runner runs can pause");
}

/* ---- custom jobs ---- */

#define CUSTOM(spec) "{\"displayName\":\"c\",\"jobSpec\":{" spec "}}"

static void a_custom_job_is_one_trial_without_parameters(void)
{
    struct diag diag;
    const struct job *job =
        read_kind(CUSTOM("\"workerPoolSpecs\":[{\"containerSpec\":{\"command\":"
                         "[\"train\"]},\"replicaCount\":\"1\"}],"
                         "\"baseOutputDirectory\":{\"outputUriPrefix\":"
                         "\"file:///data/out\"}"),
                  JOB_CUSTOM, &diag);
    CHECK(job != NULL && diag.warnings == 0);
    if (job == NULL)
        return;
    CHECK(job->kind == JOB_CUSTOM && job->max_trials == 1);
    CHECK(job->space.n == 0 && job->n_metrics == 0 && job->parallel == 1);
    CHECK_TEXT(job->output_dir, "/data/out");
    CHECK_TEXT(written(job),
               CUSTOM("\"workerPoolSpecs\":[{\"containerSpec\":{\"command\":"
                      "[\"train\"]},\"replicaCount\":\"1\"}],"
                      "\"baseOutputDirectory\":{\"outputUriPrefix\":"
                      "\"/data/out\"}"));
}

static void a_python_package_is_run_as_its_module(void)
{
    static const char spec[] =
        CUSTOM("\"workerPoolSpecs\":[{\"pythonPackageSpec\":{"
               "\"pythonModule\":\"trainer.task\",\"args\":[\"--e=3\"],"
               "\"env\":[{\"name\":\"A\",\"value\":\"1\"}],"
               "\"packageUris\":[\"gs://b/t.tar.gz\"],"
               "\"executorImageUri\":\"us-docker.pkg.dev/x\"},"
               "\"replicaCount\":\"1\"}]");
    struct diag diag;
    const struct job *job = read_kind(spec, JOB_CUSTOM, &diag);
    CHECK(job != NULL && diag.warnings == 2);
    if (job == NULL)
        return;
    const struct pool *pool = &job->pools[0];
    CHECK(pool->command.n == 3 && pool->args.n == 1 && pool->env.n == 1);
    CHECK_TEXT(pool->command.items[0], "python3");
    CHECK_TEXT(pool->command.items[2], "trainer.task");
    CHECK(pool->image == NULL);
    const char *json = written(job);
    CHECK(strstr(json, "containerSpec") == NULL);
    CHECK(strstr(json, "\"packageUris\":[\"gs://b/t.tar.gz\"]") != NULL);
    CHECK(strstr(json, "\"pythonModule\":\"trainer.task\"") != NULL);
    job = read_kind(json, JOB_CUSTOM, &diag);
    CHECK(job != NULL && strcmp(written(job), json) == 0);
}

#define ACCOUNT(account)                                                       \
    CUSTOM("\"serviceAccount\":\"" account "\",\"workerPoolSpecs\":"           \
           "[{\"containerSpec\":{\"imageUri\":\"i\"}}]")

static void a_service_account_is_a_word_that_names_a_file(void)
{
    struct diag diag;
    const struct job *job = read_text(sdk_job, &diag);
    CHECK_TEXT(job ? job->service_account : NULL, "a@b");
    job = read_kind(ACCOUNT("a@b.c"), JOB_CUSTOM, &diag);
    CHECK_TEXT(job ? job->service_account : NULL, "a@b.c");
    job = read_kind(ACCOUNT(""), JOB_CUSTOM, &diag);
    CHECK(job && job->service_account == NULL && diag.warnings == 0);
    job = read_kind(ACCOUNT("../a@b"), JOB_CUSTOM, &diag);
    CHECK(job == NULL && diag.errors == 1);
    CHECK_TEXT(diag.first->path, "jobSpec.serviceAccount");
}

static void stored_jobs_are_told_apart_by_their_members(void)
{
    struct job *job = NULL;
    CHECK(vertex_parse(arena, conditional, &job, NULL) == HT_OK &&
          job->kind == JOB_STUDY);
    CHECK(vertex_parse(arena, sdk_job, &job, NULL) == HT_OK &&
          job->kind == JOB_TUNING);
    CHECK(vertex_parse(arena,
                       CUSTOM("\"workerPoolSpecs\":[{\"containerSpec\":"
                              "{\"imageUri\":\"i\"}}]"),
                       &job, NULL) == HT_OK &&
          job->kind == JOB_CUSTOM);
}

/* ---- members without effect ---- */

static void what_has_no_effect_is_told_back_at_its_place(void)
{
    struct diag diag;
    const struct job *job = read_text(sdk_job, &diag);
    if (job == NULL)
        return;
    const char *json = written(job);
    CHECK(strstr(json, "\"observationNoise\":\"LOW\"") != NULL);
    CHECK(strstr(json, "\"serviceAccount\":\"a@b\"") != NULL);
    CHECK(strstr(json, "\"network\":\"n\"") != NULL);
    CHECK(strstr(json, "\"machineType\":\"n1-standard-4\"") != NULL);
    CHECK(strstr(json, "\"acceleratorType\":\"NVIDIA_TESLA_P4\"") != NULL);
    CHECK(strstr(json, "\"disableRetries\":true") != NULL);
}

static void a_default_is_kept_without_a_warning(void)
{
    struct diag diag;
    const struct job *job =
        read_kind(CUSTOM("\"enableWebAccess\":false,\"network\":\"\","
                         "\"scheduling\":{\"strategy\":0},\"workerPoolSpecs\":["
                         "{\"containerSpec\":{\"imageUri\":\"i\"}}]"),
                  JOB_CUSTOM, &diag);
    CHECK(job != NULL && diag.warnings == 0);
    if (job)
        CHECK(strstr(written(job), "\"enableWebAccess\":false") != NULL);
}

/* The wait of a custom job with this scheduling; -1 when it is no good job or
 * is not the same one read back. */
static int64_t wait_of(const char *scheduling, struct diag *diag)
{
    const char *json =
        arena_printf(arena,
                     CUSTOM("\"scheduling\":{%s},\"workerPoolSpecs\":"
                            "[{\"containerSpec\":{\"imageUri\":\"i\"}}]"),
                     scheduling);
    const struct job *job = read_kind(json, JOB_CUSTOM, diag);
    if (job == NULL || strstr(written(job), scheduling) == NULL)
        return -1;
    struct diag again;
    const struct job *same = read_kind(written(job), JOB_CUSTOM, &again);
    return same != NULL &&
                   same->cancel_after.waiting_ms == job->cancel_after.waiting_ms
               ? job->cancel_after.waiting_ms
               : -1;
}

static void only_flex_start_bounds_the_wait(void)
{
    struct diag diag;
    CHECK(wait_of("\"strategy\":\"FLEX_START\",\"maxWaitDuration\":\"90s\"",
                  &diag) == 90000 &&
          diag.warnings == 0);
    CHECK(wait_of("\"strategy\":\"FLEX_START\"", &diag) == 86400000);
    CHECK(wait_of("\"strategy\":\"FLEX_START\",\"maxWaitDuration\":\"0s\"",
                  &diag) == 0 &&
          diag.warnings == 0);
    CHECK(wait_of("\"maxWaitDuration\":\"90s\"", &diag) == 0);
    CHECK(diag.warnings == 1);
    CHECK_TEXT(diag.first->path, "jobSpec.scheduling.maxWaitDuration");
}

static void folders_of_google_get_a_warning(void)
{
    struct diag diag;
    const struct job *job = read_kind(
        CUSTOM("\"baseOutputDirectory\":{\"outputUriPrefix\":\"gs://b/o\"},"
               "\"workerPoolSpecs\":[{\"containerSpec\":{\"imageUri\":"
               "\"i\"}}]"),
        JOB_CUSTOM, &diag);
    CHECK(job != NULL && diag.warnings == 1 && job->output_dir == NULL);
    CHECK_TEXT(diag.first->text, "nothing is written to gs://b/o");
    if (job)
        CHECK(strstr(written(job), "\"outputUriPrefix\":\"gs://b/o\"") != NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(a_job_of_googles_client_is_understood);
    RUN(its_parameters_are_understood);
    RUN(what_is_ignored_is_named);
    RUN(a_study_keeps_its_nested_conditions);
    RUN(children_may_share_a_name);
    RUN(what_google_cannot_nest_is_kept_beside_it);
    RUN(a_long_chain_of_conditions_is_read_back);
    RUN(safety_metrics_stand_behind_the_objectives);
    RUN(every_stopping_rule_is_understood_and_told);
    RUN(running_trials_finish_unless_google_says_asap);
    RUN(early_stopping_is_written_as_it_was_said);
    RUN(the_older_name_of_the_convex_rule_is_understood);
    RUN(only_trials_of_runners_can_pause);
    RUN(a_custom_job_is_one_trial_without_parameters);
    RUN(a_python_package_is_run_as_its_module);
    RUN(a_service_account_is_a_word_that_names_a_file);
    RUN(stored_jobs_are_told_apart_by_their_members);
    RUN(what_has_no_effect_is_told_back_at_its_place);
    RUN(a_default_is_kept_without_a_warning);
    RUN(only_flex_start_bounds_the_wait);
    RUN(folders_of_google_get_a_warning);
    arena_free(arena);
    return check_done();
}
