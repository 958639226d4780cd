#include <stddef.h>
#include <string.h>

#include "proto/job_vertex.h"
#include "proto/limits.h"

#define JOB(member) offsetof(struct vertex_draft, draft.job.member)

void vertex_unsupported(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    (void)into;
    field_warning(reader, at, "%s is not supported and ignored", field->name);
}

/* ---- containers ---- */

static void read_variable(const struct field_reader *reader, struct place at,
                          struct pair *pair)
{
    static const struct field rows[] = {
        {.name = "name",
         .read = field_text,
         .offset = offsetof(struct pair, name)},
        {.name = "value",
         .read = field_text,
         .offset = offsetof(struct pair, value)},
        {0}};
    *pair = (struct pair){.value = ""};
    field_read_map(reader, at, rows, pair);
    if (pair->name == NULL && at.node->kind == NODE_MAP)
        field_error(reader, at, "name is missing");
    else if (pair->name)
        field_is_variable(reader, at, pair->name);
}

/* A list of {name, value}, the form of env in Google's API. */
static void read_variables(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    if (at.node->kind != NODE_LIST || at.node->count > HT_MAX_ENV) {
        field_error(reader, at, "must be a list of at most %d variables",
                    HT_MAX_ENV);
        return;
    }
    struct pair *items =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *items);
    size_t n = 0;
    for (const struct node *node = at.node->first; node; node = node->next, n++)
        read_variable(reader, field_item(reader, at, node, n), &items[n]);
    struct pairs *pairs = (struct pairs *)((char *)into + field->offset);
    *pairs = (struct pairs){.n = n, .items = items};
}

struct pool_draft {
    struct pool pool;
    int64_t count;
    struct place container;
};

static const struct field container_rows[] = {
    {.name = "imageUri",
     .read = field_text,
     .offset = offsetof(struct pool_draft, pool.image)},
    {.name = "command",
     .read = field_texts,
     .offset = offsetof(struct pool_draft, pool.command),
     .max = HT_MAX_ARGS},
    {.name = "args",
     .read = field_texts,
     .offset = offsetof(struct pool_draft, pool.args),
     .max = HT_MAX_ARGS},
    {.name = "env",
     .read = read_variables,
     .offset = offsetof(struct pool_draft, pool.env)},
    {0}};

static void read_container(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)field;
    ((struct pool_draft *)into)->container = at;
    field_read_map(reader, at, container_rows, into);
}

