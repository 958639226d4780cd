/* native_goal.c - the goals, metrics and bounds of the native form. */

#include <string.h>

#include "proto/base/number.h"
#include "proto/doc/json.h"
#include "proto/form/native.h"

/* ---- goal ---- */

static bool read_direction(const struct field_reader *reader, struct place at,
                           const char *word, bool *maximize)
{
    static const char *const directions[] = {"maximize", "minimize", NULL};
    for (size_t i = 0; directions[i]; i++) {
        if (strcmp(word, directions[i]) == 0) {
            *maximize = i == 0;
            return true;
        }
    }
    const char *meant = field_meant(reader, word, directions);
    field_error(reader, at, "must begin with maximize or minimize, not \"%s\"",
                word);
    diag_hint(reader->diag, "%s",
              meant ? meant : "such as \"maximize accuracy\"");
    return false;
}

static void read_one_goal(const struct field_reader *reader, struct place at,
                          struct metric_goal *goal)
{
    const char *text = node_string(at.node);
    if (text == NULL) {
        field_wrong_kind(reader, at, "text such as \"maximize accuracy\"");
        return;
    }
    text += strspn(text, " ");
    size_t len = strcspn(text, " ");
    const char *word = arena_strndup(reader->arena, text, len);
    if (!read_direction(reader, at, word, &goal->maximize))
        return;
    text += len + strspn(text + len, " ");
    if (*text == '\0') {
        field_error(reader, at, "names no metric");
        diag_hint(reader->diag, "such as \"%s accuracy\"", word);
    } else if (field_is_metric(reader, at, text)) {
        goal->name = text;
    }
}

/* ---- safety ---- */

static const char safety_form[] =
    "a text such as \"memory <= 4\" or \"memory <= 4 for 90% of trials\"";

/* Takes a number from the text; false when there is none. */
static bool take_number(const struct field_reader *reader, const char **text,
                        double *value)
{
    *text += strspn(*text, " ");
    const size_t len = number_scan(*text, strlen(*text));
    const char *number = arena_strndup(reader->arena, *text, len);
    *text += len;
    return number_double(number, value);
}

/* What follows a threshold: nothing, or "for SHARE of trials", a number
 * above 0 and at most 1, or the same in percent. */
static bool read_safe_share(const struct field_reader *reader, const char *text,
                            double *share)
{
    double number;
    text += strspn(text, " ");
    if (*text == '\0')
        return true;
    if (strncmp(text, "for ", 4) != 0)
        return false;
    text += 4;
    if (!take_number(reader, &text, &number))
        return false;
    *share = *text == '%' ? number / 100 : number;
    text += *text == '%' ? 1 : 0;
    text += strspn(text, " ");
    return *share > 0 && *share <= 1 && strcmp(text, "of trials") == 0;
}

/* The last "<=" or ">=", behind the metric's name. */
static const char *find_relation(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; *at != '\0'; at++)
        if ((*at == '<' || *at == '>') && at[1] == '=')
            found = at;
    return found;
}

static bool read_bound(const struct field_reader *reader, struct place at,
                       const char *text, struct metric_goal *goal)
{
    const char *relation = find_relation(text);
    if (relation == NULL)
        return false;
    size_t len = (size_t)(relation - text);
    while (len > 0 && text[len - 1] == ' ')
        len--;
    goal->safety = true;
    goal->maximize = *relation == '>';
    goal->name = arena_strndup(reader->arena, text, len);
    relation += 2;
    return take_number(reader, &relation, &goal->threshold) &&
           read_safe_share(reader, relation, &goal->safe_share) &&
           field_is_metric(reader, at, goal->name);
}

static void read_one_safety(const struct field_reader *reader, struct place at,
                            struct metric_goal *goal)
{
    const char *text = node_string(at.node);
    const size_t before = reader->diag->errors;
    if (text != NULL && read_bound(reader, at, text + strspn(text, " "), goal))
        return;
    if (reader->diag->errors > before)
        return;
    if (text != NULL)
        field_error(reader, at, "must be %s", safety_form);
    else
        field_wrong_kind(reader, at, safety_form);
}

/* ---- both ---- */

typedef void read_function(const struct field_reader *reader, struct place at,
                           struct metric_goal *goal);

/* One text or a list of them, behind the metrics that are there. */
static void read_goals(const struct field_reader *reader, struct place at,
                       read_function *read_one, const char *what,
                       struct job *job)
{
    const size_t n = at.node->kind == NODE_LIST ? at.node->count : 1;
    const size_t before = reader->diag->errors;
    if (n == 0)
        field_error(reader, at, "needs at least one %s", what);
    struct metric_goal *goals =
        arena_alloc(reader->arena, job->n_metrics + n, sizeof *goals);
    for (size_t i = 0; i < job->n_metrics; i++)
        goals[i] = job->metrics[i];
    struct metric_goal *goal = &goals[job->n_metrics];
    for (const struct place *item = field_items(reader, at); item->node; item++)
        read_one(reader, *item, goal++);
    if (reader->diag->errors > before)
        return;
    job->metrics = goals;
    job->n_metrics += n;
}

void native_goal(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    (void)field;
    struct native_draft *native = into;
    native->draft.metrics = at;
    read_goals(reader, at, read_one_goal, "goal", &native->draft.job);
}

void native_safety(const struct field_reader *reader, struct place at,
                   const struct field *field, void *into)
{
    (void)field;
    struct native_draft *native = into;
    read_goals(reader, at, read_one_safety, "bound", &native->draft.job);
}

/* ---- written ---- */

static void write_share(struct text *text, double share)
{
    char number[TEXT_DOUBLE_BYTES];
    const double percent = share * 100;
    const bool exact = percent / 100 == share;
    text_printf(text, " for %s%s of trials",
                text_of_double(number, exact ? percent : share),
                exact ? "%" : "");
}

void native_goal_text(const struct metric_goal *goal, struct text *text)
{
    char number[TEXT_DOUBLE_BYTES];
    if (!goal->safety) {
        text_printf(text, "%s %s", goal->maximize ? "maximize" : "minimize",
                    goal->name);
        return;
    }
    text_printf(text, "%s %s %s", goal->name, goal->maximize ? ">=" : "<=",
                text_of_double(number, goal->threshold));
    if (goal->safe_share > 0)
        write_share(text, goal->safe_share);
}

static void add_goals(cJSON *root, const char *key, const struct job *job,
                      bool safety)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_metrics; i++)
        n += job->metrics[i].safety == safety ? 1 : 0;
    cJSON *list = n > 1 ? json_add_array(root, key) : NULL;
    for (size_t i = 0; i < job->n_metrics; i++) {
        struct text text = {0};
        if (job->metrics[i].safety != safety)
            continue;
        native_goal_text(&job->metrics[i], &text);
        if (list != NULL)
            json_push_string(list, text.data);
        else
            json_add_string(root, key, text.data);
        text_free(&text);
    }
}

void native_add_goals(cJSON *root, const struct job *job)
{
    add_goals(root, "goal", job, false);
    add_goals(root, "safety", job, true);
}
