#include "proto/form/native.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/container.h"
#include "proto/job/early_stop.h"
#include "proto/job/notify.h"

#define DRAFT(member) offsetof(struct native_draft, member)
#define JOB(member) offsetof(struct native_draft, draft.job.member)

/* ---- scalars of their own kind ---- */

static void read_version(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    (void)field;
    (void)into;
    int64_t version;
    if (!node_int64(at.node, &version))
        field_wrong_kind(reader, at, "the number 1");
    else if (version != 1)
        field_error(reader, at, "this version reads spec: 1 only, not %s",
                    at.node->text);
}

static void read_algorithm(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    struct job_draft *draft = &((struct native_draft *)into)->draft;
    draft->algorithm = at;
    field_choose(reader, at, field, into);
}

static void read_constraints(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    ((struct native_draft *)into)->draft.constraints = at;
    field_texts(reader, at, field, into);
}

static void read_seed(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    size_t before = reader->diag->errors;
    field_whole(reader, at, field, into);
    ((struct native_draft *)into)->draft.job.has_seed =
        reader->diag->errors == before;
}

static void read_target(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    size_t before = reader->diag->errors;
    field_real(reader, at, field, into);
    ((struct native_draft *)into)->draft.job.until.has_target =
        reader->diag->errors == before;
}

/* One text or a list of them. */
static void read_text_or_texts(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    if (at.node->kind != NODE_STRING) {
        field_texts(reader, at, field, into);
        return;
    }
    const char **items = arena_alloc(reader->arena, 1, sizeof *items);
    items[0] = at.node->text;
    *(struct strings *)((char *)into + field->offset) =
        (struct strings){.n = 1, .items = items};
}

static void read_stdout(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    ((struct native_draft *)into)->stdout_patterns = at;
    read_text_or_texts(reader, at, field, into);
}

static const struct field own_workdir_rows[] = {
    {.name = "own", .read = job_workdir}, {0}};

/* A folder, "own" for a copy of the spec's in each trial, or {own: FOLDER}. A
 * folder of that name is "./own". */
static void read_workdir(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    struct job_draft *draft =
        (struct job_draft *)((char *)into + field->offset);
    const char *text = node_string(at.node);
    if (at.node->kind == NODE_MAP)
        field_read_map(reader, at, own_workdir_rows, draft);
    else if (text == NULL || strcmp(text, "own") != 0)
        job_workdir(reader, at, field, into);
    draft->workdir = at;
    draft->job.own_workdir =
        at.node->kind == NODE_MAP || (text != NULL && strcmp(text, "own") == 0);
}

/* Where no folder is current yet, a relative path would mean anything. */
static void read_output(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    ((struct native_draft *)into)->draft.output = at;
    field_text(reader, at, field, into);
    if (at.node->kind != NODE_STRING || at.node->text[0] == '/' ||
        strncmp(at.node->text, "gs://", 5) == 0)
        return;
    field_error(reader, at, "\"%s\" is no absolute path", at.node->text);
    diag_hint(reader->diag, "such as /data/out");
}

/* ---- tables ---- */

static void read_args_mode(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    ((struct native_draft *)into)->args_mode = at;
    if (at.node->kind != NODE_LIST) {
        field_choose(reader, at, field, into);
        return;
    }
    field_wrong_kind(reader, at, "auto, append or none");
    diag_hint(reader->diag, "write the arguments into command");
}

static const struct field_choice algorithms[] = {
    {"bayesian", -1, ALGORITHM_BAYESIAN},
    {"grid", -1, ALGORITHM_GRID},
    {"random", -1, ALGORITHM_RANDOM},
    {NULL, 0, 0}};
static const struct field_choice selections[] = {
    {"last", -1, SELECT_LAST}, {"best", -1, SELECT_BEST}, {NULL, 0, 0}};
static const struct field_choice noises[] = {
    {"low", -1, JOB_NOISE_LOW}, {"high", -1, JOB_NOISE_HIGH}, {NULL, 0, 0}};
static const struct field_choice args_modes[] = {{"auto", -1, ARGS_AUTO},
                                                 {"append", -1, ARGS_APPEND},
                                                 {"none", -1, ARGS_NONE},
                                                 {NULL, 0, 0}};

