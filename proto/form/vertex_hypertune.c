#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/kept.h"
#include "proto/form/vertex.h"
#include "proto/job/container.h"
#include "proto/job/early_stop.h"
#include "proto/job/notify.h"

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

const struct field vertex_hypertune_rows[] = {
    {"name", job_name, .offset = JOB(name)},
    {"form", field_choose, JOB(form), .choices = job_dialects},
    {"algorithm", field_place, .offset = DRAFT(algorithm)},
    {"seed", field_whole, JOB(seed), .max = INT64_MAX, .said = JOB(has_seed)},
    {"target", field_real, JOB(until.target), .said = JOB(until.has_target)},
    {"cancelAfter", field_map, JOB(cancel_after), .rows = job_cancel_rows},
    {"retries", field_whole, JOB(retries), .max = HT_MAX_RETRIES,
     .said = DRAFT(has_retries)},
    {"graceMs", field_whole, JOB(grace_ms), .max = INT64_C(86400000)},
    {"argsMode", field_choose, JOB(args_mode), .choices = job_args_modes},
    {"substitute", field_flag, .offset = JOB(substitute)},
    {"chief", field_flag, .offset = JOB(chief)},
    {"jobDir", field_text, .offset = JOB(job_dir)},
    {"workdir", job_workdir, .offset = DRAFT(draft)},
    {"ownWorkdir", field_flag, .offset = JOB(own_workdir)},
    {"passEnv", field_variable_names, JOB(pass_env), .max = HT_MAX_ENV},
    {"capturedEnv", vertex_variables, .offset = JOB(captured_env)},
    {"cpus", field_real, JOB(cpus), .max = 1000000},
    {"memoryBytes", field_whole, JOB(memory_bytes), .max = INT64_MAX},
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
    {"metricDoctor", field_choose, JOB(metric_doctor),
     .choices = job_metric_doctors},
    {"notify", job_notify, .offset = JOB(notify)},
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
