/* aip_search.c - the hyperparameters, goal and algorithm of the AI Platform
 * form. */

#include <stddef.h>

#include "proto/base/limits.h"
#include "proto/form/aip.h"

#define AIP(member) offsetof(struct aip_draft, member)
#define JOB(member) offsetof(struct aip_draft, draft.job.member)
#define PARAM(member) offsetof(struct aip_param, member)

/* ---- parameters ---- */

enum { TYPE_UNSPECIFIED = -1 };

struct aip_param {
    struct param_draft param;
    int type;
    const char *type_name;
    struct place numbers, categories;
    enum param_scale scale;
};

static const struct field_choice types[] = {
    {"PARAMETER_TYPE_UNSPECIFIED", 0, TYPE_UNSPECIFIED},
    {"DOUBLE", 1, PARAM_DOUBLE},
    {"INTEGER", 2, PARAM_INTEGER},
    {"CATEGORICAL", 3, PARAM_CATEGORICAL},
    {"DISCRETE", 4, PARAM_DISCRETE},
    {NULL, 0, 0}};

static const struct field_choice scales[] = {
    {"NONE", 0, SCALE_LINEAR},
    {"UNIT_LINEAR_SCALE", 1, SCALE_LINEAR},
    {"UNIT_LOG_SCALE", 2, SCALE_LOG},
    {"UNIT_REVERSE_LOG_SCALE", 3, SCALE_REVERSE_LOG},
    {NULL, 0, 0}};

static void read_type(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    struct aip_param *said = into;
    const struct field_choice *type = field_choice(reader, at, field);
    if (type == NULL)
        return;
    said->type = type->value;
    said->type_name = type->name;
}

static const struct field param_rows[] = {
    {"parameterName", field_name, .offset = PARAM(param.param.name)},
    {"type", read_type, .choices = types},
    {"minValue", field_place, .offset = PARAM(param.min)},
    {"maxValue", field_place, .offset = PARAM(param.max)},
    {"scaleType", field_choose, PARAM(scale), .choices = scales},
    {"categoricalValues", field_place, .offset = PARAM(categories)},
    {"discreteValues", field_place, .offset = PARAM(numbers)},
    {0}};

/* A list that belongs to another type. Clients may send it empty. */
static void refuse_list(const struct field_reader *reader, struct place at,
                        const char *type)
{
    if (at.node && !(at.node->kind == NODE_LIST && at.node->count == 0))
        field_key_error(reader, at, "has no meaning for a parameter of type %s",
                        type);
}

static bool check_param(const struct field_reader *reader, struct place at,
                        const struct aip_param *said)
{
    const char *name = said->param.param.name;
    size_t before = reader->diag->errors;
    if (name == NULL)
        field_missing(reader, at, "parameterName", NULL);
    else if (name[0] == '-')
        field_error(reader, said->param.name_at, "must not begin with -");
    if (said->type == TYPE_UNSPECIFIED) {
        field_missing(reader, at, "type",
                      "DOUBLE, INTEGER, CATEGORICAL or DISCRETE");
        return false;
    }
    const char *type = said->type_name;
    if (said->type != PARAM_CATEGORICAL)
        refuse_list(reader, said->categories, type);
    if (said->type != PARAM_DISCRETE)
        refuse_list(reader, said->numbers, type);
    bool ranged = said->type == PARAM_DOUBLE || said->type == PARAM_INTEGER;
    if (ranged && said->param.min.node == NULL &&
        said->param.max.node == NULL) {
        field_missing(reader, at, "minValue", NULL);
        field_missing(reader, at, "maxValue", NULL);
    }
    return reader->diag->errors == before;
}

/* Zeros may be left out of Google's JSON, as the other rules of its
 * parameters allow; the scale was chosen already, by other names. */
static bool finish_param(const struct field_reader *reader,
                         struct aip_param *said)
{
    struct param_draft *param = &said->param;
    param->google = true;
    param->param.type = (enum param_type)said->type;
    if (said->type != PARAM_CATEGORICAL)
        param->param.scale = said->scale;
    param->values =
        said->type == PARAM_DISCRETE ? said->numbers : said->categories;
    if (said->type == PARAM_DOUBLE || said->type == PARAM_INTEGER)
        param->values.node = NULL;
    return job_param_finish(reader, param);
}

