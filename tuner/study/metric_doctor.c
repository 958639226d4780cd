#include "tuner/study/metric_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "proto/doc/similar_name.h"
#include "proto/job/pattern.h"
#include "tuner/base/reason.h"

enum {
    MOST_NAMES = 16, /* of metrics that came, each replica's its own */
    MOST_HINTS = 8,
    NAMES_SHOWN = 8, /* in the reason */
    NAME_SHOWN = 64  /* bytes of each there */
};

struct seen_metric { /* of a metric */
    const char *name;
    int64_t count; /* 0: only the heading of a column */
    const char *first, *last;
    const char *file; /* "": not known */
    int64_t line;
    const char *replica;
};

struct doctor {
    struct arena *arena;
    const struct metric_symptoms *symptoms;
    size_t n_seen, n_hints;
    struct seen_metric seen[MOST_NAMES];
    const char *hints[MOST_HINTS];
    const char *pattern; /* that reads such lines; NULL: none is known */
};

/* ---- what came ---- */

static void add_seen(struct doctor *doctor, struct seen_metric metric)
{
    for (size_t i = 0; i < doctor->n_seen; i++)
        if (strcmp(doctor->seen[i].name, metric.name) == 0 &&
            strcmp(doctor->seen[i].replica, metric.replica) == 0)
            return;
    if (doctor->n_seen < MOST_NAMES)
        doctor->seen[doctor->n_seen++] = metric;
}

static void see_evidence(struct doctor *doctor)
{
    const struct node *names = node_find(doctor->symptoms->evidence, "names");
    const struct node *item =
        names != NULL && names->kind == NODE_LIST ? names->first : NULL;
    for (; item != NULL; item = item->next)
        add_seen(doctor, (struct seen_metric){
                             .name = node_get_string(item, "name", ""),
                             .count = node_get_int(item, "count", 0),
                             .first = node_get_string(item, "first", ""),
                             .last = node_get_string(item, "last", ""),
                             .file = node_get_string(item, "file", ""),
                             .line = node_get_int(item, "line", 0),
                             .replica = node_get_string(item, "replica", "")});
}

static void see_records(struct doctor *doctor)
{
    const struct measurement_list *list = &doctor->symptoms->records;
    for (size_t i = 0; i < list->n; i++) {
        const char *metrics = list->rows[i].metrics;
        struct diag diag;
        diag_init(&diag, doctor->arena, "metrics", metrics, strlen(metrics));
        const struct node *map =
            node_read_json(doctor->arena, metrics, strlen(metrics), &diag);
        const struct node *item = map == NULL ? NULL : map->first;
        for (; item != NULL; item = item->next)
            add_seen(doctor,
                     (struct seen_metric){.name = item->key,
                                          .count = 1,
                                          .first = "",
                                          .last = "",
                                          .file = "",
                                          .replica = list->rows[i].replica});
    }
}

/* ---- what may help ---- */

static void add_hint(struct doctor *doctor, const char *hint)
{
    if (doctor->n_hints < MOST_HINTS)
        doctor->hints[doctor->n_hints++] = hint;
}

static void hint_replicas(struct doctor *doctor)
{
    const char *metric = doctor->symptoms->metric;
    for (size_t i = 0; i < doctor->n_seen; i++) {
        const struct seen_metric *seen = &doctor->seen[i];
        if (seen->count > 0 && strcmp(seen->name, metric) == 0 &&
            strcmp(seen->replica, doctor->symptoms->master) != 0) {
            add_hint(doctor, arena_printf(doctor->arena,
                                          "%.64s reported %s, but only the "
                                          "reports of %s count",
                                          seen->replica, metric,
                                          doctor->symptoms->master));
            return;
        }
    }
}

static const struct seen_metric *find_nearest(const struct doctor *doctor)
{
    const struct seen_metric *nearest = NULL;
    enum likeness best = LIKENESS_NONE;
    for (size_t i = 0; i < doctor->n_seen; i++) {
        const struct seen_metric *seen = &doctor->seen[i];
        const enum likeness like =
            similar_name_score(doctor->symptoms->metric, seen->name);
        if (like > best && strcmp(seen->name, doctor->symptoms->metric) != 0) {
            best = like;
            nearest = seen;
        }
    }
    return nearest;
}

