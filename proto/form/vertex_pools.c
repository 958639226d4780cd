/* vertex_pools.c - the worker pools and containers of the Vertex form. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/form/vertex.h"
#include "proto/job/command.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/run_on.h"

/* Places of google/cloud/aiplatform/v1/custom_job.proto. */

#define DRAFT(member) offsetof(struct vertex_draft, member)
#define JOB(member) DRAFT(draft.job.member)
#define POOL(member) offsetof(struct pool_draft, member)

enum { UNSAID = -1 };

struct pool_draft {
    struct pool pool;
    int64_t count; /* UNSAID: no replicaCount */
    struct place container, package, module, accelerator;
    struct strings package_args;
    struct pairs package_env;
};

/* ---- tasks ---- */

static void read_variable(const struct field_reader *reader, struct place at,
                          struct pair *pair)
{
    static const struct field rows[] = {
        {"name", field_text, .offset = offsetof(struct pair, name)},
        {"value", field_text, .offset = offsetof(struct pair, value)},
        {0}};
    *pair = (struct pair){.value = ""};
    field_read_map(reader, at, rows, pair);
    if (pair->name == NULL && at.node->kind == NODE_MAP)
        field_missing(reader, at, "name", NULL);
    else if (pair->name)
        field_is_variable(reader, at, pair->name);
    field_is_word(reader, at, pair->value);
}

/* As in Kubernetes, a later one counts and may be made of an earlier one. */
static void warn_of_twice(const struct field_reader *reader, struct place at,
                          const struct pair items[], size_t n)
{
    const char *name = items[n].name;
    for (size_t i = 0; name != NULL && i < n; i++) {
        if (items[i].name == NULL || strcmp(items[i].name, name) != 0)
            continue;
        field_warning(reader, at, "%s is set before: the last value counts",
                      name);
        return;
    }
}

void vertex_variables(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    (void)field;
    if (at.node->kind != NODE_LIST || at.node->count > HT_MAX_ENV) {
        field_error(reader, at, "must be a list of at most %d variables",
                    HT_MAX_ENV);
        return;
    }
    struct pair *pairs =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *pairs);
    size_t n = 0;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        read_variable(reader, *item, &pairs[n]);
        warn_of_twice(reader, *item, pairs, n++);
    }
    *(struct pairs *)into = (struct pairs){.n = n, .items = pairs};
}

static const struct field container_rows[] = {
    {"imageUri", field_word, POOL(pool.image), .fault = container_image_fault,
     .may_be_empty = true},
    {"command", field_texts, POOL(pool.command), .max = HT_MAX_ARGS},
    {"args", field_texts, POOL(pool.args), .max = HT_MAX_ARGS},
    {"env", vertex_variables, .offset = POOL(pool.env)},
    {0}};

static void read_package_uris(const struct field_reader *reader,
                              struct place at, const struct field *field,
                              void *into)
{
    size_t before = reader->diag->errors;
    struct strings uris = {0};
    (void)field;
    (void)into;
    if (!field_read_texts(reader, at, HT_MAX_ARGS, false, &uris) ||
        reader->diag->errors > before)
        return;
    kept_silently(reader, at);
    if (uris.n == 0)
        return;
    field_warning(reader, at, "packages are not installed here");
    diag_hint(reader->diag, "python3 must be able to import pythonModule");
}

static const struct field package_rows[] = {
    {"pythonModule", field_place, .offset = POOL(module)},
    {"args", field_texts, POOL(package_args), .max = HT_MAX_ARGS},
    {"env", vertex_variables, .offset = POOL(package_env)},
    {.name = "packageUris", .read = read_package_uris},
    {.name = "executorImageUri", .read = kept_text},
    {0}};

/* ---- machines ---- */

static void refuse_tpu(const struct field_reader *reader, struct place at)
{
    field_error(reader, at, "there are no TPUs here");
    diag_hint(reader->diag, "ask for GPUs with acceleratorCount");
}

static void read_machine_type(const struct field_reader *reader,
                              struct place at, const struct field *field,
                              void *into)
{
    if (node_string(at.node) && strstr(at.node->text, "tpu"))
        refuse_tpu(reader, at);
    else
        field_word(reader, at, field, into);
}