static const struct field until_rows[] = {
    {.name = "target", .read = read_target, .offset = JOB(until.target)},
    {.name = "time",
     .read = field_duration,
     .offset = JOB(until.time_ms),
     .min = 1},
    {.name = "end", .read = field_moment, .offset = JOB(until.end_ms)},
    {"noProgress", field_whole, JOB(until.no_progress), 1, HT_MAX_TRIALS, NULL},
    {.name = "noProgressTime",
     .read = field_duration,
     .offset = JOB(until.no_progress_ms),
     .min = 1},
    {"minTrials", field_whole, JOB(until.min_trials), 1, HT_MAX_TRIALS, NULL},
    {.name = "minTime",
     .read = field_duration,
     .offset = JOB(until.min_time_ms),
     .min = 1},
    {.name = "minEnd", .read = field_moment, .offset = JOB(until.min_end_ms)},
    {.name = "letFinish", .read = field_flag, .offset = JOB(until.let_finish)},
    {0}};
static const struct field resource_rows[] = {
    {"cpus", field_real, JOB(cpus), 0, 1000000, NULL},
    {"memory", field_bytes, JOB(memory_bytes), 0, INT64_MAX, NULL},
    {"gpus", field_whole, DRAFT(pools[0].pool.gpus), 0, 1024, NULL},
    {0}};
static const struct field metric_rows[] = {
    {"stdout", read_stdout, JOB(stdout_patterns), 0, HT_MAX_METRICS, NULL},
    {.name = "file", .read = native_path, .offset = JOB(metrics_file)},
    {0}};

static void read_until(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    field_read_map(reader, at, until_rows, into);
}

static void read_resources(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)field;
    field_read_map(reader, at, resource_rows, into);
}

static void read_metrics(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    (void)field;
    field_read_map(reader, at, metric_rows, into);
}

static const struct field root_rows[] = {
    {.name = "spec", .read = read_version},
    {.name = "name", .read = job_new_name, .offset = JOB(name)},
    {"labels", field_pairs, JOB(labels), 0, 64, NULL},
    {.name = "goal", .read = native_goal},
    {.name = "safety", .read = native_safety},
    {.name = "parameters", .read = native_parameters},
    {"constraints", read_constraints, JOB(constraints), 0, HT_MAX_ENV, NULL},
    {"warmStart", read_text_or_texts, JOB(warm_start), 0, HT_MAX_PRIORS, NULL},
    {.name = "algorithm",
     .read = read_algorithm,
     .offset = JOB(algorithm),
     .choices = algorithms},
    {"seed", read_seed, JOB(seed), 0, INT64_MAX, NULL},
    {"trials", field_whole, JOB(max_trials), 1, HT_MAX_TRIALS, NULL},
    {"parallel", field_whole, JOB(parallel), 1, HT_MAX_PARALLEL, NULL},
    {.name = "until", .read = read_until},
    {.name = "cancelAfter",
     .read = job_cancel_after,
     .offset = JOB(cancel_after)},
    {.name = "trialTimeout",
     .read = field_duration,
     .offset = JOB(trial_timeout_ms),
     .min = 1},
    {"maxFailed", field_whole, JOB(max_failed), 0, HT_MAX_TRIALS, NULL},
    {"retries", field_whole, JOB(retries), 0, HT_MAX_RETRIES, NULL},
    {.name = "grace", .read = field_duration, .offset = JOB(grace_ms)},
    {.name = "earlyStopping", .read = job_early_stop, .offset = DRAFT(draft)},
    {.name = "selection",
     .read = field_choose,
     .offset = JOB(selection),
     .choices = selections},
    {.name = "noise",
     .read = field_choose,
     .offset = JOB(noise),
     .choices = noises},
    {.name = "command", .read = native_command, .offset = DRAFT(pools[0])},
    {.name = "args",
     .read = read_args_mode,
     .offset = JOB(args_mode),
     .choices = args_modes},
    {.name = "image", .read = job_image, .offset = DRAFT(pools[0].pool.image)},
    {.name = "container", .read = job_container, .offset = DRAFT(draft)},
    {.name = "workdir", .read = read_workdir, .offset = DRAFT(draft)},
    {.name = "outputDir", .read = read_output, .offset = JOB(output_dir)},
    {.name = "jobDir", .read = native_path, .offset = JOB(job_dir)},
    {"env", native_env, DRAFT(pools[0]), 0, HT_MAX_ENV, NULL},
    {"passEnv", field_variable_names, JOB(pass_env), 0, HT_MAX_ENV, NULL},
    {.name = "secrets", .read = job_secrets, .offset = DRAFT(draft)},
    {.name = "serviceAccount",
     .read = job_service_account,
     .offset = JOB(service_account)},
    {.name = "metrics", .read = read_metrics},
    {.name = "metricDoctor",
     .read = field_choose,
     .offset = JOB(metric_doctor),
     .choices = job_metric_doctors},
    {.name = "notify", .read = job_notify, .offset = JOB(notify)},
    {.name = "reporter",
     .read = field_choose,
     .offset = JOB(reporter),
     .choices = job_reporters},
    {.name = "machine",
     .read = job_machine,
     .offset = DRAFT(pools[0].pool.machine)},
    {.name = "resources", .read = read_resources},
    {"volumes", job_volumes, DRAFT(draft), 0, HT_MAX_ENV, NULL},
    {.name = "rewriteGs", .read = field_flag, .offset = JOB(rewrite_gcs)},
    {.name = "keep", .read = job_keep, .offset = DRAFT(draft)},
    {.name = "replicas", .read = native_replicas},
    {0}};