static void hint_nearest(struct doctor *doctor,
                         const struct seen_metric *nearest)
{
    if (nearest == NULL)
        return;
    const char *place =
        nearest->file[0] == '\0'
            ? ""
            : arena_printf(doctor->arena, " (%s, line %lld)", nearest->file,
                           (long long)nearest->line);
    add_hint(doctor, arena_printf(doctor->arena, "%.64s%s may be meant",
                                  nearest->name, place));
}

static void hint_file(struct doctor *doctor)
{
    const struct node *file = node_find(doctor->symptoms->evidence, "file");
    const char *path = doctor->symptoms->job->metrics_file;
    const char *columns = "";
    if (path == NULL)
        return;
    if (file != NULL) {
        add_hint(doctor,
                 arena_printf(doctor->arena, "the metrics file %s is %.16s",
                              path, node_get_string(file, "state", "")));
        return;
    }
    for (size_t i = 0; i < doctor->n_seen; i++)
        if (doctor->seen[i].count == 0)
            columns = arena_printf(doctor->arena, "%s%s%.64s", columns,
                                   columns[0] == '\0' ? "" : ", ",
                                   doctor->seen[i].name);
    if (columns[0] != '\0')
        add_hint(doctor, arena_printf(doctor->arena, "%s has %s but no %s",
                                      path, columns, doctor->symptoms->metric));
}

/* The line's words as a pattern of `metrics: {stdout: ...}`. */
static const char *pattern_of(struct doctor *doctor, const char *before)
{
    struct text text = {0};
    for (; *before != '\0'; before++) {
        if (*before == '{' || *before == '}')
            text_append(&text, before, 1);
        text_append(&text, before, 1);
    }
    text_printf(&text, "{%s}", doctor->symptoms->metric);
    return text_take(&text, doctor->arena);
}

/* Whether the value is the upper part of a fraction, as in "8655/10000": alone
 * it is another number. */
static bool is_fraction(const char *line, const char *before)
{
    const char *value = strstr(line, before);
    char *end;
    if (value == NULL)
        return false;
    value += strlen(before);
    (void)strtod(value, &end);
    end += strspn(end, " ");
    return end > value && *end == '/' &&
           strspn(end + 1 + strspn(end + 1, " "), "0123456789") > 0;
}

/* Whether it reads the line, which the evidence may have cut. */
static bool reads_line(struct doctor *doctor, const char *text,
                       const char *line)
{
    struct pattern *pattern;
    struct report report;
    return pattern_compile(doctor->arena, text, &pattern, NULL) == HT_OK &&
           pattern_match(doctor->arena, pattern, line, strlen(line), &report);
}

/* The pattern is offered when what it reads would count. */
static void note_pattern(struct doctor *doctor, const struct node *line,
                         const char *pattern)
{
    const char *replica = node_get_string(line, "replica", "");
    if (strcmp(replica, doctor->symptoms->master) == 0 &&
        reads_line(doctor, pattern, node_get_string(line, "text", "")))
        doctor->pattern = pattern;
}

static void hint_line(struct doctor *doctor)
{
    const struct node *line = node_find(doctor->symptoms->evidence, "line");
    if (line == NULL)
        return;
    const char *stream = node_get_string(line, "stream", "");
    const bool readable = strcmp(stream, "stdout") == 0;
    add_hint(doctor,
             arena_printf(doctor->arena, "line %lld of %.16s looks like it: %s",
                          (long long)node_get_int(line, "line", 0), stream,
                          node_get_string(line, "text", "")));
    if (!readable) {
        add_hint(doctor,
                 "patterns read stdout alone: print it there, or begin the "
                 "command with sh -c 'exec \"$0\" \"$@\" 2>&1'");
        return;
    }
    const char *before = node_get_string(line, "before", "");
    if (is_fraction(node_get_string(line, "text", ""), before)) {
        add_hint(doctor, "it is a fraction, of which a pattern reads one "
                         "number: print the quotient");
        return;
    }
    const char *pattern = pattern_of(doctor, before);
    add_hint(doctor,
             arena_printf(doctor->arena,
                          "such lines are read with the pattern: %s", pattern));
    note_pattern(doctor, line, pattern);
}

