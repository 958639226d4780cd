/* The AI Platform form: what users bring along and what is wrong in it and
 * where. Runs in the source tree. */
#include "proto/doc/field.h"
#include "proto/form/form.h"
#include "tests/check.h"
#include "tests/lib/aip_samples.h"

/* ---- what is read ---- */

static struct arena *arena;

static void a_search_on_a_cluster_is_understood(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "census-cluster.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(job->kind == JOB_TUNING && diag.warnings == 0);
    CHECK(job->max_trials == 4 && job->parallel == 2 && job->max_failed == 0);
    CHECK(job->algorithm == ALGORITHM_DEFAULT);
    CHECK_TEXT(job->metrics[0].name, "accuracy");
    CHECK(job->n_pools == 3 && !job->chief);
    CHECK(job->pools[0].count == 1 && job->pools[1].count == 9);
    CHECK_TEXT(job->pools[2].type, "ps");
    CHECK(job->pools[2].count == 3 && job->pools[2].image == NULL);
    const struct param *params = job->space.params;
    CHECK(params[0].type == PARAM_INTEGER && params[0].int_max == 500);
    CHECK(params[2].scale == SCALE_REVERSE_LOG && params[2].min == 0.1);
}

static void what_was_not_said_is_googles_default(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "default-metric.yaml", &diag);
    if (job == NULL)
        return;
    CHECK_TEXT(job->metrics[0].name, "training/hptuning/metric");
    CHECK(job->metrics[0].maximize);
    CHECK(job->max_trials == 1 && job->parallel == 1);
    CHECK(job->n_pools == 1 && job->pools[0].command.n == 0);
    CHECK(job->pools[0].image == NULL && job->name == NULL);
}

static void roles_fall_back_to_the_masters_image(void)
{
    struct diag diag;
    const struct job *job =
        aip_sample(arena, "pytorch-distributed.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(job->kind == JOB_CUSTOM && job->n_metrics == 0);
    CHECK(job->max_trials == 1 && job->n_pools == 2);
    CHECK_TEXT(job->name, "pytorch_ddp");
    CHECK_TEXT(job->pools[1].image, "gcr.io/my-project/pytorch-ddp:v2");
    CHECK(job->pools[0].gpus == 1 && job->pools[1].gpus == 1);
    CHECK(job->pools[1].args.n == 2 && job->pools[0].args.n == 2);
    CHECK(job->cancel_after.running_ms == 7200000);
    CHECK(job->trial_timeout_ms == 0 && job->until.time_ms == 0);
}

static void an_evaluator_is_a_pool_of_its_own(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(!job->chief && job->n_pools == 3);
    CHECK_TEXT(job->pools[2].type, "evaluator");
    CHECK_TEXT(job->pools[2].image, "gcr.io/my-project/resnet-eval:tf2");
    CHECK_TEXT(job->pools[2].command.items[2], "resnet.evaluate");
    CHECK(job->pools[2].args.n == 0 && job->pools[0].args.n == 2);
    CHECK(job->cancel_after.running_ms == 36000000);
    CHECK(job->trial_timeout_ms == 0 && job->until.time_ms == 0);
    CHECK(job->until.let_finish == false);
}

static void a_module_is_run_by_python(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "sklearn-body.json", &diag);
    if (job == NULL)
        return;
    const struct pool *master = &job->pools[0];
    CHECK(master->command.n == 3 && master->args.n == 2);
    CHECK_TEXT(master->command.items[0], "python3");
    CHECK_TEXT(master->command.items[2], "trainer.train");
    CHECK_TEXT(job->job_dir, "./output");
    CHECK(job->algorithm == ALGORITHM_RANDOM && job->chief);
    CHECK(job->space.params[0].scale == SCALE_LOG);
    CHECK(job->space.params[1].int_max == 128);
    CHECK(job->space.params[2].min == 0 && job->space.params[2].max == 1.5);
}

/* ---- warnings ---- */