static void read_machine(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    static const struct field rows[] = {
        {.name = "machineType", .read = field_skip},
        {.name = "acceleratorType", .read = field_skip},
        {"acceleratorCount", field_whole,
         offsetof(struct pool_draft, pool.gpus), 0, 1024, NULL},
        {.name = "tpuTopology", .read = vertex_unsupported},
        {.name = "reservationAffinity", .read = vertex_unsupported},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

static void refuse_package(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)into;
    field_key_error(reader, at, "%s cannot run here", field->name);
    diag_hint(reader->diag, "use containerSpec");
}

static const struct field pool_rows[] = {
    {.name = "containerSpec", .read = read_container},
    {"replicaCount", field_whole, offsetof(struct pool_draft, count), 0,
     HT_MAX_PARALLEL, NULL},
    {.name = "machineSpec", .read = read_machine},
    {.name = "pythonPackageSpec", .read = refuse_package},
    {.name = "diskSpec", .read = vertex_unsupported},
    {.name = "nfsMounts", .read = vertex_unsupported},
    {0}};

const char *const vertex_pool_types[VERTEX_POOLS] = {"master", "worker", "ps",
                                                     "evaluator"};

static void read_pool(const struct field_reader *reader,
                      struct vertex_draft *vertex, struct place at,
                      size_t index)
{
    struct pool_draft said = {.pool.type = vertex_pool_types[index],
                              .count = 1};
    struct job *job = &vertex->draft.job;
    size_t before = reader->diag->errors;
    field_read_map(reader, at, pool_rows, &said);
    if (reader->diag->errors > before)
        return;
    /* An empty object, or one without replicas, skips a later pool. */
    if (index > 0 && (said.container.node == NULL || said.count == 0))
        return;
    if (said.container.node == NULL) {
        field_error(reader, at, "containerSpec is missing");
    } else if (said.pool.image == NULL && said.pool.command.n == 0) {
        field_error(reader, said.container, "needs imageUri or command");
    } else if (index == 0 && said.count != 1) {
        field_error(reader, at, "the first pool has exactly one replica");
    } else {
        said.pool.count = (int)said.count;
        job->pools[job->n_pools++] = said.pool;
    }
}

static void read_pools(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    struct vertex_draft *vertex = into;
    vertex->pools = at;
    if (at.node->kind != NODE_LIST || at.node->count == 0 ||
        at.node->count > VERTEX_POOLS) {
        field_error(reader, at, "must be a list of 1 to %d pools",
                    VERTEX_POOLS);
        return;
    }
    vertex->draft.job.pools =
        arena_alloc(reader->arena, VERTEX_POOLS, sizeof(struct pool));
    size_t i = 0;
    for (const struct node *node = at.node->first; node; node = node->next, i++)
        read_pool(reader, vertex, field_item(reader, at, node, i), i);
}

static void read_scheduling(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    static const struct field rows[] = {
        {.name = "timeout",
         .read = field_duration,
         .offset = JOB(trial_timeout_ms)},
        {.name = "disableRetries",
         .read = field_flag,
         .offset = offsetof(struct vertex_draft, disable_retries)},
        {.name = "restartJobOnWorkerRestart", .read = vertex_unsupported},
        {.name = "strategy", .read = vertex_unsupported},
        {.name = "maxWaitDuration", .read = vertex_unsupported},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

static void read_trial_job(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    static const struct field rows[] = {
        {.name = "workerPoolSpecs", .read = read_pools},
        {.name = "scheduling", .read = read_scheduling},
        {.name = "baseOutputDirectory", .read = vertex_unsupported},
        {.name = "enableDashboardAccess", .read = vertex_unsupported},
        {.name = "enableWebAccess", .read = vertex_unsupported},
        {.name = "experiment", .read = vertex_unsupported},
        {.name = "experimentRun", .read = vertex_unsupported},
        {.name = "models", .read = vertex_unsupported},
        {.name = "network", .read = vertex_unsupported},
        {.name = "persistentResourceId", .read = vertex_unsupported},
        {.name = "protectedArtifactLocationId", .read = vertex_unsupported},
        {.name = "pscInterfaceConfig", .read = vertex_unsupported},
        {.name = "reservedIpRanges", .read = vertex_unsupported},
        {.name = "serviceAccount", .read = vertex_unsupported},
        {.name = "tensorboard", .read = vertex_unsupported},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

/* ---- hypertune: what Vertex has no field for ---- */

static void read_seed(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    struct job *job = &((struct vertex_draft *)into)->draft.job;
    size_t before = reader->diag->errors;
    field_whole(reader, at, field, into);
    job->has_seed = reader->diag->errors == before;
}

static void read_target(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    struct job *job = &((struct vertex_draft *)into)->draft.job;
    size_t before = reader->diag->errors;
    field_real(reader, at, field, into);
    job->until.has_target = reader->diag->errors == before;
}

static void read_retries(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    ((struct vertex_draft *)into)->has_retries = true;
    field_whole(reader, at, field, into);
}

static void read_constraints(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    ((struct vertex_draft *)into)->draft.constraints = at;
    field_texts(reader, at, field, into);
}

static const struct field_choice args_modes[] = {{"auto", -1, ARGS_AUTO},
                                                 {"append", -1, ARGS_APPEND},
                                                 {"none", -1, ARGS_NONE},
                                                 {NULL, 0, 0}};

static const struct field hypertune_rows[] = {
    {.name = "name", .read = job_name, .offset = JOB(name)},
    {"seed", read_seed, JOB(seed), 0, INT64_MAX, NULL},
    {.name = "target", .read = read_target, .offset = JOB(until.target)},
    {"retries", read_retries, JOB(retries), 0, HT_MAX_RETRIES, NULL},
    {"graceMs", field_whole, JOB(grace_ms), 0, INT64_C(86400000), NULL},
    {.name = "argsMode",
     .read = field_choose,
     .offset = JOB(args_mode),
     .choices = args_modes},
    {.name = "substitute", .read = field_flag, .offset = JOB(substitute)},
    {.name = "workdir", .read = field_text, .offset = JOB(workdir)},
    {"passEnv", field_texts, JOB(pass_env), 0, HT_MAX_ENV, NULL},
    {.name = "capturedEnv",
     .read = read_variables,
     .offset = JOB(captured_env)},
    {"cpus", field_real, JOB(cpus), 0, 1000000, NULL},
    {"memoryBytes", field_whole, JOB(memory_bytes), 0, INT64_MAX, NULL},
    {"volumes", field_texts, JOB(volumes), 0, HT_MAX_ENV, NULL},
    {"stdoutPatterns", field_texts, JOB(stdout_patterns), 0, HT_MAX_ENV, NULL},
    {.name = "metricsFile", .read = field_text, .offset = JOB(metrics_file)},
    {"constraints", read_constraints, JOB(constraints), 0, HT_MAX_ENV, NULL},
    {.name = "parameters",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, extras)},
    {0}};

static void read_hypertune(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)field;
    field_read_map(reader, at, hypertune_rows, into);
}

/* ---- the job ---- */

static const struct field job_rows[] = {
    {.name = "displayName", .read = field_text, .offset = JOB(display)},
    {.name = "studySpec", .read = vertex_study},
    {.name = "trialJobSpec", .read = read_trial_job},
    {"maxTrialCount", field_whole, JOB(max_trials), 1, HT_MAX_TRIALS, NULL},
    {"parallelTrialCount", field_whole, JOB(parallel), 1, HT_MAX_PARALLEL,
     NULL},
    {"maxFailedTrialCount", field_whole, JOB(max_failed), 0, INT32_MAX, NULL},
    {"labels", field_pairs, JOB(labels), 0, 64, NULL},
    {.name = "hypertune", .read = read_hypertune},
    {.name = "encryptionSpec", .read = vertex_unsupported},
    /* The server's own members, that a client may send back as it got them. */
    {.name = "name", .read = field_skip},
    {.name = "state", .read = field_skip},
    {.name = "createTime", .read = field_skip},
    {.name = "startTime", .read = field_skip},
    {.name = "endTime", .read = field_skip},
    {.name = "updateTime", .read = field_skip},
    {.name = "error", .read = field_skip},
    {.name = "trials", .read = field_skip},
    {.name = "etag", .read = field_skip},
    {.name = "satisfiesPzs", .read = field_skip},
    {.name = "satisfiesPzi", .read = field_skip},
    {.name = "hypertuneStatus", .read = field_skip},
    {0}};

static void require(const struct field_reader *reader, struct place root,
                    const char *key, const char *why)
{
    struct place at = field_member(reader, root, key);
    if (at.node == NULL)
        field_error(reader, (struct place){root.node, at.path},
                    "is missing: %s", why);
}

/* Where Google has a word of its own for something of ours. */
static void adopt_google(struct vertex_draft *vertex)
{
    struct job *job = &vertex->draft.job;
    if (vertex->study_trials > 0 && vertex->study_trials < job->max_trials)
        job->max_trials = vertex->study_trials;
    if (vertex->disable_retries && !vertex->has_retries)
        job->retries = 0;
    if (job->display == NULL)
        job->display = job->name;
}

struct job *job_read_vertex(const struct node *root, enum job_kind kind,
                            struct diag *diag)
{
    const struct field_reader reader = {
        .diag = diag, .arena = diag->arena, .null_is_absent = true};
    struct place at = {.node = root, .path = ""};
    struct vertex_draft *vertex = arena_alloc(diag->arena, 1, sizeof *vertex);
    struct job *job = &vertex->draft.job;
    *job = (struct job){.kind = kind,
                        .max_trials = JOB_MAX_TRIALS,
                        .parallel = JOB_PARALLEL,
                        .retries = JOB_RETRIES,
                        .grace_ms = JOB_GRACE_MS};
    field_read_map(&reader, at, job_rows, vertex);
    if (root->kind != NODE_MAP)
        return NULL;
    require(&reader, at, "studySpec", "what to search");
    require(&reader, at, "trialJobSpec", "what each trial runs");
    struct place trial_job = field_member(&reader, at, "trialJobSpec");
    if (trial_job.node && trial_job.node->kind == NODE_MAP)
        require(&reader, trial_job, "workerPoolSpecs", "what each trial runs");
    vertex_finish_study(&reader, vertex);
    job_check(&reader, &vertex->draft);
    if (diag->errors > 0)
        return NULL;
    adopt_google(vertex);
    return job;
}
