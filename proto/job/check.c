#include "proto/job/check.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/slurm_section.h"
#include "proto/space/constraint.h"

/* ---- what the replicas run ---- */

static void check_counts(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    int64_t n = 0;
    for (size_t i = 0; i < draft->job.n_pools; i++)
        n += draft->job.pools[i].count;
    if (n > HT_MAX_REPLICAS)
        field_error(reader, draft->pools,
                    "a trial has at most %d replicas, this one %lld",
                    HT_MAX_REPLICAS, (long long)n);
}

/* An attempt runs on one engine. */
static void check_images(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    const struct pool *with = NULL, *without = NULL;
    for (size_t i = 0; i < draft->job.n_pools; i++) {
        const struct pool *pool = &draft->job.pools[i];
        if (pool->image)
            with = pool;
        else
            without = pool;
    }
    if (with == NULL || without == NULL)
        return;
    field_error(reader, draft->pools, "the %s has an image and the %s has none",
                with->type, without->type);
    diag_hint(reader->diag, "give all of them an image, or none");
}

/* A variable is either a secret or not. */
static void check_secrets(const struct field_reader *reader,
                          const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    for (size_t i = 0; i < job->n_secrets; i++)
        for (size_t p = 0; p < job->n_pools; p++)
            for (size_t k = 0; k < job->pools[p].env.n; k++)
                if (strcmp(job->pools[p].env.items[k].name,
                           job->secrets[i].name) == 0) {
                    field_error(reader, draft->secrets,
                                "env sets %s, too: say one of them",
                                job->secrets[i].name);
                    return;
                }
}

/* Google's storage is a folder where the runner's admin has it mounted. */
static void check_output(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    if (job->output_dir == NULL || job->output_dir[0] == '/' ||
        job->rewrite_gcs)
        return;
    field_error(reader, draft->output, "%s is no folder of this machine",
                job->output_dir);
    diag_hint(reader->diag,
              "rewriteGs: true makes it one below the runner's --gcs-root");
}

/* Counts, images, and what has a meaning for containers only. */
static void check_run(const struct field_reader *reader,
                      struct job_draft *draft)
{
    const struct job *job = &draft->job;
    if (job->n_pools == 0)
        return;
    job_kubernetes_take(reader, draft);
    check_counts(reader, draft);
    check_images(reader, draft);
    check_secrets(reader, draft);
    check_output(reader, draft);
    job_kubernetes_check(reader, draft);
    job_slurm_check(reader, draft);
    if (job_needs_images(job) && job->own_workdir) {
        field_error(reader, draft->workdir,
                    "each container has its own files already");
        diag_hint(reader->diag, "leave it out");
    } else if (job_needs_images(job) && job->workdir &&
               job->workdir[0] != '/') {
        field_error(reader, draft->workdir,
                    "must be an absolute path in the image");
    }
}

/* ---- conditions ---- */

static void unknown_parameter(const struct field_reader *reader,
                              const struct space *space, struct place at,
                              const char *name)
{
    field_key_error(reader, at, "there is no parameter \"%s\"", name);
    const char *meant = words_nearest(name, space_names(reader->arena, space));
    if (meant)
        diag_hint(reader->diag, "did you mean \"%s\"?", meant);
}

static bool condition_value(const struct field_reader *reader,
                            const struct param *parent, struct place at,
                            struct value *value)
{
    struct ht_error err;
    if (space_param_read(parent, at.node, value, &err) == HT_OK)
        return true;
    field_error(reader, at, "parameter %s can never have it: %s", parent->name,
                err.text);
    return false;
}

static void resolve_values(const struct field_reader *reader,
                           const struct param *parent, struct place at,
                           struct condition *condition)
{
    size_t n = at.node->kind == NODE_LIST ? at.node->count : 1, good = 0;
    struct value *values = arena_alloc(reader->arena, n + 1, sizeof *values);
    if (n == 0 || n > HT_MAX_CATEGORIES) {
        field_error(reader, at, "needs 1 to %d values, has %zu",
                    HT_MAX_CATEGORIES, n);
        return;
    }
    for (const struct place *item = field_items(reader, at); item->node; item++)
        good += condition_value(reader, parent, *item, &values[good]);
    condition->n = good;
    condition->values = values;
}

static void resolve_condition(const struct field_reader *reader,
                              struct job_draft *draft,
                              const struct condition_draft *said)
{
    struct space *space = &draft->job.space;
    const int index =
        said->parent >= 0 ? said->parent : space_find(space, said->name);
    if (index < 0) {
        unknown_parameter(reader, space, said->at, said->name);
        return;
    }
    const struct param *parent = &space->params[index];
    if (space_param_levels(parent) == 0) {
        field_error(reader, said->at,
                    "parameter %s is continuous, it cannot decide",
                    parent->name);
        return;
    }
    struct condition *condition =
        arena_alloc(reader->arena, 1, sizeof *condition);
    condition->parent = (size_t)index;
    resolve_values(reader, parent, said->values, condition);
    struct condition **last = &space->params[said->child].when;
    while (*last)
        last = &(*last)->next;
    *last = condition;
}

/* Whether `target` is `from` or among the ancestors of `from`; `left` bounds
 * the walk by the number of parameters, since a longer path has a cycle. */
