#include "proto/form/native.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/form/form.h"
#include "proto/job/check.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/notify.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"
#include "proto/job/trackers.h"

#define DRAFT(member) offsetof(struct native_draft, member)
#define JOB(member) offsetof(struct native_draft, draft.job.member)

/* ---- scalars that only this form has ---- */

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
    *(struct strings *)into = (struct strings){.n = 1, .items = items};
}

static const struct field own_workdir_rows[] = {
    {.name = "own", .read = job_workdir}, {0}};

/* A folder, "own" for a copy of the spec's in each trial, or {own: FOLDER}. A
 * folder of that name is "./own". */
static void read_workdir(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    struct job_draft *draft = into;
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
    if (at.node->kind != NODE_LIST) {
        field_choose(reader, at, field, into);
        return;
    }
    field_wrong_kind(reader, at, "auto, append or none");
    diag_hint(reader->diag, "write the arguments into command");
}

const struct field_choice native_algorithms[] = {
    {"bayesian", -1, ALGORITHM_BAYESIAN},
    {"grid", -1, ALGORITHM_GRID},
    {"random", -1, ALGORITHM_RANDOM},
    {NULL, 0, 0}};
const struct field_choice native_selections[] = {
    {"last", -1, SELECT_LAST}, {"best", -1, SELECT_BEST}, {NULL, 0, 0}};
const struct field_choice native_noises[] = {
    {"low", -1, JOB_NOISE_LOW}, {"high", -1, JOB_NOISE_HIGH}, {NULL, 0, 0}};

static const struct field until_rows[] = {
    {"target", field_real, JOB(until.target), .said = JOB(until.has_target)},
    {"time", field_duration, JOB(until.time_ms), .min = 1},
    {"end", field_moment, .offset = JOB(until.end_ms)},
    {"noProgress", field_whole, JOB(until.no_progress), .min = 1,
     .max = HT_MAX_TRIALS},
    {"noProgressTime", field_duration, JOB(until.no_progress_ms), .min = 1},
    {"minTrials", field_whole, JOB(until.min_trials), .min = 1,
     .max = HT_MAX_TRIALS},
    {"minTime", field_duration, JOB(until.min_time_ms), .min = 1},
    {"minEnd", field_moment, .offset = JOB(until.min_end_ms)},
    {"letFinish", field_flag, .offset = JOB(until.let_finish)},
    {0}};
static const struct field resource_rows[] = {
    {"cpus", field_real, JOB(cpus), .max = 1000000},
    {"memory", field_bytes, JOB(memory_bytes), .max = INT64_MAX},
    {"gpus", field_whole, DRAFT(pools[0].pool.gpus), .max = 1024},
    {"gpu", job_gpu_part, DRAFT(pools[0].pool.gpu_part),
     .place = DRAFT(pools[0].part)},
    {"gpuMemory", field_bytes, DRAFT(pools[0].pool.gpu_memory), .min = 1,
     .max = INT64_MAX},
    {0}};
static const struct field metric_rows[] = {
    {"stdout", read_text_or_texts, JOB(stdout_patterns), .max = HT_MAX_METRICS,
     .place = DRAFT(stdout_patterns)},
    {"file", native_path, .offset = JOB(metrics_file)},
    {"events", native_path, .offset = JOB(metrics_events)},
    {0}};

