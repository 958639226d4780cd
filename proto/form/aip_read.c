/* aip_read.c - a job from the AI Platform form. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/form/aip.h"
#include "proto/form/form.h"
#include "proto/job/check.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"

#define AIP(member) offsetof(struct aip_draft, member)
#define JOB(member) offsetof(struct aip_draft, draft.job.member)

/* ---- refused ---- */

static void refuse(const struct field_reader *reader, struct place at,
                   const struct field *field, void *into)
{
    (void)into;
    field_key_error(reader, at, "%s cannot run here", field->name);
    diag_hint(reader->diag, "only trainingInput can");
}

static void refuse_nas(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_key_error(reader, at, "neural architecture search cannot run here");
    diag_hint(reader->diag, "use hyperparameters");
}

/* ---- members with an effect ---- */

static const struct field_choice tiers[] = {{"BASIC", 0, TIER_BASIC},
                                            {"STANDARD_1", 1, TIER_STANDARD_1},
                                            {"PREMIUM_1", 3, TIER_PREMIUM_1},
                                            {"BASIC_GPU", 6, TIER_BASIC_GPU},
                                            {"BASIC_TPU", -1, TIER_BASIC_TPU},
                                            {"CUSTOM", 5, TIER_CUSTOM},
                                            {NULL, 0, 0}};

/* What Google's presets consist of was never written down, so that only one
 * replica can be promised. */
static void read_tier(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    struct aip_draft *aip = into;
    const struct field_choice *tier = field_choice(reader, at, field);
    if (tier == NULL)
        return;
    aip->tier = (enum aip_tier)tier->value;
    switch (aip->tier) {
    case TIER_UNSAID:
    case TIER_BASIC:
    case TIER_CUSTOM:
        return;
    case TIER_BASIC_TPU:
        field_error(reader, at, "there are no TPUs here");
        diag_hint(reader->diag, "use BASIC or CUSTOM");
        return;
    case TIER_STANDARD_1:
    case TIER_PREMIUM_1:
        field_warning(reader, at, "one replica runs for %s", tier->name);
        diag_hint(reader->diag, "CUSTOM with workerCount has more");
        break;
    case TIER_BASIC_GPU:
        break; /* one GPU, see aip_finish_pools() */
    }
    kept_silently(reader, at);
}

static void read_job_dir(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    static const char file[] = "file://";
    (void)field;
    const char *text = node_string(at.node);
    struct job *job = &((struct aip_draft *)into)->draft.job;
    if (text == NULL || text[0] == '\0') {
        field_error(reader, at, "must name a folder");
    } else if (strncmp(text, file, strlen(file)) == 0) {
        job->job_dir = text + strlen(file);
    } else {
        job->job_dir = text;
    }
}

static void read_packages(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    (void)field;
    (void)into;
    struct strings uris;
    if (!field_read_texts(reader, at, HT_MAX_ARGS, false, &uris))
        return;
    field_warning(reader, at, "packages are not installed here");
    diag_hint(reader->diag,
              "pythonModule must be importable where the trials run");
    kept_silently(reader, at);
}

/* Where the job is, and so a part of its name in Vertex's API. */
static void read_region(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    (void)field;
    (void)into;
    const char *region = node_string(at.node);
    if (region == NULL)
        field_wrong_kind(reader, at, "the name of a region");
    else if (strchr(region, '/') != NULL)
        field_error(reader, at, "the name of a region has no /");
    else if (region[0] == '\0' || field_is_name(reader, at, region))
        kept_silently(reader, at);
}

/* Google's own images; the table of versions is not known here. */
static void read_version(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    struct field row = *field;
    /* YAML reads 3.7 as a number. */
    row.check = at.node->kind == NODE_NUMBER ? field_skip : field_text;
    kept_value(reader, at, &row, into);
}

static const struct field_choice strategies[] = {{"STRATEGY_UNSPECIFIED", 0, 0},
                                                 {"ON_DEMAND", 1, 1},
                                                 {"LOW_COST", 2, 2},
                                                 {NULL, 0, 0}};

