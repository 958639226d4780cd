/* katib_search.c - how a Katib Experiment searches: the algorithm, the counts
 * and the early stopping. */

#include "proto/form/katib.h"

#include <string.h>

#include "proto/job/job.h"

/* Katib's own defaults. */
enum { PARALLEL = 3, MEDIAN_TRIALS = 3, MEDIAN_STEPS = 4 };

/* ---- Hyperband ---- */

/* The value of the setting of that name; without a node: it is not there. */
static struct place setting(const struct katib *katib, const char *name)
{
    const struct field_reader *reader = &katib->reader;
    const struct place list = katib->algorithm_settings;
    if (list.node == NULL)
        return (struct place){0};
    for (const struct place *one = field_items(reader, list); one->node; one++)
        if (strcmp(node_get_string(one->node, "name", ""), name) == 0)
            return field_member(reader, *one, "value");
    return (struct place){0};
}

static bool is_hyperband(const struct katib *katib)
{
    const char *name =
        katib->algorithm.node ? node_string(katib->algorithm.node) : NULL;
    return name != NULL && strcmp(name, "hyperband") == 0;
}

/* Katib starts a trial again and again with more of a resource, such as epochs.
 * Here a trial has the most of it at once, and the worst stop on the way: the
 * rungs are the same, and no epoch is trained twice. */
struct place katib_resource(const struct katib *katib, const char *parameter)
{
    const struct place name = is_hyperband(katib)
                                  ? setting(katib, "resource_name")
                                  : (struct place){0};
    if (name.node == NULL || name.node->text == NULL ||
        strcmp(name.node->text, parameter) != 0)
        return (struct place){0};
    return setting(katib, "r_l");
}

static void put_hyperband(struct katib *katib)
{
    const struct place at = katib->algorithm;
    const struct place name = setting(katib, "resource_name"),
                       most = setting(katib, "r_l");
    if (name.node == NULL || name.node->text == NULL || most.node == NULL ||
        most.node->text == NULL) {
        field_error(&katib->reader, at,
                    "hyperband needs the settings resource_name and r_l");
        return;
    }
    if (node_find(katib->space.node, name.node->text) == NULL)
        field_error(&katib->reader, name, "there is no parameter %s",
                    name.node->text);
    field_warning(&katib->reader, at,
                  "hyperband is searched as random: %s is %s in every trial, "
                  "and the worst stop early",
                  name.node->text, most.node->text);
    if (katib->early.node != NULL)
        return;
    struct grown rule = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &rule, "rule", "asha", at.node);
    katib_put_number(katib, &rule, "factor", setting(katib, "eta"));
    foreign_put(katib->arena, &katib->native, "earlyStopping", rule.node);
}

/* ---- the algorithm ---- */

static const struct field_choice algorithms[] = {
    {"bayesianoptimization", -1, ALGORITHM_BAYESIAN},
    {"random", -1, ALGORITHM_RANDOM},
    {"grid", -1, ALGORITHM_GRID},
    {"tpe", -1, ALGORITHM_BAYESIAN},
    {"multivariate-tpe", -1, ALGORITHM_BAYESIAN},
    {"cmaes", -1, ALGORITHM_BAYESIAN},
    {"sobol", -1, ALGORITHM_RANDOM},
    {"hyperband", -1, ALGORITHM_RANDOM},
    {"pbt", -1, ALGORITHM_BAYESIAN},
    {NULL, 0, 0}};

static void put_algorithm(struct katib *katib)
{
    static const char *const names[] = {[ALGORITHM_BAYESIAN] = "bayesian",
                                        [ALGORITHM_GRID] = "grid",
                                        [ALGORITHM_RANDOM] = "random"};
    enum { SAME = 3 }; /* rows that mean the same */
    const struct field row = {.name = "algorithmName", .choices = algorithms};
    const struct place at = katib->algorithm;
    const char *said = at.node ? node_string(at.node) : NULL;
    if (said != NULL &&
        (strcmp(said, "enas") == 0 || strcmp(said, "darts") == 0))
        return; /* nasConfig is refused */
    const struct field_choice *algorithm =
        at.node ? field_choice(&katib->reader, at, &row) : &algorithms[1];
    if (algorithm == NULL)
        return;
    const char *ours = names[algorithm->value];
    foreign_put_text(katib->arena, &katib->native, "algorithm", ours,
                     at.node ? at.node : katib->spec.node);
    if (is_hyperband(katib))
        put_hyperband(katib);
    else if (strcmp(algorithm->name, "pbt") == 0)
        field_warning(&katib->reader, at,
                      "pbt is searched as %s: every trial begins anew, none "
                      "from another's checkpoint",
                      ours);
    else if (algorithm - algorithms >= SAME)
        field_warning(&katib->reader, at, "%s is searched as %s",
                      algorithm->name, ours);
}