/* Google's list, whose numbers are those of the protocol buffer. */
static const struct field_choice accelerators[] = {
    {"ACCELERATOR_TYPE_UNSPECIFIED", 0, 0},
    {"NVIDIA_TESLA_K80", 1, 1},
    {"NVIDIA_TESLA_P100", 2, 2},
    {"NVIDIA_TESLA_V100", 3, 3},
    {"NVIDIA_TESLA_P4", 4, 4},
    {"NVIDIA_TESLA_T4", 5, 5},
    {"TPU_V2", 6, 6},
    {"TPU_V3", 7, 7},
    {"NVIDIA_TESLA_A100", 8, 8},
    {"NVIDIA_A100_80GB", 9, 9},
    {"TPU_V4_POD", 10, 10},
    {"NVIDIA_L4", 11, 11},
    {"TPU_V5_LITEPOD", 12, 12},
    {"NVIDIA_H100_80GB", 13, 13},
    {"NVIDIA_H100_MEGA_80GB", 14, 14},
    {"NVIDIA_H200_141GB", 15, 15},
    {"NVIDIA_B200", 16, 16},
    {"NVIDIA_GB200", 17, 17},
    {"NVIDIA_RTX_PRO_6000", 18, 18},
    {NULL, 0, 0}};

static bool is_tpu(const char *accelerator)
{
    return strncmp(accelerator, "TPU_", 4) == 0;
}

static void read_accelerator(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    struct pool_draft *said = into;
    const struct field_choice *choice = field_choice(reader, at, field);
    if (choice == NULL || choice->number == 0)
        return;
    said->accelerator = at;
    if (is_tpu(choice->name))
        refuse_tpu(reader, at);
    else
        said->pool.accelerator = choice->name;
}

static void read_topology(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    if (node_string(at.node) && at.node->text[0] != '\0')
        refuse_tpu(reader, at);
    else
        kept_text(reader, at, field, into);
}

static const struct field_choice reservations[] = {
    {"TYPE_UNSPECIFIED", 0, 0},
    {"NO_RESERVATION", 1, 1},
    {"ANY_RESERVATION", 2, 2},
    {"SPECIFIC_RESERVATION", 3, 3},
    {NULL, 0, 0}};
static const struct field reservation_rows[] = {
    {"reservationAffinityType", kept_choice, .choices = reservations},
    {.name = "key", .read = kept_text},
    {"values", kept_value, .check = field_texts, .max = HT_MAX_ARGS},
    {0}};

static void read_machine(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    static const struct field rows[] = {
        {"machineType", read_machine_type, POOL(pool.machine),
         .fault = container_machine_fault, .may_be_empty = true},
        {"acceleratorType", read_accelerator, .choices = accelerators},
        {"acceleratorCount", field_whole, POOL(pool.gpus), .max = 1024},
        {.name = "tpuTopology", .read = read_topology},
        {"reservationAffinity", kept_map, .rows = reservation_rows},
        {.name = "gpuPartitionSize", .read = kept_text},
        {.name = "minGpuDriverVersion", .read = kept_text},
        {"multihostGpuNodeCount", kept_value, .check = field_whole,
         .max = INT32_MAX},
        {0}};
    struct pool_draft *said = into;
    (void)field;
    field_read_map(reader, at, rows, said);
    if (said->pool.accelerator && said->pool.gpus == 0)
        field_warning(reader, said->accelerator,
                      "asks for no GPU without acceleratorCount");
}

static const struct field disk_rows[] = {
    {.name = "bootDiskType", .read = kept_text},
    {"bootDiskSizeGb", kept_value, .check = field_whole, .max = INT32_MAX},
    {0}};

/* Members of NfsMount and LustreMount: all of them texts without effect. */
static const struct field nfs_rows[] = {
    {.name = "server", .read = field_text},
    {.name = "path", .read = field_text},
    {.name = "mountPoint", .read = field_text},
    {0}};
static const struct field lustre_rows[] = {
    {.name = "instanceIp", .read = field_text},
    {.name = "volumeHandle", .read = field_text},
    {.name = "filesystem", .read = field_text},
    {.name = "mountPoint", .read = field_text},
    {0}};

static void read_mounts(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    const char *ignored;
    size_t before = reader->diag->errors;
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        return;
    }
    for (const struct place *item = field_items(reader, at); item->node; item++)
        field_read_map(reader, *item, field->rows, &ignored);
    if (reader->diag->errors == before)
        kept_value(reader, at, field, into);
}

/* ---- pools ---- */

static const struct field pool_rows[] = {
    {"containerSpec", field_map, .rows = container_rows,
     .place = POOL(container)},
    {"pythonPackageSpec", field_map, .rows = package_rows,
     .place = POOL(package)},
    {"replicaCount", field_whole, POOL(count), .max = HT_MAX_PARALLEL},
    {.name = "machineSpec", .read = read_machine},
    {"diskSpec", kept_map, .rows = disk_rows},
    {"nfsMounts", read_mounts, .rows = nfs_rows, .check = field_skip},
    {"lustreMounts", read_mounts, .rows = lustre_rows, .check = field_skip},
    {0}};