static void list_fields(const char *prefix, const struct field rows[],
                        struct text *out)
{
    for (; rows->name; rows++)
        text_printf(out, "%s%s\n", prefix, rows->name);
}

void native_fields(struct text *out)
{
    list_fields("", root_rows, out);
    list_fields("parameters.*.", native_parameter_rows, out);
    list_fields("until.", until_rows, out);
    list_fields("cancelAfter.", job_cancel_rows, out);
    list_fields("earlyStopping.", job_early_stop_rows, out);
    list_fields("resources.", resource_rows, out);
    list_fields("workdir.", own_workdir_rows, out);
    list_fields("metrics.", metric_rows, out);
    list_fields("container.", job_container_rows, out);
    list_fields("secrets.*.", job_secret_rows, out);
    list_fields("keep.", job_keep_rows, out);
    list_fields("replicas.", native_replicas_rows, out);
    list_fields("replicas.*.", native_replica_rows, out);
    list_fields("replicas.*.resources.", native_resource_rows, out);
}

/* ---- the job ---- */

/* Was a field asked for under another name? That fault has been told. */
static bool is_misnamed(const struct field_reader *reader,
                        const struct node *root, const char *key)
{
    const char *const names[] = {key, NULL};
    for (const struct node *node = root->first; node; node = node->next)
        if (!field_is_known(root_rows, node->key) &&
            field_meant(reader, node->key, names))
            return true;
    return false;
}

static void require(const struct field_reader *reader, const struct node *root,
                    const char *key, const char *hint)
{
    if (node_find(root, key) || is_misnamed(reader, root, key))
        return;
    field_error(reader, (struct place){root, key}, "is missing");
    diag_hint(reader->diag, "%s", hint);
}

static void require_all(const struct field_reader *reader,
                        const struct node *root)
{
    require(reader, root, "goal", "add \"goal: maximize accuracy\"");
    require(reader, root, "parameters",
            "add \"parameters: {lr: {type: double, min: 0.001, max: 0.1}}\"");
    if (node_find(root, "image") == NULL)
        require(reader, root, "command",
                "add \"command: [python3, train.py]\"");
}

struct job *native_read(const struct node *root, struct diag *diag)
{
    const struct field_reader reader = {
        .diag = diag, .arena = diag->arena, .synonyms = native_synonyms};
    struct place at = {.node = root, .path = ""};
    struct native_draft *native = arena_alloc(diag->arena, 1, sizeof *native);
    struct job *job = &native->draft.job;
    *job = (struct job){.form = JOB_NATIVE,
                        .max_trials = JOB_MAX_TRIALS,
                        .parallel = JOB_PARALLEL,
                        .retries = JOB_RETRIES,
                        .grace_ms = JOB_GRACE_MS,
                        .substitute = true};
    field_read_map(&reader, at, root_rows, native);
    if (root->kind != NODE_MAP)
        return NULL;
    require_all(&reader, root);
    native_finish_pools(&reader, native);
    job_check(&reader, &native->draft);
    native_lint(&reader, native);
    job->display = job->name;
    return diag->errors > 0 ? NULL : job;
}
