/* vertex_read.c - a job from the Vertex form. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/form/form.h"
#include "proto/form/vertex.h"
#include "proto/job/check.h"
#include "proto/job/draft.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/notify.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"
#include "proto/job/trackers.h"

#define DRAFT(member) offsetof(struct vertex_draft, member)
#define JOB(member) DRAFT(draft.job.member)

bool vertex_has_place(const char *path)
{
    static const char *const roots[] = {"studySpec", "trialJobSpec", "jobSpec",
                                        "encryptionSpec"};
    size_t len = strcspn(path, ".[");
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strlen(roots[i]) == len && strncmp(path, roots[i], len) == 0)
            return true;
    return false;
}

/* What other forms keep, by its path there. */
static void read_kept(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    (void)into;
    if (at.node->kind != NODE_MAP || at.node->count > (size_t)field->max) {
        field_error(reader, at, "must be a map of at most %d values",
                    (int)field->max);
        return;
    }
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        const char *path = item->node->key;
        if (!kept_is_path(path))
            field_key_error(reader, *item, "is no path of a member");
        else if (vertex_has_place(path))
            field_key_error(reader, *item, "has its own place");
        else
            kept_silently(reader, (struct place){item->node, path});
    }
}

/* Google's name for a Bayesian search is to name none; ours tells it from the
 * server's choice. */
static void adopt_algorithm(const struct field_reader *reader,
                            struct vertex_draft *vertex)
{
    static const struct field_choice algorithms[] = {
        {"bayesian", -1, ALGORITHM_BAYESIAN}, {NULL, 0, 0}};
    static const struct field row = {.name = "algorithm",
                                     .choices = algorithms};
    enum job_algorithm *algorithm = &vertex->draft.job.algorithm;
    if (vertex->algorithm.node == NULL)
        return;
    if (*algorithm == ALGORITHM_DEFAULT)
        field_choose(reader, vertex->algorithm, &row, algorithm);
    else
        field_error(reader, vertex->algorithm,
                    "studySpec.algorithm names another");
}

/* Google's clients see the rule by Google's name; ours says its options too. */
static void adopt_early_stop(const struct field_reader *reader,
                             struct vertex_draft *vertex)
{
    static const struct field row = {.name = "earlyStopping"};
    struct early_stop *stop = &vertex->draft.job.early_stop;
    const enum job_early_stop googles = stop->rule;
    if (vertex->early_stop.node == NULL)
        return;
    *stop = (struct early_stop){0};
    job_early_stop(reader, vertex->early_stop, &row, &vertex->draft);
    if (googles != EARLY_NONE && stop->rule != googles)
        field_error(reader, vertex->early_stop, "studySpec names the rule %s",
                    job_early_stop_name(googles));
}