static bool descends(const struct space *space, size_t from, size_t target,
                     bool seen[])
{
    if (seen[from])
        return false;
    seen[from] = true;
    for (const struct condition *c = space->params[from].when; c; c = c->next) {
        if (c->parent == target || descends(space, c->parent, target, seen))
            return true;
    }
    return false;
}

static void check_cycles(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    const struct space *space = &draft->job.space;
    for (const struct condition_draft *said = draft->conditions; said;
         said = said->next) {
        bool seen[HT_MAX_PARAMETERS] = {false};
        if (space->params[said->child].when &&
            descends(space, said->child, said->child, seen)) {
            field_error(reader, said->at, "parameter %s depends on itself",
                        space->params[said->child].name);
            return;
        }
    }
}

static void check_conditions(const struct field_reader *reader,
                             struct job_draft *draft)
{
    size_t before = reader->diag->errors;
    for (const struct condition_draft *said = draft->conditions; said;
         said = said->next)
        resolve_condition(reader, draft, said);
    if (reader->diag->errors == before)
        check_cycles(reader, draft);
}

/* ---- constraints ---- */

static void check_constraint(const struct field_reader *reader,
                             const struct space *space, struct place at)
{
    struct ht_error err;
    struct constraint *constraint;
    size_t byte = 0;
    if (constraint_parse(reader->arena, space, at.node->text, &constraint,
                         &byte, &err) != HT_OK)
        field_error(reader, at, "at character %zu: %s", byte + 1, err.text);
}

static void check_constraints(const struct field_reader *reader,
                              struct job_draft *draft)
{
    struct place at = draft->constraints;
    if (at.node == NULL || at.node->kind != NODE_LIST || at.node->count == 0)
        return;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        if (item->node->kind == NODE_STRING)
            check_constraint(reader, &draft->job.space, *item);
}

/* ---- study ---- */

/* Objectives before safety metrics, each in the order they were said: whoever
 * wants the first objective takes the first metric. */
static void order_metrics(const struct field_reader *reader, struct job *job)
{
    struct metric_goal *ordered =
        arena_alloc(reader->arena, job->n_metrics + 1, sizeof *ordered);
    size_t n = 0;
    for (int safety = 0; safety < 2; safety++)
        for (size_t i = 0; i < job->n_metrics; i++)
            if (job->metrics[i].safety == (safety == 1))
                ordered[n++] = job->metrics[i];
    job->metrics = ordered;
}

static void check_metrics(const struct field_reader *reader,
                          struct job_draft *draft)
{
    struct job *job = &draft->job;
    order_metrics(reader, job);
    if (job->n_metrics > 0 && job->metrics[0].safety)
        field_error(reader, draft->metrics,
                    "has safety metrics only: nothing is left to improve");
    if (job->n_metrics > HT_MAX_METRICS)
        field_error(reader, draft->metrics, "has %zu metrics, at most %d",
                    job->n_metrics, HT_MAX_METRICS);
    for (size_t i = 1; i < job->n_metrics; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(job->metrics[i].name, job->metrics[j].name) == 0)
                field_error(reader, draft->metrics,
                            "the metric %s is named twice",
                            job->metrics[i].name);
}

static struct place name_place(const struct param_draft *param)
{
    return param->name_at.node ? param->name_at : param->at;
}

static void check_names(const struct field_reader *reader,
                        const struct job_draft *draft)
{
    const struct space *space = &draft->job.space;
    for (size_t i = 1; i < space->n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(space->params[i].name, space->params[j].name) == 0 &&
                !space_excludes(space, i, j))
                field_error(reader, name_place(&draft->params[i]),
                            "the parameter %s is declared twice, first as %s",
                            space->params[i].name, draft->params[j].at.path);
}

static void check_grid(const struct field_reader *reader,
                       const struct job_draft *draft)
{
    const struct space *space = &draft->job.space;
    if (draft->job.algorithm != ALGORITHM_GRID)
        return;
    size_t before = reader->diag->errors;
    for (size_t i = 0; i < space->n; i++) {
        if (space_param_levels(&space->params[i]) > 0)
            continue;
        field_error(reader, draft->params[i].at,
                    "a grid needs a finite number of values");
        diag_hint(reader->diag, draft->params[i].google
                                    ? "use discreteValueSpec"
                                    : "give \"step:\" or list the values");
    }
    uint64_t size = space_size(space);
    if (reader->diag->errors == before && (size == 0 || size > HT_MAX_GRID)) {
        field_error(reader, draft->parameters,
                    "the grid has more than %d points", HT_MAX_GRID);
        diag_hint(reader->diag,
                  "use larger steps or fewer values, or search at random");
    }
}

void job_check(const struct field_reader *reader, struct job_draft *draft)
{
    /* Without a rule nothing is left to finish or to stop. */
    if (!job_has_stopping_rule(&draft->job))
        draft->job.until.let_finish = false;
    check_metrics(reader, draft);
    check_run(reader, draft);
    if (reader->diag->errors > 0)
        return; /* what follows would complain about wrong parameters again */
    check_conditions(reader, draft);
    check_names(reader, draft);
    check_constraints(reader, draft);
    check_grid(reader, draft);
    job_early_stop_check(reader, draft);
}
