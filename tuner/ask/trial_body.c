#include "tuner/ask/trial_body.h"

#include <math.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/report.h"
#include "tuner/ask/faults.h"

struct field_reader trial_body_reader(struct request *req)
{
    return (struct field_reader){
        .diag = faults_of(req), .arena = req->arena, .null_is_absent = true};
}

bool trial_body_is_message(const struct request *req)
{
    return req->body == NULL || req->body->kind == NODE_MAP;
}

enum ht_status trial_body_none(struct request *req, struct ht_error *err)
{
    static const struct field none[] = {{0}};
    return trial_body_read(req, none, NULL, err);
}

enum ht_status trial_body_read(struct request *req, const struct field fields[],
                               void *into, struct ht_error *err)
{
    const struct field_reader reader = trial_body_reader(req);
    if (req->body != NULL)
        field_read_map(&reader, (struct place){req->body, ""}, fields, into);
    return faults_check(req, err);
}

size_t trial_body_count(const struct field_reader *reader, struct place at,
                        int most)
{
    if (at.node == NULL)
        return 0;
    if (at.node->kind == NODE_LIST && at.node->count <= (size_t)most)
        return at.node->count;
    field_error(reader, at, "must be a list of at most %d items", most);
    return 0;
}

static void require(const struct field_reader *reader, struct place at,
                    const char *key)
{
    if (at.node->kind == NODE_MAP && field_member(reader, at, key).node == NULL)
        field_missing(reader, at, key, NULL);
}

static bool is_list(const struct field_reader *reader, struct place at)
{
    return at.node->kind == NODE_LIST || field_wrong_kind(reader, at, "a list");
}

/* --- points --- */

static const struct field parameter_fields[] = {
    {"parameterId", field_text, .offset = offsetof(struct named_value, name)},
    {"value", field_place, .offset = offsetof(struct named_value, value)},
    {0}};

/* False after a fault; a name may occur once. */
static bool read_parameter(const struct field_reader *reader, struct place at,
                           const struct space *space,
                           const struct named_value before[], size_t n,
                           struct named_value *parameter)
{
    const size_t errors = reader->diag->errors;
    *parameter = (struct named_value){0};
    field_read_map(reader, at, parameter_fields, parameter);
    require(reader, at, "parameterId");
    require(reader, at, "value");
    if (reader->diag->errors > errors)
        return false;
    if (space_find(space, parameter->name) < 0)
        field_error(reader, field_member(reader, at, "parameterId"),
                    "the study has no parameter \"%.64s\"", parameter->name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(before[i].name, parameter->name) == 0)
            field_error(reader, field_member(reader, at, "parameterId"),
                        "\"%.64s\" is given twice", parameter->name);
    return reader->diag->errors == errors;
}

size_t trial_body_parameters(const struct field_reader *reader, struct place at,
                             const struct space *space,
                             struct named_value said[HT_MAX_PARAMETERS])
{
    size_t index = 0, n = 0;
    if (!is_list(reader, at))
        return 0;
    for (const struct node *node = at.node->first;
         node != NULL && n < HT_MAX_PARAMETERS; node = node->next) {
        const struct place item = field_item(reader, at, node, index++);
        n += read_parameter(reader, item, space, said, n, &said[n]);
    }
    return n;
}

/* From parents to children, whatever their order: a name means the parameter
 * that exists with the values read so far. */
static void read_active(const struct field_reader *reader,
                        const struct space *space,
                        const struct named_value said[], size_t n,
                        struct value point[])
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t k = 0; k < n; k++) {
            struct ht_error why;
            const int i = space_find_active(space, point, said[k].name);
            if (i < 0 || !point[i].absent)
                continue;
            if (space_param_read(&space->params[i], said[k].value.node,
                                 &point[i], &why) != HT_OK) {
                field_error(reader, said[k].value, "%s", why.text);
                point[i].absent = false; /* one fault is enough */
            }
            more = true;
        }
    }
}

/* A value is there exactly where the conditions hold. */
static void check_presence(const struct field_reader *reader, struct place at,
                           const struct space *space,
                           const struct named_value said[], size_t n,
                           const struct value point[])
{
    for (size_t i = 0; i < space->n; i++)
        if (!space->open && point[i].absent && space_active(space, point, i))
            field_error(reader, at, "parameter %s is missing",
                        space->params[i].name);
    for (size_t k = 0; k < n; k++)
        if (space_find_active(space, point, said[k].name) < 0)
            field_error(reader, at,
                        "parameter %s has a value although its conditions do "
                        "not hold",
                        said[k].name);
}

