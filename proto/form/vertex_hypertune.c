#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/kept.h"
#include "proto/form/vertex.h"
#include "proto/job/container.h"
#include "proto/job/early_stop.h"
#include "proto/job/notify.h"

#define JOB(member) offsetof(struct vertex_draft, draft.job.member)
#define DRAFT offsetof(struct vertex_draft, draft)

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

static void read_order(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    ((struct vertex_draft *)into)->order_at = at;
    field_texts(reader, at, field, into);
}

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
    for (const struct node *node = at.node->first; node; node = node->next) {
        struct place value = {node, node->key};
        struct place member = field_child(reader, at, node);
        if (!kept_is_path(node->key))
            field_key_error(reader, member, "is no path of a member");
        else if (vertex_has_place(node->key))
            field_key_error(reader, member, "has a place of its own");
        else
            kept_silently(reader, value);
    }
}

/* Google's name for a Bayesian search is to name none; ours tells it from the
 * server's choice. */
void vertex_adopt_algorithm(const struct field_reader *reader,
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
void vertex_adopt_early_stop(const struct field_reader *reader,
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

static const struct field_choice args_modes[] = {{"auto", -1, ARGS_AUTO},
                                                 {"append", -1, ARGS_APPEND},
                                                 {"none", -1, ARGS_NONE},
                                                 {NULL, 0, 0}};

static const struct field_choice forms[] = {{"vertex", -1, JOB_VERTEX},
                                            {"aip", -1, JOB_AIP},
                                            {"native", -1, JOB_NATIVE},
                                            {NULL, 0, 0}};

static const struct field hypertune_rows[] = {
    {.name = "name", .read = job_name, .offset = JOB(name)},
    {.name = "form",
     .read = field_choose,
     .offset = JOB(form),
     .choices = forms},
    {.name = "algorithm",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, algorithm)},
    {"seed", read_seed, JOB(seed), 0, INT64_MAX, NULL},
    {.name = "target", .read = read_target, .offset = JOB(until.target)},
    {.name = "cancelAfter",
     .read = job_cancel_after,
     .offset = JOB(cancel_after)},
    {"retries", read_retries, JOB(retries), 0, HT_MAX_RETRIES, NULL},
    {"graceMs", field_whole, JOB(grace_ms), 0, INT64_C(86400000), NULL},
    {.name = "argsMode",
     .read = field_choose,
     .offset = JOB(args_mode),
     .choices = args_modes},
    {.name = "substitute", .read = field_flag, .offset = JOB(substitute)},
    {.name = "chief", .read = field_flag, .offset = JOB(chief)},
    {.name = "jobDir", .read = field_text, .offset = JOB(job_dir)},
    {.name = "workdir", .read = job_workdir, .offset = DRAFT},
    {.name = "ownWorkdir", .read = field_flag, .offset = JOB(own_workdir)},
    {"passEnv", field_variable_names, JOB(pass_env), 0, HT_MAX_ENV, NULL},
    {.name = "capturedEnv",
     .read = vertex_variables,
     .offset = JOB(captured_env)},
    {"cpus", field_real, JOB(cpus), 0, 1000000, NULL},
    {"memoryBytes", field_whole, JOB(memory_bytes), 0, INT64_MAX, NULL},
    {.name = "replicas",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, resources)},
    {"volumes", job_volumes, DRAFT, 0, HT_MAX_ENV, NULL},
    {.name = "container", .read = job_container, .offset = DRAFT},
    {.name = "secrets", .read = job_secrets, .offset = DRAFT},
    {.name = "reporter",
     .read = field_choose,
     .offset = JOB(reporter),
     .choices = job_reporters},
    {.name = "rewriteGs", .read = field_flag, .offset = JOB(rewrite_gcs)},
    {.name = "keep", .read = job_keep, .offset = DRAFT},
    {.name = "earlyStopping",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, early_stop)},
    {"stdoutPatterns", field_texts, JOB(stdout_patterns), 0, HT_MAX_ENV, NULL},
    {.name = "metricsFile", .read = field_text, .offset = JOB(metrics_file)},
    {.name = "metricDoctor",
     .read = field_choose,
     .offset = JOB(metric_doctor),
     .choices = job_metric_doctors},
    {.name = "notify", .read = job_notify, .offset = JOB(notify)},
    {"constraints", read_constraints, JOB(constraints), 0, HT_MAX_ENV, NULL},
    {"warmStart", field_texts, JOB(warm_start), 0, HT_MAX_PRIORS, NULL},
    {.name = "parameters",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, extras)},
    {"labels", field_pairs, JOB(labels), 0, 64, NULL},
    {.name = "openSpace", .read = field_flag, .offset = JOB(space.open)},
    {"parameterOrder", read_order, offsetof(struct vertex_draft, order), 0,
     HT_MAX_PARAMETERS, NULL},
    {.name = "kept", .read = read_kept, .max = HT_MAX_ENV},
    {0}};

void vertex_hypertune(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    (void)field;
    field_read_map(reader, at, hypertune_rows, into);
}