static void hint_patterns(struct doctor *doctor)
{
    const struct strings *patterns = &doctor->symptoms->job->stdout_patterns;
    bool matched = doctor->symptoms->evidence == NULL;
    for (size_t i = 0; i < doctor->n_seen; i++)
        matched = matched || strcmp(doctor->seen[i].file, "stdout") == 0;
    if (!matched && patterns->n > 0)
        add_hint(doctor,
                 arena_printf(doctor->arena, "no line of stdout matches %s%s",
                              patterns->items[0],
                              patterns->n > 1 ? " or another pattern" : ""));
}

static void hint_events(struct doctor *doctor)
{
    const char *folder = doctor->symptoms->job->metrics_events;
    bool found = doctor->symptoms->evidence == NULL;
    for (size_t i = 0; i < doctor->n_seen; i++)
        found = found || strcmp(doctor->seen[i].file, "events.jsonl") == 0;
    if (!found && folder != NULL)
        add_hint(doctor, arena_printf(doctor->arena,
                                      "no event file below %.128s has a scalar",
                                      folder));
}

static void hint_elsewhere(struct doctor *doctor)
{
    const char *path =
        node_get_string(doctor->symptoms->evidence, "elsewhere", "");
    if (path[0] != '\0')
        add_hint(doctor, arena_printf(doctor->arena,
                                      "%.64s was written meanwhile: the "
                                      "trial's own file is "
                                      "CLOUD_ML_HP_METRIC_FILE",
                                      path));
}

/* ---- the words ---- */

static const char *reason_of(const struct doctor *doctor)
{
    const char *text = arena_printf(doctor->arena, "ended without reporting %s",
                                    doctor->symptoms->metric);
    size_t shown = 0;
    for (size_t i = 0; i < doctor->n_seen && shown < NAMES_SHOWN; i++) {
        const struct seen_metric *seen = &doctor->seen[i];
        if (seen->count == 0 ||
            strcmp(seen->name, doctor->symptoms->metric) == 0)
            continue;
        text = arena_printf(doctor->arena, "%s%s%.*s", text,
                            shown++ == 0 ? "; saw: " : ", ", NAME_SHOWN,
                            seen->name);
    }
    if (doctor->n_hints > 0)
        text = arena_printf(doctor->arena, "%s; %s", text, doctor->hints[0]);
    return reason_cut(doctor->arena, text);
}

static void add_seen_json(cJSON *array, const struct seen_metric *seen)
{
    cJSON *item = json_push_object(array);
    json_add_string(item, "name", seen->name);
    json_add_string(item, "replica", seen->replica);
    if (seen->file[0] == '\0')
        return;
    json_add_int(item, "count", seen->count);
    if (seen->count > 0) {
        json_add_string(item, "first", seen->first);
        json_add_string(item, "last", seen->last);
    }
    json_add_string(item, "file", seen->file);
    json_add_int(item, "line", seen->line);
}

static const char *json_of(const struct doctor *doctor,
                           const struct seen_metric *nearest)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "metric", doctor->symptoms->metric);
    if (nearest != NULL)
        json_add_string(object, "nearest", nearest->name);
    json_add_text(object, "pattern", doctor->pattern);
    cJSON *seen = json_add_array(object, "seen");
    for (size_t i = 0; i < doctor->n_seen; i++)
        add_seen_json(seen, &doctor->seen[i]);
    cJSON *hints = json_add_array(object, "hints");
    for (size_t i = 0; i < doctor->n_hints; i++)
        json_push_string(hints, doctor->hints[i]);
    return json_text(doctor->arena, object);
}

struct metric_diagnosis
metric_doctor_examine(struct arena *arena,
                      const struct metric_symptoms *symptoms)
{
    struct doctor doctor = {.arena = arena, .symptoms = symptoms};
    see_evidence(&doctor);
    see_records(&doctor);
    const struct seen_metric *nearest = find_nearest(&doctor);
    hint_replicas(&doctor);
    hint_nearest(&doctor, nearest);
    hint_file(&doctor);
    hint_events(&doctor);
    hint_line(&doctor);
    hint_patterns(&doctor);
    hint_elsewhere(&doctor);
    return (struct metric_diagnosis){.reason = reason_of(&doctor),
                                     .json = json_of(&doctor, nearest)};
}