/* A Python package is its module, run by the interpreter of this machine. */
static void adopt_package(const struct field_reader *reader,
                          struct pool_draft *said)
{
    const char *module = node_string(said->module.node);
    if (module == NULL || module[0] == '\0') {
        field_wrong_kind(reader, said->module, "the name of a module");
        return;
    }
    said->pool.command = command_of_module(reader->arena, module);
    said->pool.args = said->package_args;
    said->pool.env = said->package_env;
}

static void check_task(const struct field_reader *reader, struct place at,
                       struct pool_draft *said)
{
    if (said->container.node && said->module.node)
        field_error(reader, at, "has both containerSpec and pythonPackageSpec");
    else if (said->module.node)
        adopt_package(reader, said);
    else if (said->container.node == NULL && said->package.node)
        field_missing(reader, said->package, "pythonModule", NULL);
    else if (said->container.node == NULL)
        field_missing(reader, at, "containerSpec", "what the pool runs");
    else if (said->pool.image == NULL && said->pool.command.n == 0)
        field_missing(reader, said->container, "imageUri",
                      "or name a command to run without one");
}

static void read_pool(const struct field_reader *reader,
                      struct vertex_draft *vertex, struct place at,
                      size_t index)
{
    struct pool_draft said = {.pool.type = job_pool_types[index],
                              .count = UNSAID};
    struct job *job = &vertex->draft.job;
    size_t before = reader->diag->errors;
    field_read_map(reader, at, pool_rows, &said);
    if (reader->diag->errors > before)
        return;
    /* An empty object, or one without replicas, skips a later pool. */
    bool task = said.container.node || said.package.node;
    if (index > 0 && (said.count == 0 || (said.count == UNSAID && !task)))
        return;
    check_task(reader, at, &said);
    if (said.count == UNSAID)
        said.count = 1;
    if (index == 0 && said.count != 1)
        field_error(reader, field_member(reader, at, "replicaCount"),
                    "the first pool has exactly one replica");
    if (reader->diag->errors > before)
        return;
    said.pool.count = (int)said.count;
    job->pools[job->n_pools++] = said.pool;
}

static void read_pools(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    struct vertex_draft *vertex = into;
    if (at.node->kind != NODE_LIST || at.node->count == 0 ||
        at.node->count > JOB_POOLS) {
        field_error(reader, at, "must be a list of 1 to %d pools", JOB_POOLS);
        return;
    }
    vertex->draft.job.pools =
        arena_alloc(reader->arena, JOB_POOLS, sizeof(struct pool));
    size_t i = 0;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        read_pool(reader, vertex, *item, i++);
}

/* ---- the rest of a job ---- */

enum { FLEX_START = 6 };

static const struct field_choice strategies[] = {
    {"STRATEGY_UNSPECIFIED", 0, 0},
    {"ON_DEMAND", 1, 1},
    {"LOW_COST", 2, 2},
    {"STANDARD", 3, 3},
    {"SPOT", 4, 4},
    {"FLEX_START", FLEX_START, FLEX_START},
    {NULL, 0, 0}};

/* Machines are not provisioned here, but FLEX_START bounds the wait. */
static void read_strategy(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    const struct field row = {.name = field->name, .choices = strategies};
    const struct field_choice *choice = field_choice(reader, at, &row);
    if (choice == NULL)
        return;
    ((struct vertex_draft *)into)->flex_start = choice->value == FLEX_START;
    if (choice->value == FLEX_START)
        kept_name(reader, at, choice);
    else
        kept_choice(reader, at, &row, into);
}

/* Our own word for it comes first: it is the same one, read back. */
static void adopt_wait(const struct field_reader *reader,
                       struct vertex_draft *vertex)
{
    enum { DAY_MS = 86400000 };
    const bool said = vertex->wait_at.node != NULL;
    struct cancelling *after = &vertex->draft.job.cancel_after;
    if (said)
        kept_silently(reader, vertex->wait_at);
    if (vertex->flex_start && after->waiting_ms == 0)
        after->waiting_ms = said ? vertex->wait_ms : DAY_MS;
    if (!vertex->flex_start && vertex->wait_ms > 0)
        field_warning(reader, vertex->wait_at,
                      "has no effect without the strategy FLEX_START");
}

