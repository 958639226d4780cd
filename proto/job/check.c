#include "proto/job/check.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
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
                      const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    if (job->n_pools == 0)
        return;
    check_counts(reader, draft);
    check_images(reader, draft);
    check_secrets(reader, draft);
    check_output(reader, draft);
    if (job_needs_images(job) && job->own_workdir) {
        field_error(reader, draft->workdir,
                    "each container has files of its own already");
        diag_hint(reader->diag, "leave it out");
    } else if (job_needs_images(job) && job->workdir &&
               job->workdir[0] != '/') {
        field_error(reader, draft->workdir,
                    "must be an absolute path in the image");
    }
}

/* ---- words and names ---- */

const struct field_choice job_metric_doctors[] = {
    {"pause", -1, DOCTOR_PAUSE}, {"warn", -1, DOCTOR_WARN}, {NULL, 0, 0}};
const struct field_choice job_args_modes[] = {{"auto", -1, ARGS_AUTO},
                                              {"append", -1, ARGS_APPEND},
                                              {"none", -1, ARGS_NONE},
                                              {NULL, 0, 0}};
const struct field_choice job_dialects[] = {{"vertex", -1, JOB_VERTEX},
                                            {"aip", -1, JOB_AIP},
                                            {"native", -1, JOB_NATIVE},
                                            {NULL, 0, 0}};

void job_name(const struct field_reader *reader, struct place at,
              const struct field *field, void *into)
{
    size_t before = reader->diag->errors;
    field_name(reader, at, field, into);
    if (reader->diag->errors > before)
        return;
    const char *name = at.node->text;
    if (name[strspn(name, "0123456789")] == '\0') {
        field_error(reader, at, "\"%s\" would be taken for a study's number",
                    name);
        diag_hint(reader->diag, "add a letter");
    } else if (name[0] == '-') {
        field_error(reader, at, "a study's name must not begin with -");
    }
}

void job_check_new_name(const struct field_reader *reader, struct place at)
{
    const char *name = node_string(at.node);
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    if (slash == NULL || slash == name || slash[1] == '\0')
        return;
    const bool is_best = strcmp(slash, "/best") == 0;
    if (!is_best && slash[1 + strspn(slash + 1, "0123456789")] != '\0')
        return;
    field_error(reader, at, "\"%s\" would be taken for %s %s of the study %.*s",
                name, is_best ? "the" : "trial", slash + 1, (int)(slash - name),
                name);
    diag_hint(reader->diag, "put - in place of the last /");
}

void job_new_name(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    job_name(reader, at, field, into);
    job_check_new_name(reader, at);
}

const struct field job_cancel_rows[] = {
    {"running", field_duration, offsetof(struct cancelling, running_ms),
     .min = 1},
    {"waiting", field_duration, offsetof(struct cancelling, waiting_ms),
     .min = 1},
    {0}};

void job_draft_add(const struct field_reader *reader, struct job_draft *draft,
                   const struct param_draft *param)
{
    struct space *space = &draft->job.space;
    if (draft->params == NULL) {
        draft->params = arena_alloc(reader->arena, HT_MAX_PARAMETERS,
                                    sizeof *draft->params);
        space->params = arena_alloc(reader->arena, HT_MAX_PARAMETERS,
                                    sizeof *space->params);
    }
    if (space->n == HT_MAX_PARAMETERS)
        return;
    draft->params[space->n] = *param;
    space->params[space->n++] = param->param;
}

/* ---- conditions ---- */

void job_draft_add_condition(const struct field_reader *reader,
                             struct job_draft *draft,
                             const struct condition_draft *condition)
{
    struct condition_draft **last = &draft->conditions;
    while (*last)
        last = &(*last)->next;
    *last = arena_alloc(reader->arena, 1, sizeof **last);
    **last = *condition;
}

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

bool job_has_stopping_rule(const struct job *job)
{
    const struct stopping *until = &job->until;
    return until->has_target || until->time_ms > 0 || until->end_ms > 0 ||
           until->no_progress > 0 || until->no_progress_ms > 0;
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

enum {
    MAX_DISPLAY = 128, /* characters, as Google counts them */
    MAX_LABEL = 64,    /* of a key or a value */
    MAX_VARIABLES = 100
};

/* ---- what Google demands of a new resource ---- */

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Lower case, digits, _ and -, and whatever is outside ASCII. */
static bool is_label_text(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x80 && strchr(letters, *text) == NULL)
            return false;
    return true;
}

