#include "proto/job/check.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/early_stop.h"
#include "proto/space/constraint.h"

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

static void unknown_parameter(const struct field_reader *reader,
                              const struct space *space, struct place at,
                              const char *name)
{
    field_key_error(reader, at, "there is no parameter \"%s\"", name);
    const char *meant = diag_nearest(name, space_names(reader->arena, space));
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
    bool list = at.node->kind == NODE_LIST;
    size_t n = list ? at.node->count : 1, good = 0, i = 0;
    struct value *values = arena_alloc(reader->arena, n + 1, sizeof *values);
    if (n == 0 || n > HT_MAX_CATEGORIES) {
        field_error(reader, at, "needs 1 to %d values, has %zu",
                    HT_MAX_CATEGORIES, n);
        return;
    }
    for (const struct node *node = list ? at.node->first : at.node; i < n;
         node = node->next, i++) {
        struct place item = list ? field_item(reader, at, node, i) : at;
        good += condition_value(reader, parent, item, &values[good]);
    }
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
    size_t i = 0;
    for (const struct node *node = at.node->first; node; node = node->next, i++)
        if (node->kind == NODE_STRING)
            check_constraint(reader, &draft->job.space,
                             field_item(reader, at, node, i));
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
    job_check_run(reader, draft);
    if (reader->diag->errors > 0)
        return; /* what follows would complain about wrong parameters again */
    check_conditions(reader, draft);
    check_names(reader, draft);
    check_constraints(reader, draft);
    check_grid(reader, draft);
    job_early_stop_check(reader, draft);
}