static const struct field root_rows[] = {
    {.name = "spec", .read = read_version},
    {"name", job_new_name, .offset = JOB(name)},
    {"labels", field_pairs, JOB(labels), .max = 64},
    {.name = "goal", .read = native_goal},
    {.name = "safety", .read = native_safety},
    {.name = "parameters", .read = native_parameters},
    {"constraints", field_texts, JOB(constraints), .max = HT_MAX_ENV,
     .place = DRAFT(draft.constraints)},
    {"warmStart", read_text_or_texts, JOB(warm_start), .max = HT_MAX_PRIORS},
    {"algorithm", field_choose, JOB(algorithm), .choices = native_algorithms},
    {"seed", field_whole, JOB(seed), .max = INT64_MAX, .said = JOB(has_seed)},
    {"trials", field_whole, JOB(max_trials), .min = 1, .max = HT_MAX_TRIALS},
    {"parallel", field_whole, JOB(parallel), .min = 1, .max = HT_MAX_PARALLEL},
    {"until", field_map, .rows = until_rows},
    {"cancelAfter", field_map, JOB(cancel_after), .rows = job_cancel_rows},
    {"trialTimeout", field_duration, JOB(trial_timeout_ms), .min = 1},
    {"silence", field_duration, JOB(silence_ms), .min = 1},
    {"onSilence", field_choose, JOB(on_silence), .choices = job_on_silences},
    {"maxFailed", field_whole, JOB(max_failed), .max = HT_MAX_TRIALS},
    {"retries", field_whole, JOB(retries), .max = HT_MAX_RETRIES},
    {"grace", field_duration, .offset = JOB(grace_ms)},
    {"earlyStopping", job_early_stop, .offset = DRAFT(draft)},
    {"selection", field_choose, JOB(selection), .choices = native_selections},
    {"noise", field_choose, JOB(noise), .choices = native_noises},
    {"command", native_command, .offset = DRAFT(pools[0])},
    {"args", read_args_mode, JOB(args_mode), .choices = job_args_modes},
    {"image", field_word, DRAFT(pools[0].pool.image),
     .fault = container_image_fault},
    {"container", field_map, JOB(container), .rows = job_container_rows},
    {"workdir", read_workdir, .offset = DRAFT(draft)},
    {"code", field_choose, JOB(code.way), .choices = job_code_ways},
    {"outputDir", read_output, JOB(output_dir), .place = DRAFT(draft.output)},
    {"jobDir", native_path, .offset = JOB(job_dir)},
    {"env", field_variables, DRAFT(pools[0].pool.env), .max = HT_MAX_ENV,
     .place = DRAFT(pools[0].env)},
    {"passEnv", field_variable_names, JOB(pass_env), .max = HT_MAX_ENV},
    {"secrets", job_secrets, .offset = DRAFT(draft)},
    {"serviceAccount", field_word, JOB(service_account),
     .fault = container_account_fault},
    {"metrics", field_map, .rows = metric_rows},
    {"metricDoctor", field_choose, JOB(metric_doctor),
     .choices = job_metric_doctors},
    {"notify", job_notify, .offset = JOB(notify)},
    {"trackers", field_map, JOB(trackers), .rows = job_tracker_rows},
    {"reporter", field_choose, JOB(reporter), .choices = job_reporters},
    {"machine", field_word, DRAFT(pools[0].pool.machine),
     .fault = container_machine_fault},
    {"resources", field_map, .rows = resource_rows},
    {"runOn", field_map, JOB(run_on), .rows = job_run_on_rows},
    {"kubernetes", field_map, JOB(kubernetes), .rows = job_kubernetes_rows,
     .place = DRAFT(draft.kubernetes), .said = JOB(kubernetes.said)},
    {"slurm", field_map, JOB(slurm), .rows = job_slurm_rows,
     .place = DRAFT(draft.slurm), .said = JOB(slurm.said)},
    {"priority", field_whole, JOB(priority), .min = -RUN_ON_PRIORITY,
     .max = RUN_ON_PRIORITY},
    {"volumes", job_volumes, DRAFT(draft), .max = HT_MAX_ENV},
    {"rewriteGs", field_flag, .offset = JOB(rewrite_gcs)},
    {"keep", field_map, JOB(keep_best), .rows = job_keep_rows},
    {"replicas", field_map, .rows = native_replicas_rows,
     .place = DRAFT(draft.pools)},
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
    list_fields("parameters.*.former.", job_former_rows, out);
    list_fields("until.", until_rows, out);
    list_fields("cancelAfter.", job_cancel_rows, out);
    list_fields("earlyStopping.", job_early_stop_rows, out);
    list_fields("resources.", resource_rows, out);
    list_fields("runOn.", job_run_on_rows, out);
    list_fields("kubernetes.", job_kubernetes_rows, out);
    list_fields("slurm.", job_slurm_rows, out);
    list_fields("workdir.", own_workdir_rows, out);
    list_fields("metrics.", metric_rows, out);
    list_fields("container.", job_container_rows, out);
    list_fields("secrets.*.", job_secret_rows, out);
    list_fields("keep.", job_keep_rows, out);
    list_fields("trackers.", job_tracker_rows, out);
    list_fields("replicas.", native_replicas_rows, out);
    list_fields("replicas.*.", native_replica_rows, out);
    list_fields("replicas.*.resources.", native_resource_rows, out);
}

/* ---- the job ---- */

/* Was a field asked for under another name? That fault was added already. */
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

static void require_search(const struct field_reader *reader,
                           const struct node *root)
{
    require(reader, root, "goal", "add \"goal: maximize accuracy\"");
    require(reader, root, "parameters",
            "add \"parameters: {lr: {type: double, min: 0.001, max: 0.1}}\"");
}

static void require_all(const struct field_reader *reader,
                        const struct node *root,
                        const struct native_draft *native)
{
    require_search(reader, root);
    if (native->pools[0].pool.args.n == 0 && node_find(root, "image") == NULL &&
        node_find(native->draft.kubernetes.node, "template") == NULL)
        require(reader, root, "command",
                "add \"command: [python3, train.py]\"");
}