bool trial_body_point(const struct field_reader *reader, struct place at,
                      const struct space *space, struct value point[])
{
    const size_t errors = reader->diag->errors;
    struct named_value said[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < space->n; i++)
        point[i] = (struct value){.absent = true};
    if (at.node == NULL) {
        diag_error(reader->diag, 0, 0, "parameters", "is missing");
        return false;
    }
    const size_t n = trial_body_parameters(reader, at, space, said);
    if (at.node->kind != NODE_LIST)
        return false;
    read_active(reader, space, said, n, point);
    /* A value with a fault would also be reported as missing. */
    if (reader->diag->errors == errors)
        check_presence(reader, at, space, said, n, point);
    return reader->diag->errors == errors;
}

/* --- measurements --- */

struct metric {
    const char *name;
    struct place value;
};

static const struct field metric_fields[] = {
    {"metricId", field_text, .offset = offsetof(struct metric, name)},
    {"value", field_place, .offset = offsetof(struct metric, value)},
    {0}};

bool trial_body_number(const struct field_reader *reader, struct place at,
                       double *value)
{
    static const struct {
        const char *text;
        double value;
    } others[] = {
        {"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = node_string(at.node);
    for (size_t i = 0; text != NULL && i < sizeof others / sizeof *others; i++)
        if (strcmp(text, others[i].text) == 0) {
            *value = others[i].value;
            return true;
        }
    return field_read_real(reader, at, value);
}

static bool is_metric(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_metrics; i++)
        if (strcmp(job->metrics[i].name, name) == 0)
            return true;
    return false;
}

static bool is_given(const struct measurement *measurement, const char *name)
{
    for (size_t i = 0; i < measurement->n_metrics; i++)
        if (strcmp(measurement->metrics[i].name, name) == 0)
            return true;
    return false;
}

static void read_metric(const struct field_reader *reader, struct place at,
                        const struct job *job, struct measurement *found)
{
    struct metric metric = {0};
    double value = 0; /* protobuf leaves zeros out */
    field_read_map(reader, at, metric_fields, &metric);
    if (at.node->kind != NODE_MAP)
        return;
    const struct place name = field_member(reader, at, "metricId");
    if (metric.name == NULL)
        require(reader, at, "metricId");
    else if (!is_metric(job, metric.name))
        field_error(reader, name, "the study has no metric \"%.64s\"",
                    metric.name);
    else if (is_given(found, metric.name))
        field_error(reader, name, "\"%.64s\" is given twice", metric.name);
    else if (metric.value.node == NULL ||
             trial_body_number(reader, metric.value, &value))
        found->metrics[found->n_metrics++] =
            (struct report_metric){metric.name, value};
}

struct draft {
    struct measurement read;
    struct place metrics;
};

#define DRAFT(member) offsetof(struct draft, member)

static const struct field measurement_fields[] = {
    {"stepCount", field_whole, DRAFT(read.step), .min = 0, .max = INT64_MAX},
    {"elapsedDuration", field_duration, .offset = DRAFT(read.elapsed_ms)},
    {"metrics", field_place, .offset = DRAFT(metrics)},
    {0}};

bool trial_body_measurement(const struct field_reader *reader, struct place at,
                            const struct job *job, struct measurement *found)
{
    struct draft draft = {.read.elapsed_ms = MEASUREMENT_UNSAID};
    const size_t errors = reader->diag->errors;
    field_read_map(reader, at, measurement_fields, &draft);
    if (at.node->kind != NODE_MAP)
        return false;
    if (draft.metrics.node == NULL || draft.metrics.node->first == NULL) {
        field_missing(reader, at, "metrics", NULL);
        return false;
    }
    if (!is_list(reader, draft.metrics))
        return false;
    draft.read.metrics = arena_alloc(reader->arena, job->n_metrics + 1,
                                     sizeof *draft.read.metrics);
    size_t index = 0;
    NODE_EACH (node, draft.metrics.node->first)
        read_metric(reader, field_item(reader, draft.metrics, node, index++),
                    job, &draft.read);
    if (reader->diag->errors != errors)
        return false;
    *found = draft.read;
    return true;
}

const double *trial_body_objective(const struct measurement *measurement,
                                   const struct job *job)
{
    for (size_t i = 0; i < measurement->n_metrics; i++)
        if (strcmp(measurement->metrics[i].name, job->metrics[0].name) == 0)
            return &measurement->metrics[i].value;
    return NULL;
}