static void read_wait(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    const int64_t *ms = into;
    field_duration(reader, at, field, into);
    if (*ms > 0 && *ms < AIP_LEAST_WAIT_MS)
        field_error(reader, at, "must be at least 1800s");
}

static const struct field scheduling_rows[] = {
    {"maxRunningTime", field_duration, JOB(cancel_after.running_ms), .min = 1},
    {"maxWaitTime", read_wait, JOB(cancel_after.waiting_ms), .min = 1},
    {"priority", kept_value, .check = field_whole, .max = 1000},
    {"resilientToWorkerRestart", kept_value, .check = field_flag},
    {"strategy", kept_choice, .choices = strategies},
    {0}};

/* ---- the job ---- */

static const struct field input_rows[] = {
    {"scaleTier", read_tier, .choices = tiers, .place = AIP(tier_at)},
    {"masterConfig", field_map, AIP(replicas[0]), .rows = aip_config_rows,
     .place = AIP(replicas[0].config)},
    {"workerConfig", field_map, AIP(replicas[1]), .rows = aip_config_rows,
     .place = AIP(replicas[1].config)},
    {"parameterServerConfig", field_map, AIP(replicas[2]),
     .rows = aip_config_rows, .place = AIP(replicas[2].config)},
    {"evaluatorConfig", field_map, AIP(replicas[3]), .rows = aip_config_rows,
     .place = AIP(replicas[3].config)},
    {"masterType", aip_machine, AIP(replicas[0].machine),
     .fault = container_machine_fault, .place = AIP(replicas[0].machine_at)},
    {"workerType", aip_machine, AIP(replicas[1].machine),
     .fault = container_machine_fault, .place = AIP(replicas[1].machine_at)},
    {"parameterServerType", aip_machine, AIP(replicas[2].machine),
     .fault = container_machine_fault, .place = AIP(replicas[2].machine_at)},
    {"evaluatorType", aip_machine, AIP(replicas[3].machine),
     .fault = container_machine_fault, .place = AIP(replicas[3].machine_at)},
    {"workerCount", field_whole, AIP(replicas[1].count), .max = HT_MAX_PARALLEL,
     .place = AIP(replicas[1].count_at)},
    {"parameterServerCount", field_whole, AIP(replicas[2].count),
     .max = HT_MAX_PARALLEL, .place = AIP(replicas[2].count_at)},
    {"evaluatorCount", field_whole, AIP(replicas[3].count),
     .max = HT_MAX_PARALLEL, .place = AIP(replicas[3].count_at)},
    {"args", field_scalars, AIP(args), .max = HT_MAX_ARGS,
     .place = AIP(args_at)},
    {"pythonModule", aip_module, .place = AIP(module_at)},
    {.name = "packageUris", .read = read_packages},
    {.name = "hyperparameters", .read = aip_search},
    {.name = "jobDir", .read = read_job_dir},
    {"scheduling", field_map, .rows = scheduling_rows},
    {"useChiefInTfConfig", field_flag, .offset = JOB(chief)},
    {"enableWebAccess", kept_value, .check = field_flag},
    {"encryptionConfig", kept_map, .rows = kept_encryption_rows},
    {.name = "nasJobSpec", .read = refuse_nas},
    {.name = "network", .read = kept_text},
    {"pythonVersion", read_version, .place = AIP(python_at)},
    {.name = "region", .read = read_region},
    {"runtimeVersion", read_version, .place = AIP(runtime_at)},
    {"serviceAccount", field_word, JOB(service_account),
     .fault = container_account_fault, .may_be_empty = true},
    {0}};

/* Google's rule; names of other forms have more characters. */
static void read_id(const struct field_reader *reader, struct place at,
                    const struct field *field, void *into)
{
    (void)field;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                      others[] = "0123456789_";
    const char *id = node_string(at.node);
    size_t good = 0;
    while (
        id && id[good] &&
        (strchr(letters, id[good]) || (good > 0 && strchr(others, id[good]))))
        good++;
    if (id == NULL)
        field_wrong_kind(reader, at, "text");
    else if (good == 0 || id[good] != '\0' || good > HT_MAX_NAME)
        field_error(reader, at,
                    "must be a letter, then letters, digits and _, %d at most",
                    HT_MAX_NAME);
    else
        *(const char **)into = id;
}