static bool is_warned(const struct diag *diag, const char *path)
{
    for (const struct diag_item *item = diag->first; item; item = item->next)
        if (item->kind == DIAG_WARNING && strcmp(item->path, path) == 0)
            return true;
    return false;
}

static const char *kept_json(const struct job *job, const char *path)
{
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        if (strcmp(kept->path, path) == 0)
            return kept->json;
    return "";
}

static void what_has_no_effect_is_kept_and_named(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    static const char *const paths[] = {
        "trainingInput.network",
        "trainingInput.encryptionConfig.kmsKeyName",
        "trainingInput.masterConfig.diskConfig.bootDiskSizeGb",
        "trainingInput.masterConfig.diskConfig.bootDiskType",
        "trainingInput.scheduling.priority",
        "trainingInput.scheduling.resilientToWorkerRestart",
        "trainingInput.scheduling.strategy"};
    if (job == NULL)
        return;
    CHECK(diag.warnings == sizeof paths / sizeof *paths);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!is_warned(&diag, paths[i]))
            CHECK_TEXT("no warning", paths[i]);
    }
    CHECK_TEXT(kept_json(job, "trainingInput.scheduling.priority"), "5");
}

static void a_resumed_job_is_one_to_learn_from(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(job->warm_start.n == 1);
    CHECK_TEXT(job->warm_start.items[0], "resnet_tf2_first");
    cJSON *written = aip_write(job, &diag);
    const cJSON *input = cJSON_GetObjectItem(written, "trainingInput");
    const cJSON *search = cJSON_GetObjectItem(input, "hyperparameters");
    CHECK_TEXT(cJSON_GetObjectItem(search, "resumePreviousJobId")->valuestring,
               "resnet_tf2_first");
    cJSON_Delete(written);
}

static void its_service_account_is_the_jobs(void)
{
    static const char account[] = "trainer@my-project.iam.gserviceaccount.com";
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    if (job == NULL)
        return;
    CHECK_TEXT(job->service_account, account);
    cJSON *written = aip_write(job, &diag);
    const cJSON *input = cJSON_GetObjectItem(written, "trainingInput");
    CHECK_TEXT(cJSON_GetObjectItem(input, "serviceAccount")->valuestring,
               account);
    cJSON_Delete(written);
}

/* So that a job that moves from one service of Google's to the other does not
 * leave them behind. */
static void what_is_kept_has_vertex_s_names(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    if (job == NULL)
        return;
    CHECK_TEXT(kept_json(job, "trialJobSpec.network"),
               "\"projects/12345/global/networks/vpc\"");
    CHECK_TEXT(kept_json(job, "trialJobSpec.scheduling.strategy"),
               "\"ON_DEMAND\"");
    CHECK_TEXT(
        kept_json(job, "trialJobSpec.scheduling.restartJobOnWorkerRestart"),
        "true");
    CHECK_TEXT(kept_json(job, "encryptionSpec.kmsKeyName"),
               "\"projects/p/locations/l/keyRings/r/cryptoKeys/k\"");
    CHECK(kept_json(job, "trainingInput.evaluatorType")[0] == '\0');
    CHECK_TEXT(
        kept_json(job,
                  "trialJobSpec.workerPoolSpecs[0].diskSpec.bootDiskSizeGb"),
        "200");
}

static void machines_and_their_gpus_are_asked_for(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "resnet-tf2.yaml", &diag);
    CHECK_TEXT(job ? job->pools[0].machine : NULL, "n1-highmem-8");
    CHECK_TEXT(job ? job->pools[2].machine : NULL, "n1-highmem-2");
    job = aip_sample(arena, "pytorch-distributed.yaml", &diag);
    CHECK_TEXT(job ? job->pools[1].accelerator : NULL, "NVIDIA_TESLA_T4");
    CHECK(job && job->pools[1].gpus == 1);
    CHECK(!is_warned(&diag, "trainingInput.masterType"));
}