static const struct field scheduling_rows[] = {
    {"timeout", field_duration, .offset = JOB(trial_timeout_ms)},
    {"disableRetries", field_flag, .offset = DRAFT(disable_retries)},
    {"restartJobOnWorkerRestart", kept_value, .check = field_flag},
    {.name = "strategy", .read = read_strategy},
    {"maxWaitDuration", field_duration, DRAFT(wait_ms),
     .place = DRAFT(wait_at)},
    {0}};

/* A local folder is honoured; Google's storage is one with rewriteGs only. */
static void read_output_prefix(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    const char *uri = node_string(at.node);
    struct vertex_draft *vertex = into;
    struct job *job = &vertex->draft.job;
    (void)field;
    if (uri == NULL) {
        field_wrong_kind(reader, at, "text");
    } else if (strncmp(uri, "gs://", 5) == 0) {
        vertex->gcs_output = at;
    } else if (strncmp(uri, "file:///", 8) == 0) {
        job->output_dir = uri + 7;
    } else if (uri[0] == '/') {
        job->output_dir = uri;
    } else if (uri[0] != '\0') {
        field_error(reader, at, "\"%s\" is no absolute path", uri);
        diag_hint(reader->diag, "write /data/out or file:///data/out");
    }
}

/* ---- what hypertune says of the pools ---- */

static void read_needs(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    static const struct field rows[] = {
        {"cpus", field_real, offsetof(struct pool, cpus), .max = 1000000},
        {"memoryBytes", field_whole, offsetof(struct pool, memory_bytes),
         .max = INT64_MAX},
        {"gpu", job_gpu_part, .offset = offsetof(struct pool, gpu_part)},
        {"gpuMemoryBytes", field_whole, offsetof(struct pool, gpu_memory),
         .min = 1, .max = INT64_MAX},
        {0}};
    struct job *job = into;
    for (size_t i = 1; i < job->n_pools; i++)
        if (strcmp(job->pools[i].type, field->name) == 0) {
            field_read_map(reader, at, rows, &job->pools[i]);
            job_gpu_finish(reader, field_member(reader, at, "gpu"),
                           &job->pools[i]);
            return;
        }
    field_key_error(reader, at, "there is no pool of that type");
}

static void adopt_output(const struct field_reader *reader,
                         struct vertex_draft *vertex)
{
    struct place at = vertex->gcs_output;
    if (at.node == NULL)
        return;
    if (vertex->draft.job.rewrite_gcs) {
        vertex->draft.job.output_dir = at.node->text;
        return;
    }
    kept_silently(reader, at);
    field_warning(reader, at, "nothing is written to %s", at.node->text);
    diag_hint(reader->diag, "name a folder of this machine: /data/out");
}

void vertex_finish_pools(const struct field_reader *reader,
                         struct vertex_draft *vertex)
{
    static const struct field rows[] = {
        {.name = "worker", .read = read_needs},
        {.name = "ps", .read = read_needs},
        {.name = "evaluator", .read = read_needs},
        {0}};
    if (vertex->resources.node)
        field_read_map(reader, vertex->resources, rows, &vertex->draft.job);
    if (vertex->draft.job.n_pools > 0) {
        vertex->draft.job.pools[0].gpu_part = vertex->gpu_part;
        vertex->draft.job.pools[0].gpu_memory = vertex->gpu_memory;
        job_gpu_finish(reader, vertex->part, &vertex->draft.job.pools[0]);
    }
    adopt_output(reader, vertex);
    adopt_wait(reader, vertex);
}

static const struct field output_rows[] = {
    {.name = "outputUriPrefix", .read = read_output_prefix}, {0}};

const struct field vertex_job_spec_rows[] = {
    {"workerPoolSpecs", read_pools, .place = DRAFT(draft.pools)},
    {"scheduling", field_map, .rows = scheduling_rows},
    {"baseOutputDirectory", field_map, .rows = output_rows},
    {"enableDashboardAccess", kept_value, .check = field_flag},
    {"enableWebAccess", kept_value, .check = field_flag},
    {.name = "experiment", .read = kept_text},
    {.name = "experimentRun", .read = kept_text},
    {"models", kept_value, .check = field_texts, .max = HT_MAX_ARGS},
    {.name = "network", .read = kept_text},
    {.name = "persistentResourceId", .read = kept_text},
    {.name = "protectedArtifactLocationId", .read = kept_text},
    {"pscInterfaceConfig", kept_value, .check = field_skip},
    {"reservedIpRanges", kept_value, .check = field_texts, .max = HT_MAX_ARGS},
    {"serviceAccount", field_word, JOB(service_account),
     .fault = container_account_fault, .may_be_empty = true},
    {.name = "tensorboard", .read = kept_text},
    {0}};
