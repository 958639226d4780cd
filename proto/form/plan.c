/* plan.c - a job's search in words: goals, algorithm, ranges, conditions,
 * examples. */

#include "proto/form/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/form/native.h"
#include "proto/job/command.h"
#include "proto/job/draft.h"
#include "proto/space/constraint.h"

enum { MOST_DRAWS = 1000 }; /* for a point */

/* --- parts --- */

const char *form_plan_algorithm(enum job_algorithm algorithm)
{
    static const char *const names[] = {
        [ALGORITHM_DEFAULT] = "default search",
        [ALGORITHM_BAYESIAN] = "GP bandit",
        [ALGORITHM_GRID] = "grid search",
        [ALGORITHM_RANDOM] = "random search",
    };
    return names[algorithm];
}

const char *form_plan_type(enum param_type type)
{
    static const char *const names[] = {"DOUBLE", "INTEGER", "DISCRETE",
                                        "CATEGORICAL"};
    return names[type];
}

void form_plan_range(const struct param *param, struct text *out)
{
    static const char *const scales[] = {"", "  log", "  reverse log"};
    if (param->type == PARAM_DOUBLE) {
        text_puts(out, "[");
        text_double(out, param->min);
        text_puts(out, ", ");
        text_double(out, param->max);
        text_puts(out, "]");
        if (param->step > 0) {
            text_puts(out, "  step ");
            text_double(out, param->step);
        }
    } else if (param->type == PARAM_INTEGER) {
        text_printf(out, "[%lld, %lld]", (long long)param->int_min,
                    (long long)param->int_max);
        if (param->int_step > 1)
            text_printf(out, "  step %lld", (long long)param->int_step);
    } else {
        for (size_t i = 0; i < param->n_values; i++) {
            text_puts(out, i > 0 ? ", " : "");
            space_value_text(param, space_param_level(param, i), out);
        }
    }
    text_puts(out, scales[param->scale]);
}

void form_plan_condition(const struct space *space, const struct param *param,
                         struct text *out)
{
    for (const struct condition *c = param->when; c != NULL; c = c->next) {
        const struct param *parent = &space->params[c->parent];
        text_printf(out, "%s%s is ", c == param->when ? "when " : " and ",
                    parent->name);
        for (size_t i = 0; i < c->n; i++) {
            text_puts(out, i > 0 ? ", " : "");
            space_value_text(parent, c->values[i], out);
        }
    }
}

void form_plan_goals(const struct job *job, bool safety, struct text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_metrics; i++) {
        if (job->metrics[i].safety != safety)
            continue;
        text_puts(out, n++ > 0 ? ", " : "");
        native_goal_text(&job->metrics[i], out);
    }
}

/* --- the search --- */

static void describe_early_stop(const struct early_stop *stop, struct text *out)
{
    if (stop->rule == EARLY_NONE)
        return;
    text_printf(out, ", trials %s early by %s", stop->pauses ? "pause" : "stop",
                job_early_stop_name(stop->rule));
}

/* What may end the search before its trials are used up. */
static void describe_ends(const struct job *job, struct text *out)
{
    const struct stopping *until = &job->until;
    const struct cancelling *after = &job->cancel_after;
    char span[CLOCK_DURATION_BYTES];
    if (until->has_target) {
        text_puts(out, ", until ");
        text_double(out, until->target);
    }
    if (until->time_ms > 0)
        text_printf(out, ", at most %s", clock_duration(span, until->time_ms));
    if (until->no_progress > 0)
        text_printf(out, ", until %lld trials gain nothing",
                    (long long)until->no_progress);
    if (until->no_progress_ms > 0)
        text_printf(out, ", until nothing is gained in %s",
                    clock_duration(span, until->no_progress_ms));
    if (after->waiting_ms > 0)
        text_printf(out, ", cancelled unless a trial starts within %s",
                    clock_duration(span, after->waiting_ms));
    if (after->running_ms > 0)
        text_printf(out, ", cancelled after running %s",
                    clock_duration(span, after->running_ms));
}

void form_plan_search(const struct job *job, struct text *out)
{
    text_puts(out, form_plan_algorithm(job->algorithm));
    if (job->max_trials > 0)
        text_printf(out, ", %lld trials", (long long)job->max_trials);
    if (job->kind != JOB_STUDY)
        text_printf(out, ", %lld at a time", (long long)job->parallel);
    if (job->has_seed)
        text_printf(out, ", seed %lld", (long long)job->seed);
    if (job->noise != JOB_NOISE_UNKNOWN)
        text_printf(out, ", %s noise",
                    job->noise == JOB_NOISE_LOW ? "low" : "high");
    describe_early_stop(&job->early_stop, out);
    describe_ends(job, out);
    for (size_t i = 0; i < job->warm_start.n; i++)
        text_printf(out, "%s%s", i == 0 ? ", learns from " : " and ",
                    job->warm_start.items[i]);
}