static const struct field hypertune_rows[] = {
    {"name", job_name, .offset = JOB(name)},
    {"form", field_choose, JOB(form), .choices = job_dialects},
    {"algorithm", field_place, .offset = DRAFT(algorithm)},
    {"seed", field_whole, JOB(seed), .max = INT64_MAX, .said = JOB(has_seed)},
    {"target", field_real, JOB(until.target), .said = JOB(until.has_target)},
    {"cancelAfter", field_map, JOB(cancel_after), .rows = job_cancel_rows},
    {"retries", field_whole, JOB(retries), .max = HT_MAX_RETRIES,
     .said = DRAFT(has_retries)},
    {"graceMs", field_whole, JOB(grace_ms), .max = INT64_C(86400000)},
    {"silenceMs", field_whole, JOB(silence_ms), .min = 1,
     .max = INT64_C(316224000000)}, /* ten years, as native durations */
    {"onSilence", field_choose, JOB(on_silence), .choices = job_on_silences},
    {"argsMode", field_choose, JOB(args_mode), .choices = job_args_modes},
    {"substitute", field_flag, .offset = JOB(substitute)},
    {"chief", field_flag, .offset = JOB(chief)},
    {"jobDir", field_text, .offset = JOB(job_dir)},
    {"workdir", job_workdir, .offset = DRAFT(draft)},
    {"ownWorkdir", field_flag, .offset = JOB(own_workdir)},
    {"code", field_map, JOB(code), .rows = job_code_rows},
    {"passEnv", field_variable_names, JOB(pass_env), .max = HT_MAX_ENV},
    {"capturedEnv", vertex_variables, .offset = JOB(captured_env)},
    {"cpus", field_real, JOB(cpus), .max = 1000000},
    {"memoryBytes", field_whole, JOB(memory_bytes), .max = INT64_MAX},
    {"gpu", job_gpu_part, DRAFT(gpu_part), .place = DRAFT(part)},
    {"gpuMemoryBytes", field_whole, DRAFT(gpu_memory), .min = 1,
     .max = INT64_MAX},
    {"runOn", field_map, JOB(run_on), .rows = job_run_on_rows},
    {"kubernetes", field_map, JOB(kubernetes), .rows = job_kubernetes_rows,
     .place = DRAFT(draft.kubernetes), .said = JOB(kubernetes.said)},
    {"slurm", field_map, JOB(slurm), .rows = job_slurm_rows,
     .place = DRAFT(draft.slurm), .said = JOB(slurm.said)},
    {"priority", field_whole, JOB(priority), .min = -RUN_ON_PRIORITY,
     .max = RUN_ON_PRIORITY},
    {"replicas", field_place, .offset = DRAFT(resources)},
    {"volumes", job_volumes, DRAFT(draft), .max = HT_MAX_ENV},
    {"container", field_map, JOB(container), .rows = job_container_rows},
    {"secrets", job_secrets, .offset = DRAFT(draft)},
    {"reporter", field_choose, JOB(reporter), .choices = job_reporters},
    {"rewriteGs", field_flag, .offset = JOB(rewrite_gcs)},
    {"keep", field_map, JOB(keep_best), .rows = job_keep_rows},
    {"earlyStopping", field_place, .offset = DRAFT(early_stop)},
    {"stdoutPatterns", field_texts, JOB(stdout_patterns), .max = HT_MAX_ENV},
    {"metricsFile", field_text, .offset = JOB(metrics_file)},
    {"metricsEvents", field_text, .offset = JOB(metrics_events)},
    {"metricDoctor", field_choose, JOB(metric_doctor),
     .choices = job_metric_doctors},
    {"notify", job_notify, .offset = JOB(notify)},
    {"trackers", field_map, JOB(trackers), .rows = job_tracker_rows},
    {"constraints", field_texts, JOB(constraints), .max = HT_MAX_ENV,
     .place = DRAFT(draft.constraints)},
    {"warmStart", field_texts, JOB(warm_start), .max = HT_MAX_PRIORS},
    {"parameters", field_place, .offset = DRAFT(extras)},
    {"labels", field_pairs, JOB(labels), .max = 64},
    {"openSpace", field_flag, .offset = JOB(space.open)},
    {"parameterOrder", field_texts, DRAFT(order), .max = HT_MAX_PARAMETERS,
     .place = DRAFT(order_at)},
    {"kept", read_kept, .max = HT_MAX_ENV},
    {0}};

/* ---- rows ---- */

/* Of every kind: ours, and the server's own, which a client may send back as
 * it got them. */
static const struct field common_rows[] = {
    {"displayName", field_text, .offset = JOB(display)},
    {"hypertune", field_map, .rows = hypertune_rows},
    {.name = "hypertuneStatus", .read = field_skip},
    {.name = "name", .read = field_skip},
    {.name = "state", .read = field_skip},
    {.name = "createTime", .read = field_skip},
    {.name = "startTime", .read = field_skip},
    {.name = "endTime", .read = field_skip},
    {.name = "updateTime", .read = field_skip},
    {.name = "error", .read = field_skip},
    {.name = "etag", .read = field_skip},
    {.name = "trials", .read = field_skip},
    {.name = "inactiveReason", .read = field_skip},
    {.name = "satisfiesPzs", .read = field_skip},
    {.name = "satisfiesPzi", .read = field_skip},
    {.name = "webAccessUris", .read = field_skip},
    {0}};

static const struct field job_rows[] = {
    {"labels", field_pairs, JOB(labels), .max = 64},
    {"encryptionSpec", kept_map, .rows = kept_encryption_rows},
    {.rows = common_rows}};

static const struct field tuning_rows[] = {
    {.name = "studySpec", .read = vertex_study},
    {"trialJobSpec", field_map, .rows = vertex_job_spec_rows},
    {"maxTrialCount", field_whole, JOB(max_trials), .min = 1,
     .max = HT_MAX_TRIALS},
    {"parallelTrialCount", field_whole, JOB(parallel), .min = 1,
     .max = HT_MAX_PARALLEL},
    {"maxFailedTrialCount", field_whole, JOB(max_failed), .max = INT32_MAX},
    {.rows = job_rows}};

/* Google's Study has no word for trials that are open at once. */
static const struct field study_rows[] = {
    {.name = "studySpec", .read = vertex_study},
    {"parallelTrialCount", field_whole, JOB(parallel), .max = HT_MAX_PARALLEL},
    {.rows = common_rows}};

static const struct field custom_rows[] = {
    {"jobSpec", field_map, .rows = vertex_job_spec_rows}, {.rows = job_rows}};

/* ---- the resource ---- */