/* Without replicas of a role its machine cannot be asked for. */
static void the_machine_of_no_replica_is_echoed(void)
{
    struct diag diag;
    const struct job *job =
        aip_read_text(arena,
                      "trainingInput:\n  masterConfig: {imageUri: a/b}\n"
                      "  workerType: n1-highcpu-16\n",
                      &diag);
    CHECK(is_warned(&diag, "trainingInput.workerType"));
    CHECK_TEXT(job ? kept_json(job, "trainingInput.workerType") : NULL,
               "\"n1-highcpu-16\"");
}

static bool loses(const struct job *job, const char *path)
{
    struct diag diag;
    diag_init(&diag, arena, "spec", NULL, 0);
    cJSON_Delete(aip_write(job, &diag));
    for (const struct diag_item *item = diag.first; item; item = item->next)
        if (strcmp(item->path, path) == 0)
            return true;
    return false;
}

/* AI Platform can say that trials stop early, and not by which rule. */
static void another_rule_than_decay_is_told_as_a_loss(void)
{
    struct diag diag;
    struct job *job = aip_sample(arena, "flowers-grid.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(job->early_stop.rule == EARLY_DECAY);
    CHECK(!loses(job, "earlyStopping"));
    job->early_stop.min_trials = 9;
    CHECK(loses(job, "earlyStopping"));
    job->early_stop = (struct early_stop){.rule = EARLY_MEDIAN};
    CHECK(loses(job, "earlyStopping"));
}

/* The member of "scheduling" when the job is written, NULL without one. */
static const char *scheduled(const struct job *job, const char *member)
{
    struct diag diag;
    diag_init(&diag, arena, "job", NULL, 0);
    const struct node *root = aip_parse(arena, aip_write(job, &diag), &diag);
    const struct node *input = node_find(root, "trainingInput");
    return node_get_string(node_find(input, "scheduling"), member, NULL);
}

static void limits_are_written_as_far_as_google_has_them(void)
{
    struct diag diag;
    struct job *job = aip_sample(arena, "flowers-grid.yaml", &diag);
    if (job == NULL)
        return;
    CHECK(scheduled(job, "maxRunningTime") == NULL);
    job->cancel_after =
        (struct cancelling){.waiting_ms = 1800000, .running_ms = 90000};
    CHECK_TEXT(scheduled(job, "maxRunningTime"), "90s");
    CHECK_TEXT(scheduled(job, "maxWaitTime"), "1800s");
    CHECK(!loses(job, "cancelAfter.waiting") && !loses(job, "until.time"));
    job->cancel_after.waiting_ms--; /* Google refuses it */
    CHECK(scheduled(job, "maxWaitTime") == NULL);
    CHECK(loses(job, "cancelAfter.waiting"));
    job->until.time_ms = 1; /* it ends as if it had succeeded */
    CHECK(loses(job, "until.time"));
}

static void gcloud_s_own_words_raise_no_warning(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "parameter-servers.json", &diag);
    if (job == NULL)
        return;
    CHECK(diag.warnings == 0);
    CHECK_TEXT(kept_json(job, "jobSpec.enableWebAccess"), "false");
}

static void a_bucket_is_passed_on_untouched(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "xgboost-iris.yaml", &diag);
    if (job == NULL)
        return;
    CHECK_TEXT(job->job_dir, "gs://my-bucket/iris/xgb");
    CHECK(job_mentions_gcs(job) && !job_needs_images(job));
    CHECK(is_warned(&diag, "trainingInput.packageUris"));
    CHECK(job->algorithm == ALGORITHM_DEFAULT && job->max_failed == 2);
}

static void presets_run_one_replica_and_say_so(void)
{
    struct diag diag;
    const struct job *job = aip_sample(arena, "babyweight.yaml", &diag);
    CHECK(is_warned(&diag, "trainingInput.scaleTier"));
    CHECK(job && job->n_pools == 1 && job->pools[0].count == 1);
    job = aip_sample(arena, "flowers-grid.yaml", &diag);
    CHECK(!is_warned(&diag, "trainingInput.scaleTier"));
    CHECK(job && job->pools[0].gpus == 1);
}