/* ---- settings and counts ---- */

static void put_settings(struct katib *katib)
{
    static const char *const of_hyperband[] = {"resource_name", "r_l", "eta"};
    enum { N_HYPERBAND = sizeof of_hyperband / sizeof *of_hyperband };
    const struct place at = katib->algorithm_settings;
    if (at.node == NULL)
        return;
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++) {
        const char *name = node_get_string(one->node, "name", "");
        size_t i = is_hyperband(katib) ? 0 : N_HYPERBAND;
        while (i < N_HYPERBAND && strcmp(name, of_hyperband[i]) != 0)
            i++;
        if (strcmp(name, "random_state") == 0)
            katib_put_number(katib, &katib->native, "seed",
                             field_member(&katib->reader, *one, "value"));
        else if (i == N_HYPERBAND)
            field_warning(&katib->reader, *one, "%s has no effect here", name);
    }
}

/* Katib's experiment fails with its first failed trial at 0, which is no limit
 * here. */
static void put_max_failed(struct katib *katib)
{
    const struct place at = katib->max_failed;
    double n;
    if (at.node != NULL && node_double(at.node, &n) && n == 0)
        foreign_put_number(katib->arena, &katib->native, "maxFailed", 1,
                           at.node);
    else
        katib_put_number(katib, &katib->native, "maxFailed", at);
}

static void put_counts(struct katib *katib)
{
    const struct node *at = katib->spec.node;
    if (katib->trials.node == NULL)
        field_warning(&katib->reader, katib->spec,
                      "there is no maxTrialCount: %d trials, not endless ones",
                      JOB_MAX_TRIALS);
    katib_put_number(katib, &katib->native, "trials", katib->trials);
    katib_put_number(katib, &katib->native, "parallel", katib->parallel);
    if (katib->parallel.node == NULL)
        foreign_put_number(katib->arena, &katib->native, "parallel", PARALLEL,
                           at);
    put_max_failed(katib);
}

/* ---- early stopping ---- */

static void put_early(struct katib *katib)
{
    const struct field_reader *reader = &katib->reader;
    const struct place at = katib->early, list = katib->early_settings;
    struct place trials = {0}, steps = {0};
    if (at.node == NULL)
        return;
    if (at.node->text == NULL || strcmp(at.node->text, "medianstop") != 0) {
        field_error(reader, at, "must be medianstop");
        return;
    }
    for (const struct place *one = list.node ? field_items(reader, list)
                                             : &(const struct place){0};
         one->node; one++) {
        const char *name = node_get_string(one->node, "name", "");
        const struct place value = field_member(reader, *one, "value");
        if (strcmp(name, "min_trials_required") == 0)
            trials = value;
        else if (strcmp(name, "start_step") == 0)
            steps = value;
        else
            field_warning(reader, *one, "%s has no effect here", name);
    }
    struct grown rule = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &rule, "rule", "median", at.node);
    katib_put_number(katib, &rule, "minTrials", trials);
    katib_put_number(katib, &rule, "minSteps", steps);
    if (trials.node == NULL)
        foreign_put_number(katib->arena, &rule, "minTrials", MEDIAN_TRIALS,
                           at.node);
    if (steps.node == NULL)
        foreign_put_number(katib->arena, &rule, "minSteps", MEDIAN_STEPS,
                           at.node);
    foreign_put(katib->arena, &katib->native, "earlyStopping", rule.node);
}

void katib_put_search(struct katib *katib)
{
    put_algorithm(katib);
    put_settings(katib);
    put_counts(katib);
    put_early(katib);
}