static void require(const struct field_reader *reader, struct place root,
                    const char *key, const char *why)
{
    if (field_member(reader, root, key).node == NULL)
        field_missing(reader, root, key, why);
}

static void require_all(const struct field_reader *reader, struct place root,
                        enum job_kind kind)
{
    const char *spec = kind == JOB_CUSTOM ? "jobSpec" : "trialJobSpec";
    const char *why =
        kind == JOB_CUSTOM ? "what to run" : "what each trial runs";
    if (kind != JOB_CUSTOM)
        require(reader, root, "studySpec", "what to search");
    if (kind == JOB_STUDY)
        return;
    require(reader, root, spec, why);
    struct place job_spec = field_member(reader, root, spec);
    if (job_spec.node && job_spec.node->kind == NODE_MAP)
        require(reader, job_spec, "workerPoolSpecs", why);
}

static struct job defaults(enum job_kind kind)
{
    static const int64_t max_trials[] = {JOB_MAX_TRIALS, 0, 1};
    return (struct job){.kind = kind,
                        .max_trials = max_trials[kind],
                        .parallel = kind == JOB_STUDY ? 0 : JOB_PARALLEL,
                        .retries = JOB_RETRIES,
                        .grace_ms = JOB_GRACE_MS};
}

/* Where Google has an own word for something of ours. */
static void adopt_google(struct vertex_draft *vertex)
{
    struct job *job = &vertex->draft.job;
    if (vertex->study_trials > 0 &&
        (job->max_trials == 0 || vertex->study_trials < job->max_trials))
        job->max_trials = vertex->study_trials;
    if (vertex->disable_retries && !vertex->has_retries)
        job->retries = 0;
    if (job->display == NULL)
        job->display = job->name;
    job->until.let_finish = !vertex->should_stop_asap;
}

struct job *vertex_read(const struct node *root, enum job_kind kind,
                        struct diag *diag)
{
    static const struct field *const rows[] = {tuning_rows, study_rows,
                                               custom_rows};
    struct kept_list kept, numbered;
    const struct field_reader reader = {.diag = diag,
                                        .arena = diag->arena,
                                        .null_is_absent = true,
                                        .kept = &kept,
                                        .numbered = &numbered};
    struct place at = {.node = root, .path = ""};
    struct vertex_draft *vertex = arena_alloc(diag->arena, 1, sizeof *vertex);
    struct job *job = &vertex->draft.job;
    kept_init(&kept);
    kept_init(&numbered);
    *job = defaults(kind);
    field_read_map(&reader, at, rows[kind], vertex);
    if (root->kind != NODE_MAP)
        return NULL;
    require_all(&reader, at, kind);
    vertex_finish_pools(&reader, vertex);
    vertex_finish_study(&reader, vertex);
    adopt_algorithm(&reader, vertex);
    adopt_early_stop(&reader, vertex);
    adopt_google(vertex);
    job_check(&reader, &vertex->draft);
    job->kept = kept.first;
    job->numbered = numbered.first;
    return diag->errors > 0 ? NULL : job;
}

bool vertex_read_space(const struct node *list, const char *path,
                       struct diag *diag, struct space *space)
{
    const struct field_reader reader = {
        .diag = diag, .arena = diag->arena, .null_is_absent = true};
    struct vertex_draft *vertex = arena_alloc(diag->arena, 1, sizeof *vertex);
    vertex->draft.parameters = (struct place){list, path};
    vertex->draft.job.space.open = true;
    vertex_read_parameters(&reader, vertex);
    if (vertex->draft.conditions != NULL)
        field_error(&reader, vertex->draft.parameters,
                    "parameters of an open space have no conditions");
    if (diag->errors > 0)
        return false;
    *space = vertex->draft.job.space;
    return true;
}

/* ---- stored text ---- */

static enum job_kind kind_of(const struct node *root)
{
    if (node_find(root, "jobSpec"))
        return JOB_CUSTOM;
    return node_find(root, "trialJobSpec") ? JOB_TUNING : JOB_STUDY;
}

enum ht_status vertex_parse(struct arena *arena, const char *json,
                            struct job **job, struct ht_error *err)
{
    struct diag diag;
    size_t len = strlen(json);
    diag_init(&diag, arena, "job", json, len);
    const struct node *root = node_read_json(arena, json, len, &diag);
    struct job *read = root ? vertex_read(root, kind_of(root), &diag) : NULL;
    if (read) {
        *job = read;
        return HT_OK;
    }
    const struct diag_item *item = diag.first;
    while (item && item->kind != DIAG_ERROR)
        item = item->next;
    return ht_fail(err, HT_CORRUPT, "stored job: %s: %s",
                   item ? item->path : "",
                   item ? item->text : "cannot be read");
}