/* ---- faults ---- */

#define IMAGE "trainingInput:\n  masterConfig: {imageUri: i}\n"
#define HEAD "trainingInput:\n"
#define SEARCH HEAD "  hyperparameters:\n"
#define PARAMS SEARCH "    params:\n"
#define LR                                                                     \
    "    - {parameterName: lr, type: DOUBLE, minValue: 0.1, maxValue: 1}\n"

static const struct {
    const char *yaml;
    int line, column;
    const char *path, *text;
} faults[] = {
    {"jobId: x\n", 1, 1, "trainingInput", "is missing"},
    {"trainingInput: 3\n", 1, 16, "trainingInput", "must be a map"},
    {"jobid: x\n" HEAD "  region: r\n", 1, 1, "jobid",
     "did you mean \"jobId\"?"},
    {"jobId: 7\n" HEAD "  region: r\n", 1, 8, "jobId", "text, not a number"},
    {"jobId: 1bad\n" HEAD "  region: r\n", 1, 8, "jobId", "must be a letter"},
    {"jobId: bad-x\n" HEAD "  region: r\n", 1, 8, "jobId", "must be a letter"},
    {HEAD "  region: r\nhypertune: {runOn: {engine: docker}, slurm: {}}\n", 3,
     45, "hypertune.slurm", "is for Slurm"},
    {HEAD "  region: r\nhypertune: {slurm: {options: [--wait]}}\n", 3, 31,
     "hypertune.slurm.options[0]", "--wait is set by hypertune"},
    {HEAD "  region: r\nhypertune: {trials: 7}\n", 3, 13, "hypertune.trials",
     "unknown field \"trials\""},
    {HEAD "  region: a/b\n", 2, 11, "trainingInput.region", "no /"},
    {HEAD "  scheduling: {maxWaitTime: 1799s}\n", 2, 29,
     "trainingInput.scheduling.maxWaitTime", "at least 1800s"},
    {"predictionInput: {}\n" HEAD "  region: r\n", 1, 1, "predictionInput",
     "cannot run here"},
    {HEAD "  scaleTier: CUSTOMS\n", 2, 14, "trainingInput.scaleTier",
     "did you mean \"CUSTOM\"?"},
    {HEAD "  scaleTier: BASIC_TPU\n", 2, 14, "trainingInput.scaleTier",
     "no TPUs"},
    {HEAD "  hyperParameters: {}\n", 2, 3, "trainingInput.hyperParameters",
     "did you mean \"hyperparameters\"?"},
    {HEAD "  nasJobSpec: {}\n", 2, 3, "trainingInput.nasJobSpec",
     "use hyperparameters"},
    {HEAD "  scaleTier: BASIC\n  workerCount: 2\n", 3, 16,
     "trainingInput.workerCount", "needs scaleTier CUSTOM, not BASIC"},
    {HEAD "  workerCount: -1\n", 2, 16, "trainingInput.workerCount",
     "must be from 0"},
    {HEAD "  workerCount: two\n", 2, 16, "trainingInput.workerCount",
     "must be a whole number"},
    {HEAD "  masterConfig: {image: x}\n", 2, 18,
     "trainingInput.masterConfig.image", "unknown field \"image\""},
    {HEAD "  masterConfig:\n    acceleratorConfig: {count: 8, type: TPU_V2}\n",
     3, 41, "trainingInput.masterConfig.acceleratorConfig.type", "no TPUs"},
    {HEAD "  workerConfig: {tpuTfVersion: '2.1'}\n", 2, 32,
     "trainingInput.workerConfig.tpuTfVersion", "no TPUs"},
    {HEAD "  args: [--a]\n  masterConfig:\n    containerArgs: [--b]\n", 4, 20,
     "trainingInput.masterConfig.containerArgs", "excludes trainingInput.args"},
    {HEAD "  args: --a\n", 2, 9, "trainingInput.args", "write [--a]"},
    {HEAD "  pythonModule: t.task\n  masterConfig: {imageUri: i}\n", 2, 17,
     "trainingInput.pythonModule", "excludes masterConfig.imageUri"},
    {HEAD "  scheduling: {maxRunningTime: soon}\n", 2, 32,
     "trainingInput.scheduling.maxRunningTime", "no duration"},
    {HEAD "  scheduling: {strategy: CHEAP}\n", 2, 26,
     "trainingInput.scheduling.strategy", "unknown strategy"},
    {HEAD "  jobDir: ''\n", 2, 11, "trainingInput.jobDir", "name a folder"},
    {SEARCH "    goal: MAXIMIZE\n", 3, 5,
     "trainingInput.hyperparameters.params", "is missing"},
    {SEARCH "    params: []\n", 3, 13, "trainingInput.hyperparameters.params",
     "1 to 64 parameters"},
    {SEARCH "    goal: BIGGER\n    params:\n" LR, 3, 11,
     "trainingInput.hyperparameters.goal", "unknown goal \"BIGGER\""},
    {SEARCH "    maxTrials: 0\n    params:\n" LR, 3, 16,
     "trainingInput.hyperparameters.maxTrials", "must be from 1"},
    {SEARCH "    bogusField: 3\n    params:\n" LR, 3, 5,
     "trainingInput.hyperparameters.bogusField", "unknown field"},
    {SEARCH "    algorithm: POPULATION_BASED_TRAINING\n    params:\n" LR, 3, 16,
     "trainingInput.hyperparameters.algorithm",
     "POPULATION_BASED_TRAINING is not known here"},
    {SEARCH "    algorithm: GRID_SEARCH\n    params:\n" LR, 5, 7,
     "trainingInput.hyperparameters.params[0]", "finite number of values"},
    {PARAMS LR LR, 5, 23,
     "trainingInput.hyperparameters.params[1].parameterName", "declared twice"},
    {PARAMS "    - {parameterName: lr, minValue: 1, maxValue: 2}\n", 4, 7,
     "trainingInput.hyperparameters.params[0].type", "is missing"},
    {PARAMS "    - {type: DOUBLE, minValue: 1, maxValue: 2}\n", 4, 7,
     "trainingInput.hyperparameters.params[0].parameterName", "is missing"},
    {PARAMS "    - {parameterName: lr, type: FLOAT, minValue: 1}\n", 4, 33,
     "trainingInput.hyperparameters.params[0].type", "unknown type \"FLOAT\""},
    {PARAMS "    - {parameterName: lr, type: DOUBLE}\n", 4, 7,
     "trainingInput.hyperparameters.params[0].minValue", "is missing"},
    {PARAMS "    - {parameterName: lr, type: DOUBLE}\n", 4, 7,
     "trainingInput.hyperparameters.params[0].maxValue", "is missing"},
    {PARAMS "    - {parameterName: --lr, type: DOUBLE, maxValue: 1}\n", 4, 23,
     "trainingInput.hyperparameters.params[0].parameterName",
     "must not begin with -"},
    {IMAGE "  runtimeVersion: '2.1'\n", 3, 19, "trainingInput.runtimeVersion",
     "excludes masterConfig.imageUri"},
    {IMAGE "  pythonVersion: 3.7\n", 3, 18, "trainingInput.pythonVersion",
     "excludes masterConfig.imageUri"},
    {PARAMS "    - {parameterName: lr, type: DOUBLE, minValue: 1e-1,"
            " maxValue: 1e-5}\n",
     4, 51, "trainingInput.hyperparameters.params[0].minValue",
     "is 1e-1 but max is 1e-5"},
    {PARAMS "    - {parameterName: lr, type: DOUBLE, minValue: 0, maxValue: 1,"
            " scaleType: UNIT_LOG_SCALE}\n",
     4, 51, "trainingInput.hyperparameters.params[0].minValue",
     "over 0 on a logarithmic scale"},
    {PARAMS "    - {parameterName: n, type: INTEGER, minValue: 1.5,"
            " maxValue: 3}\n",
     4, 51, "trainingInput.hyperparameters.params[0].minValue",
     "must be a whole number"},
    {PARAMS "    - {parameterName: o, type: CATEGORICAL}\n", 4, 7,
     "trainingInput.hyperparameters.params[0].categoricalValues", "is missing"},
    {PARAMS "    - {parameterName: o, type: CATEGORICAL,\n"
            "       discreteValues: [1]}\n",
     5, 8, "trainingInput.hyperparameters.params[0].discreteValues",
     "no meaning for a parameter of type CATEGORICAL"},
    {PARAMS
     "    - {parameterName: o, type: DISCRETE, discreteValues: [1, 1]}\n",
     4, 62, "trainingInput.hyperparameters.params[0].discreteValues[1]",
     "listed twice"}};