static void read_param(const struct field_reader *reader, struct aip_draft *aip,
                       struct place at)
{
    struct aip_param said = {.param.at = at, .type = TYPE_UNSPECIFIED};
    size_t before = reader->diag->errors;
    said.param.name_at = field_member(reader, at, "parameterName");
    said.param.min = field_member(reader, at, "minValue");
    said.param.max = field_member(reader, at, "maxValue");
    said.categories = field_member(reader, at, "categoricalValues");
    said.numbers = field_member(reader, at, "discreteValues");
    field_read_map(reader, at, param_rows, &said);
    if (reader->diag->errors == before && check_param(reader, at, &said) &&
        finish_param(reader, &said))
        job_draft_add(reader, &aip->draft, &said.param);
}

static void read_params(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    (void)field;
    ((struct aip_draft *)into)->draft.parameters = at;
    if (at.node->kind != NODE_LIST || at.node->count == 0 ||
        at.node->count > HT_MAX_PARAMETERS) {
        field_error(reader, at, "must be a list of 1 to %d parameters",
                    HT_MAX_PARAMETERS);
        return;
    }
    for (const struct place *item = field_items(reader, at); item->node; item++)
        read_param(reader, into, *item);
}

/* ---- the search ---- */

enum { POPULATION_BASED = -1 };

/* Google's name for a Bayesian search is to name none. */
static const struct field_choice algorithms[] = {
    {"ALGORITHM_UNSPECIFIED", 0, ALGORITHM_DEFAULT},
    {"GRID_SEARCH", 1, ALGORITHM_GRID},
    {"RANDOM_SEARCH", 2, ALGORITHM_RANDOM},
    {"POPULATION_BASED_TRAINING", -1, POPULATION_BASED},
    {NULL, 0, 0}};

static void read_algorithm(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    struct job_draft *draft = &((struct aip_draft *)into)->draft;
    const struct field row = {.name = field->name, .choices = algorithms};
    int choice = ALGORITHM_DEFAULT;
    field_choose(reader, at, &row, &choice);
    if (choice == POPULATION_BASED) {
        field_error(reader, at, "POPULATION_BASED_TRAINING is not known here");
        diag_hint(reader->diag, "leave algorithm out for a Bayesian search");
        return;
    }
    draft->job.algorithm = (enum job_algorithm)choice;
}

static void read_early_stop(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = &((struct aip_draft *)into)->draft;
    bool flag = false;
    if (!node_bool(at.node, &flag)) {
        field_wrong_kind(reader, at, "true or false");
    } else if (flag) {
        /* Google never said by which rule; this one errs least. */
        draft->early_stop = at;
        draft->job.early_stop.rule = EARLY_DECAY;
    }
}

static void read_goal(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    static const struct field_choice goals[] = {{"GOAL_TYPE_UNSPECIFIED", 0, 0},
                                                {"MAXIMIZE", 1, 0},
                                                {"MINIMIZE", 2, 1},
                                                {NULL, 0, 0}};
    const struct field row = {.name = field->name, .choices = goals};
    int minimize = 0;
    field_choose(reader, at, &row, &minimize);
    ((struct metric_goal *)into)->maximize = minimize == 0;
}

static void read_resumed(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    const char **name = arena_alloc(reader->arena, 1, sizeof *name);
    const struct field row = {.name = field->name};
    field_text(reader, at, &row, name);
    if (at.node->kind == NODE_STRING && (*name)[0] != '\0')
        *(struct strings *)into = (struct strings){1, name};
}

static const struct field search_rows[] = {
    {"goal", read_goal, .offset = AIP(metric)},
    {"hyperparameterMetricTag", field_metric, .offset = AIP(metric.name)},
    {"maxTrials", field_whole, JOB(max_trials), .min = 1, .max = HT_MAX_TRIALS},
    {"maxParallelTrials", field_whole, JOB(parallel), .min = 1,
     .max = HT_MAX_PARALLEL},
    {"maxFailedTrials", field_whole, JOB(max_failed), .max = HT_MAX_TRIALS},
    {.name = "params", .read = read_params},
    {.name = "algorithm", .read = read_algorithm},
    {.name = "enableTrialEarlyStopping", .read = read_early_stop},
    {"resumePreviousJobId", read_resumed, .offset = JOB(warm_start)},
    {0}};

void aip_search(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    struct aip_draft *aip = into;
    struct job *job = &aip->draft.job;
    job->kind = JOB_TUNING;
    job->metrics = &aip->metric;
    job->n_metrics = 1;
    aip->metric = (struct metric_goal){.name = AIP_METRIC, .maximize = true};
    aip->draft.metrics = at;
    field_read_map(reader, at, search_rows, into);
    if (at.node->kind == NODE_MAP &&
        field_member(reader, at, "params").node == NULL)
        field_missing(reader, at, "params", "what to search");
}
