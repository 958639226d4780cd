/* early_stop.c - the early stopping rule of a job: read, checked, written. */

#include "proto/job/draft.h"

#include <inttypes.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"

#define STOP(member) offsetof(struct early_stop, member)

enum { LARGEST_FACTOR = 1000 };

/* ---- reading ---- */

static const struct field_choice rules[] = {{"none", -1, EARLY_NONE},
                                            {"median", -1, EARLY_MEDIAN},
                                            {"decay", -1, EARLY_DECAY},
                                            {"convex", -1, EARLY_CONVEX},
                                            {"asha", -1, EARLY_ASHA},
                                            {"hyperband", -1, EARLY_HYPERBAND},
                                            {NULL, 0, 0}};

static void read_axis(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    static const struct field_choice axes[] = {
        {"steps", -1, 0}, {"time", -1, 1}, {NULL, 0, 0}};
    const struct field row = {.name = field->name, .choices = axes};
    const struct field_choice *axis = field_choice(reader, at, &row);
    if (axis)
        ((struct early_stop *)into)->by_time = axis->value == 1;
}

const struct field job_early_stop_rows[] = {
    {"rule", field_choose, STOP(rule), .choices = rules},
    {.name = "by", .read = read_axis},
    {"minSteps", field_whole, STOP(min_steps), .min = 1, .max = HT_MAX_STEPS},
    {"maxSteps", field_whole, STOP(max_steps), .min = 1, .max = HT_MAX_STEPS},
    {"minTrials", field_whole, STOP(min_trials), .min = 1,
     .max = HT_MAX_TRIALS},
    {"minMeasurements", field_whole, STOP(min_measurements), .min = 1,
     .max = HT_MAX_REPORTS},
    {"factor", field_whole, STOP(factor), .min = 2, .max = LARGEST_FACTOR},
    {"pause", field_flag, .offset = STOP(pauses)},
    {0}};

void job_early_stop(const struct field_reader *reader, struct place at,
                    const struct field *field, void *into)
{
    struct job_draft *draft = into;
    draft->early_stop = at;
    if (at.node->kind != NODE_MAP) {
        const struct field row = {.name = field->name, .choices = rules};
        field_choose(reader, at, &row, &draft->job.early_stop.rule);
        return;
    }
    const size_t before = reader->diag->errors;
    field_read_map(reader, at, job_early_stop_rows, &draft->job.early_stop);
    if (node_find(at.node, "rule") || reader->diag->errors > before)
        return; /* it may be there under another name */
    field_error(reader, at, "rule is missing");
    diag_hint(reader->diag, "write \"earlyStopping: {rule: median}\"");
}

/* ---- writing ---- */

const char *job_early_stop_name(enum job_early_stop rule)
{
    return rules[rule].name;
}

bool job_early_stop_has_options(const struct early_stop *stop)
{
    return stop->by_time || stop->min_steps > 0 || stop->max_steps > 0 ||
           stop->min_trials > 0 || stop->min_measurements > 0 ||
           stop->factor > 0 || stop->pauses;
}

void job_early_stop_write(cJSON *object, const struct early_stop *stop)
{
    const char *rule = job_early_stop_name(stop->rule);
    if (!job_early_stop_has_options(stop)) {
        json_add_string(object, "earlyStopping", rule);
        return;
    }
    cJSON *map = json_add_object(object, "earlyStopping");
    json_add_string(map, "rule", rule);
    if (stop->by_time)
        json_add_string(map, "by", "time");
    json_add_count(map, "minSteps", stop->min_steps);
    json_add_count(map, "maxSteps", stop->max_steps);
    json_add_count(map, "minTrials", stop->min_trials);
    json_add_count(map, "minMeasurements", stop->min_measurements);
    json_add_count(map, "factor", stop->factor);
    json_add_flag(map, "pause", stop->pauses);
}

/* ---- checking ---- */

/* The member where it was given, else the whole. */
static struct place place_of(const struct field_reader *reader,
                             struct place whole, const char *member)
{
    if (whole.node->kind != NODE_MAP)
        return whole;
    const struct place at = field_member(reader, whole, member);
    return at.node ? at : whole;
}

/* An option of rules of another kind is a misunderstanding. */
static void check_options(const struct field_reader *reader, struct place at,
                          const struct early_stop *stop)
{
    const bool rungs =
        stop->rule == EARLY_ASHA || stop->rule == EARLY_HYPERBAND;
    const struct {
        const char *name;
        bool said, of_rungs;
    } options[] = {
        {"minTrials", stop->min_trials > 0, false},
        {"minMeasurements", stop->min_measurements > 0, false},
        {"factor", stop->factor > 0, true},
        {"pause", stop->pauses, true},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].said && options[i].of_rungs != rungs)
            field_error(reader, place_of(reader, at, options[i].name),
                        "%s has no %s", job_early_stop_name(stop->rule),
                        options[i].name);
}

static void check_steps(const struct field_reader *reader, struct place at,
                        const struct early_stop *stop)
{
    if (stop->max_steps > 0 && stop->min_steps >= stop->max_steps)
        field_error(reader, place_of(reader, at, "minSteps"),
                    "minSteps must be less than maxSteps, %" PRId64,
                    stop->max_steps);
    if (stop->rule != EARLY_HYPERBAND || stop->max_steps > 0)
        return;
    field_error(reader, at, "hyperband needs maxSteps");
    diag_hint(reader->diag, "say at which step a trial ends by itself");
}

void job_early_stop_check(const struct field_reader *reader,
                          const struct job_draft *draft)
{
    const struct early_stop *stop = &draft->job.early_stop;
    const struct place at = draft->early_stop;
    if (at.node == NULL)
        return;
    if (stop->rule == EARLY_NONE) {
        if (job_early_stop_has_options(stop))
            field_error(reader, at, "the rule none has no options");
        return;
    }
    check_options(reader, at, stop);
    check_steps(reader, at, stop);
    if (stop->pauses && draft->job.kind == JOB_STUDY)
        field_error(reader, place_of(reader, at, "pause"),
                    "only trials that a runner runs can pause");
}