static const struct diag_item *error_at(const struct diag *diag,
                                        const char *path, const char *text)
{
    for (const struct diag_item *item = diag->first; item; item = item->next)
        if (item->kind == DIAG_ERROR && strcmp(item->path, path) == 0 &&
            (strstr(item->text, text) ||
             (item->hint && strstr(item->hint, text))))
            return item;
    return NULL;
}

static void every_fault_has_its_place(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct diag diag;
        const struct job *job = aip_read_text(arena, faults[i].yaml, &diag);
        const struct diag_item *item =
            error_at(&diag, faults[i].path, faults[i].text);
        CHECK(job == NULL);
        if (item && item->line == faults[i].line &&
            item->column == faults[i].column)
            continue;
        struct text out = {0};
        diag_print(&diag, &out);
        printf("# want %d:%d %s: %s\n", faults[i].line, faults[i].column,
               faults[i].path, faults[i].text);
        CHECK_TEXT(out.data, faults[i].yaml);
        text_free(&out);
    }
}

/* Trainers look for their pools by other names then. */
static void other_names_of_several_pools_are_told_as_a_loss(void)
{
    static struct pool pools[] = {{.type = "master", .count = 1, .image = "i"},
                                  {.type = "worker", .count = 1, .image = "i"}};
    for (int form = JOB_VERTEX; form <= JOB_NATIVE; form++) {
        const struct job job = {.kind = JOB_CUSTOM,
                                .form = (enum job_dialect)form,
                                .grace_ms = JOB_GRACE_MS,
                                .retries = JOB_RETRIES,
                                .n_pools = 2,
                                .pools = pools};
        struct diag losses;
        cJSON *out;
        diag_init(&losses, arena, "job", NULL, 0);
        CHECK(form_write(&job, "aip", &losses, &out, NULL) == HT_OK);
        cJSON_Delete(out);
        const char *first = losses.first ? losses.first->text : "";
        CHECK((strstr(first, "not workerpool0") != NULL) ==
              (form == JOB_VERTEX));
    }
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(a_search_on_a_cluster_is_understood);
    RUN(what_was_not_said_is_googles_default);
    RUN(roles_fall_back_to_the_masters_image);
    RUN(an_evaluator_is_a_pool_of_its_own);
    RUN(a_module_is_run_by_python);
    RUN(what_has_no_effect_is_kept_and_named);
    RUN(a_resumed_job_is_one_to_learn_from);
    RUN(its_service_account_is_the_jobs);
    RUN(what_is_kept_has_vertex_s_names);
    RUN(limits_are_written_as_far_as_google_has_them);
    RUN(gcloud_s_own_words_raise_no_warning);
    RUN(another_rule_than_decay_is_told_as_a_loss);
    RUN(a_bucket_is_passed_on_untouched);
    RUN(machines_and_their_gpus_are_asked_for);
    RUN(the_machine_of_no_replica_is_echoed);
    RUN(presets_run_one_replica_and_say_so);
    RUN(every_fault_has_its_place);
    RUN(other_names_of_several_pools_are_told_as_a_loss);
    arena_free(arena);
    return check_done();
}