static struct field_reader reader_of(struct diag *diag)
{
    return (struct field_reader){
        .diag = diag, .arena = diag->arena, .synonyms = native_synonyms};
}

struct job *native_read(const struct node *root, struct diag *diag)
{
    return native_read_with_args(root, (struct strings){0}, diag);
}

struct job *native_read_with_args(const struct node *root, struct strings args,
                                  struct diag *diag)
{
    const struct field_reader reader = reader_of(diag);
    struct place at = {.node = root, .path = ""};
    struct native_draft *native = arena_alloc(diag->arena, 1, sizeof *native);
    struct job *job = &native->draft.job;
    *job = (struct job){.form = JOB_NATIVE,
                        .max_trials = JOB_MAX_TRIALS,
                        .parallel = JOB_PARALLEL,
                        .retries = JOB_RETRIES,
                        .grace_ms = JOB_GRACE_MS,
                        .substitute = true};
    native->pools[0].pool.args = args;
    field_read_map(&reader, at, root_rows, native);
    if (root->kind != NODE_MAP)
        return NULL;
    require_all(&reader, root, native);
    native_finish_pools(&reader, native);
    job_check(&reader, &native->draft);
    native_lint(&reader, native);
    job->display = job->name;
    return diag->errors > 0 ? NULL : job;
}

/* What a study of clients has: its search. All else is about running trials. */
static void check_search_only(const struct field_reader *reader,
                              struct place root)
{
    static const char fields[] =
        "spec name labels goal safety parameters constraints warmStart "
        "algorithm seed trials parallel until earlyStopping selection noise "
        "trackers";
    for (const struct place *item = field_members(reader, root); item->node;
         item++)
        if (field_is_known(root_rows, item->node->key) &&
            !words_has(fields, item->node->key))
            field_key_error(reader, *item,
                            "is for studies that run their trials");
}

struct job *native_read_study(const struct node *root, struct diag *diag)
{
    const struct field_reader reader = reader_of(diag);
    struct place at = {.node = root, .path = ""};
    struct native_draft *native = arena_alloc(diag->arena, 1, sizeof *native);
    struct job *job = &native->draft.job;
    *job = (struct job){
        .kind = JOB_STUDY, .retries = JOB_RETRIES, .grace_ms = JOB_GRACE_MS};
    field_read_map(&reader, at, root_rows, native);
    if (root->kind != NODE_MAP)
        return NULL;
    require_search(&reader, root);
    require(&reader, root, "name", "the study needs one");
    check_search_only(&reader, at);
    job_check(&reader, &native->draft);
    job->display = job->name;
    return diag->errors > 0 ? NULL : job;
}

/* Every line that a person may leave out is a comment. */
static const char head[] =
    "# What to tune and what to run. \"hypertune help spec\" has every field,\n"
    "# \"hypertune check\" looks for mistakes, \"hypertune run\" starts.\n"
    "spec: 1\n";

static const char search[] =
    "goal: maximize accuracy       # or: minimize loss; the metric you report\n"
    "parameters:                   # each becomes an argument: --lr=0.01\n"
    "  lr: {type: double, min: 1e-5, max: 1e-1, scale: log}\n"
    "  layers: {type: integer, min: 1, max: 8}\n"
    "  batch: [32, 64, 128]        # numbers to choose from\n"
    "  opt: [adam, sgd]            # names to choose from\n"
    "trials: 20\n"
    "parallel: 2                   # trials at a time\n"
    "# algorithm: random           # or grid; default: bayesian, which learns\n"
    "# earlyStopping: median       # end trials that promise little\n"
    "# noise: high                 # results differ by chance\n"
    "# seed: 1                     # same seed, same suggestions\n"
    "# warmStart: other            # begin with its results\n"
    "# until: {target: 0.99, time: 2h}\n"
    "# trialTimeout: 10m\n"
    "# retries: 1                  # starts after a failed one\n"
    "# How the metric is reported, any one of:\n"
    "#   hypertune report accuracy=0.93 --step 4       (shell)\n"
    "#   hypertune.HyperTune().report_hyperparameter_tuning_metric(...)"
    "  (Python)\n"
    "#   metrics: {stdout: 'accuracy={accuracy}'}      (what it prints)\n";

void native_template(const char *command, const char *workdir, struct text *out)
{
    text_puts(out, head);
    text_puts(out, workdir == NULL
                       ? "# name: digits                # default: this "
                         "folder's name\n"
                       : "name: digits\n");
    text_puts(out, search);
    text_printf(out, "command: %s\n", command);
    if (workdir != NULL)
        text_printf(out,
                    "workdir: %s   # the folder that has it, on the "
                    "machine that runs it\n",
                    workdir);
}