static const char *label_fault(const char *text)
{
    if (characters(text) > MAX_LABEL)
        return "is over 64 characters";
    return is_label_text(text)
               ? NULL
               : "may have lower-case letters, digits, _ and - only";
}

static void check_label(const struct field_reader *reader, struct place at)
{
    const char *key = at.node->key;
    const char *key_fault = key[0] == '\0' ? "is empty" : label_fault(key);
    const char *value = node_string(at.node);
    const char *value_fault = value != NULL ? label_fault(value) : NULL;
    if (key_fault != NULL)
        field_key_error(reader, at, "the key %s", key_fault);
    else if (value_fault != NULL)
        field_error(reader, at, "the value %s", value_fault);
}

void job_check_labels(const struct field_reader *reader, struct place root)
{
    const struct place at = field_member(reader, root, "labels");
    if (at.node == NULL || at.node->kind != NODE_MAP)
        return;
    for (const struct place *item = field_members(reader, at); item->node;
         item++)
        check_label(reader, *item);
}

static void check_variables(const struct field_reader *reader,
                            struct place pool, const char *task)
{
    const struct place spec = field_member(reader, pool, task);
    if (spec.node == NULL || spec.node->kind != NODE_MAP)
        return;
    const struct place env = field_member(reader, spec, "env");
    if (env.node != NULL && env.node->kind == NODE_LIST &&
        env.node->count > MAX_VARIABLES && env.node->count <= HT_MAX_ENV)
        field_error(reader, env, "has %zu variables, at most %d",
                    env.node->count, MAX_VARIABLES);
}

static void check_pools(const struct field_reader *reader, struct place root,
                        const char *spec)
{
    const struct place job = field_member(reader, root, spec);
    if (job.node == NULL || job.node->kind != NODE_MAP)
        return;
    const struct place at = field_member(reader, job, "workerPoolSpecs");
    if (at.node == NULL || at.node->kind != NODE_LIST)
        return;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        check_variables(reader, *item, "containerSpec");
        check_variables(reader, *item, "pythonPackageSpec");
    }
}

void job_check_new(const struct field_reader *reader, struct place root)
{
    if (root.node->kind != NODE_MAP)
        return;
    const struct place display = field_member(reader, root, "displayName");
    const struct place ours = field_member(reader, root, "hypertune");
    const char *text = node_string(display.node);
    const bool named = ours.node != NULL && node_find(ours.node, "name");
    if ((display.node == NULL || (text && text[0] == '\0')) && !named)
        field_missing(reader, root, "displayName", NULL);
    else if (text != NULL && characters(text) > MAX_DISPLAY)
        field_error(reader, display, "is over %d characters", MAX_DISPLAY);
    if (named)
        job_check_new_name(reader, field_member(reader, ours, "name"));
    job_check_labels(reader, root);
    check_pools(reader, root, "trialJobSpec");
    check_pools(reader, root, "jobSpec");
}

/* ---- what a job needs ---- */

size_t job_objectives(const struct job *job)
{
    size_t n = 0;
    while (n < job->n_metrics && !job->metrics[n].safety)
        n++;
    return n;
}

bool job_is_named_apart(const struct job *job)
{
    return job->display &&
           (job->name == NULL || strcmp(job->display, job->name) != 0);
}

bool job_needs_images(const struct job *job)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].image)
            return true;
    return false;
}

/* "logs://x" is none. */
static bool is_gcs(const char *text)
{
    const char *at = text ? strstr(text, "gs://") : NULL;
    while (at && at > text && isalnum((unsigned char)at[-1]))
        at = strstr(at + 1, "gs://");
    return at != NULL;
}

static bool any_gcs(const struct strings *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        if (is_gcs(texts->items[i]))
            return true;
    return false;
}

static bool pool_mentions_gcs(const struct pool *pool)
{
    for (size_t i = 0; i < pool->env.n; i++)
        if (is_gcs(pool->env.items[i].value))
            return true;
    return any_gcs(&pool->command) || any_gcs(&pool->args);
}

bool job_mentions_gcs(const struct job *job)
{
    if (is_gcs(job->job_dir) || is_gcs(job->output_dir))
        return true;
    for (size_t i = 0; i < job->n_pools; i++)
        if (pool_mentions_gcs(&job->pools[i]))
            return true;
    for (size_t i = 0; i < job->space.n; i++) {
        const struct param *param = &job->space.params[i];
        const struct strings labels = {param->n_values, param->labels};
        if (param->labels && any_gcs(&labels))
            return true;
    }
    return false;
}