/* --- examples --- */

/* Three digits are enough for an example, if they stay within the range. */
static struct value rounded(const struct param *param, struct value value)
{
    char text[TEXT_DOUBLE_BYTES];
    if (param->type != PARAM_DOUBLE || param->step > 0)
        return value;
    snprintf(text, sizeof text, "%.3g", value.real);
    double near = strtod(text, NULL);
    if (near >= param->min && near <= param->max)
        value.real = near;
    return value;
}

/* splitmix64: the same seed gives the same examples. */
static double next_unit(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* The constraints of a job that was read are right, so reading cannot fail. */
static struct constraint_set constraints_of(struct arena *arena,
                                            const struct job *job)
{
    struct constraint_set set = {0};
    (void)constraint_set_parse(arena, &job->space, job->constraints.n,
                               job->constraints.items, &set, NULL);
    return set;
}

/* The middle of every range, or its default, so that a person sees how values
 * arrive. */
static void middle(const struct space *space, struct value point[])
{
    for (size_t i = 0; i < space->n; i++)
        point[i] = space->params[i].has_default
                       ? space->params[i].fallback
                       : rounded(&space->params[i],
                                 space_param_from_unit(&space->params[i], 0.5));
    space_settle(space, point);
}

/* Somewhere that the constraints allow, as far as chance finds it. */
static void anywhere(const struct space *space,
                     const struct constraint_set *constraints, uint64_t *state,
                     struct value point[])
{
    for (int draw = 0; draw < MOST_DRAWS; draw++) {
        for (size_t i = 0; i < space->n; i++)
            point[i] = rounded(
                &space->params[i],
                space_param_from_unit(&space->params[i], next_unit(state)));
        space_settle(space, point);
        if (constraint_set_holds(constraints, point))
            return;
    }
}

/* With the folder that the job asks for as an argument, of that trial. */
static struct strings whole_line(struct arena *arena, const struct job *job,
                                 const struct pool *pool,
                                 const struct value point[], size_t trial)
{
    const struct strings line = command_line(arena, job, pool, point, 0);
    const char *folder = job->job_dir;
    if (folder == NULL)
        return line;
    const char **items = arena_alloc(arena, line.n + 1, sizeof *items);
    const size_t len = strlen(folder);
    const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
    memcpy(items, line.items, line.n * sizeof *items);
    items[line.n] =
        job->kind == JOB_CUSTOM
            ? arena_printf(arena, "--job-dir=%s", folder)
            : arena_printf(arena, "--job-dir=%s%s%zu", folder, slash, trial);
    return (struct strings){line.n + 1, items};
}

/* The next example; `first`: the middle, where the constraints hold there. */
static void next_example(const struct job *job,
                         const struct constraint_set *constraints, bool first,
                         uint64_t *state, struct value point[])
{
    if (first)
        middle(&job->space, point);
    if (!first || !constraint_set_holds(constraints, point))
        anywhere(&job->space, constraints, state, point);
}

void form_plan_examples(struct arena *arena, const struct job *job, size_t n,
                        struct strings lines[])
{
    struct value *point = arena_alloc(arena, job->space.n + 1, sizeof *point);
    const struct constraint_set constraints = constraints_of(arena, job);
    uint64_t state = job->has_seed ? (uint64_t)job->seed : 0;
    for (size_t i = 0; i < n; i++) {
        next_example(job, &constraints, i == 0, &state, point);
        lines[i] = whole_line(arena, job, &job->pools[0], point, i + 1);
    }
}

const struct value *form_plan_point(struct arena *arena, const struct job *job)
{
    struct value *point = arena_alloc(arena, job->space.n + 1, sizeof *point);
    const struct constraint_set constraints = constraints_of(arena, job);
    uint64_t state = job->has_seed ? (uint64_t)job->seed : 0;
    next_example(job, &constraints, true, &state, point);
    return point;
}

struct form_plan_replica form_plan_replica(struct arena *arena,
                                           const struct job *job,
                                           const struct pool *pool)
{
    const struct value *point = form_plan_point(arena, job);
    return (struct form_plan_replica){
        .words = whole_line(arena, job, pool, point, 1),
        .env = command_env(arena, job, pool, point, 0)};
}