/* What the server says of a job, that a client may send back as it got it. */
static const struct field answered_rows[] = {
    {.name = "createTime", .read = field_skip},
    {.name = "startTime", .read = field_skip},
    {.name = "endTime", .read = field_skip},
    {.name = "state", .read = field_skip},
    {.name = "errorMessage", .read = field_skip},
    {.name = "jobPosition", .read = field_skip},
    {.name = "trainingOutput", .read = field_skip},
    {.name = "predictionOutput", .read = field_skip},
    {.name = "explanationOutput", .read = field_skip},
    {0}};

/* Where the trials run, which AI Platform has no fields for. */
static const struct field hypertune_rows[] = {
    {"runOn", field_map, JOB(run_on), .rows = job_run_on_rows},
    {"priority", field_whole, JOB(priority), .min = -RUN_ON_PRIORITY,
     .max = RUN_ON_PRIORITY},
    {"kubernetes", field_map, JOB(kubernetes), .rows = job_kubernetes_rows,
     .place = AIP(draft.kubernetes), .said = JOB(kubernetes.said)},
    {"slurm", field_map, JOB(slurm), .rows = job_slurm_rows,
     .place = AIP(draft.slurm), .said = JOB(slurm.said)},
    {0}};

static const struct field root_rows[] = {
    {"jobId", read_id, .offset = JOB(name)},
    {"labels", field_pairs, JOB(labels), .max = 64},
    {"trainingInput", field_map, .rows = input_rows, .place = AIP(draft.pools)},
    {.name = "predictionInput", .read = refuse},
    {.name = "explanationInput", .read = refuse},
    {"hypertune", field_map, .rows = hypertune_rows},
    {.name = "etag", .read = field_skip},
    {.rows = answered_rows}};

void aip_read_change(const struct node *root, struct aip_change *change,
                     struct diag *diag)
{
    static const struct field rows[] = {
        {"labels", field_pairs, offsetof(struct aip_change, labels), .max = 64},
        {"etag", field_text, .offset = offsetof(struct aip_change, etag)},
        {.name = "jobId", .read = field_skip},
        {.name = "trainingInput", .read = field_skip},
        {.name = "predictionInput", .read = field_skip},
        {.name = "explanationInput", .read = field_skip},
        {.name = "hypertune", .read = field_skip},
        {.rows = answered_rows}};
    const struct field_reader reader = {
        .diag = diag, .arena = diag->arena, .null_is_absent = true};
    *change = (struct aip_change){0};
    field_read_map(&reader, (struct place){root, ""}, rows, change);
    job_check_labels(&reader, (struct place){root, ""});
}

struct job *aip_read(const struct node *root, struct diag *diag)
{
    struct kept_list kept, numbered;
    const struct field_reader reader = {.diag = diag,
                                        .arena = diag->arena,
                                        .null_is_absent = true,
                                        .kept = &kept,
                                        .numbered = &numbered};
    struct place at = {.node = root, .path = ""};
    struct aip_draft *aip = arena_alloc(diag->arena, 1, sizeof *aip);
    struct job *job = &aip->draft.job;
    *job = (struct job){.kind = JOB_CUSTOM,
                        .form = JOB_AIP,
                        .max_trials = 1,
                        .parallel = 1,
                        .retries = JOB_RETRIES,
                        .grace_ms = JOB_GRACE_MS};
    kept_init(&kept);
    kept_init(&numbered);
    field_read_map(&reader, at, root_rows, aip);
    if (root->kind != NODE_MAP)
        return NULL;
    if (field_member(&reader, at, "trainingInput").node == NULL) {
        field_missing(&reader, at, "trainingInput", "what to run");
        return NULL;
    }
    aip_finish_pools(&reader, aip);
    job_check(&reader, &aip->draft);
    job->display = job->name;
    job->kept = kept.first;
    job->numbered = numbered.first;
    aip_move_kept(diag->arena, job);
    return diag->errors > 0 ? NULL : job;
}
