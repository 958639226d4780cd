#include "hypertune/cli/spec/edit.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"

/* ---- a parameter in place of another ---- */

/* The value of one parameter as one of another; false when it has none such. */
static bool move_value(const struct param *old, struct value value,
                       const struct param *new, struct value *moved)
{
    struct text text = {0};
    space_value_text(old, value, &text);
    const struct node node = {
        .kind = old->type == PARAM_CATEGORICAL ? NODE_STRING : NODE_NUMBER,
        .text = text_string(&text)};
    const bool good = space_param_read(new, &node, moved, NULL) == HT_OK;
    text_free(&text);
    return good;
}

/* Values of a finite parameter are indexes, so what names them changes with
 * its list. */
static enum ht_status move_condition(struct arena *arena,
                                     const struct space *space, size_t child,
                                     struct condition *condition,
                                     const struct param *new,
                                     struct ht_error *err)
{
    const struct param *old = &space->params[condition->parent];
    struct value *moved = arena_alloc(arena, condition->n, sizeof *moved);
    for (size_t i = 0; i < condition->n; i++) {
        if (move_value(old, condition->values[i], new, &moved[i]))
            continue;
        struct text text = {0};
        space_value_text(old, condition->values[i], &text);
        return ht_fail(
            err, HT_INVALID, "%.64s: must keep %.64s, with which %.64s exists",
            old->name, text_take(&text, arena), space->params[child].name);
    }
    condition->values = moved;
    return HT_OK;
}

static enum ht_status put(struct arena *arena, const struct space *space,
                          size_t index, struct param *new, struct ht_error *err)
{
    struct param *old = &space->params[index];
    new->when = old->when;
    if (!new->has_default && old->has_default)
        new->has_default = move_value(old, old->fallback, new, &new->fallback);
    for (size_t i = 0; i < space->n; i++) {
        struct condition *condition = space->params[i].when;
        for (; condition != NULL; condition = condition->next) {
            const enum ht_status status =
                condition->parent == index
                    ? move_condition(arena, space, i, condition, new, err)
                    : HT_OK;
            if (status != HT_OK)
                return status;
        }
    }
    *old = *new;
    return HT_OK;
}

enum ht_status cli_edit_replace(struct arena *arena, struct job *job,
                                const struct param *param, struct ht_error *err)
{
    struct space *space = &job->space;
    struct param new = *param;
    const int index = space_find(space, param->name);
    if (index >= 0)
        return put(arena, space, (size_t)index, &new, err);
    struct param *params = arena_alloc(arena, space->n + 1, sizeof *params);
    for (size_t i = 0; i < space->n; i++)
        params[i] = space->params[i];
    params[space->n++] = new;
    space->params = params;
    return HT_OK;
}

/* ---- one edit ---- */

struct edit {
    struct arena *arena;
    struct param *param; /* as it becomes */
    const char *form;
};

static enum ht_status refuse_form(const struct edit *edit, struct ht_error *err)
{
    static const char *const said[] = {
        "a range of numbers: 0.1..0.9, ..0.9, 0.1.., 0..1:0.25",
        "a range of whole numbers: 1..8, ..8, 1.., 16..128:16",
        "a list of numbers: +64,128 adds, -16 removes, 16,32 are all",
        "a list of values: +lion,adamw adds, -sgd removes, adam,sgd are all"};
    return ht_fail(err, HT_INVALID, "%.64s=%.64s: %.64s needs %s",
                   edit->param->name, edit->form, edit->param->name,
                   said[edit->param->type]);
}

/* ---- ranges ---- */

/* Parts of "LOW..HIGH:STEP"; "": stays as it is. */
struct range {
    const char *low, *high, *step;
};

static bool split_range(const struct edit *edit, struct range *range)
{
    const char *dots = strstr(edit->form, "..");
    if (dots == NULL)
        return false;
    const char *high = dots + 2;
    const size_t len = strcspn(high, ":");
    range->low =
        arena_strndup(edit->arena, edit->form, (size_t)(dots - edit->form));
    range->high = arena_strndup(edit->arena, high, len);
    range->step = high[len] == ':' ? high + len + 1 : "";
    const bool bare = high[len] == ':' && range->step[0] == '\0';
    return !bare && range->low[0] + range->high[0] + range->step[0] != 0;
}

static enum ht_status refuse_ends(const struct param *param, const char *low,
                                  const char *high, struct ht_error *err)
{
    return ht_fail(err, HT_INVALID,
                   "%.64s: its low end %s would be above its high end %s",
                   param->name, low, high);
}

static enum ht_status check_low(const struct param *param, double low,
                                struct ht_error *err)
{
    if (param->scale == SCALE_LINEAR || low > 0)
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "%.64s: its scale is logarithmic, so its low end must be "
                   "over 0, not %.15g",
                   param->name, low);
}

static enum ht_status refuse_step(const struct param *param, const char *step,
                                  struct ht_error *err)
{
    return ht_fail(err, HT_INVALID,
                   "%.64s: its step %s must be over 0 and fit into the range",
                   param->name, step);
}

static bool read_real(const char *text, double *value)
{
    return text[0] == '\0' || number_double(text, value);
}

static enum ht_status edit_real(const struct edit *edit,
                                const struct range *range, struct ht_error *err)
{
    char low[TEXT_DOUBLE_BYTES], high[TEXT_DOUBLE_BYTES];
    struct param *param = edit->param;
    if (!read_real(range->low, &param->min) ||
        !read_real(range->high, &param->max) ||
        !read_real(range->step, &param->step))
        return refuse_form(edit, err);
    if (param->min == param->max && range->step[0] == '\0')
        param->step = 0; /* a constant has none */
    text_of_double(low, param->min);
    text_of_double(high, param->max);
    if (param->min > param->max)
        return refuse_ends(param, low, high, err);
    if (param->step < 0 || param->step > param->max - param->min)
        return refuse_step(param, text_of_double(low, param->step), err);
    return check_low(param, param->min, err);
}

static bool read_whole(const char *text, int64_t *value)
{
    return text[0] == '\0' || number_int64(text, value);
}

static enum ht_status edit_whole(const struct edit *edit,
                                 const struct range *range,
                                 struct ht_error *err)
{
    struct param *param = edit->param;
    if (!read_whole(range->low, &param->int_min) ||
        !read_whole(range->high, &param->int_max) ||
        !read_whole(range->step, &param->int_step))
        return refuse_form(edit, err);
    const bool is_constant =
        param->int_min == param->int_max && range->step[0] == '\0';
    if (param->int_step == 0 || is_constant)
        param->int_step = 1;
    if (param->int_min > param->int_max)
        return refuse_ends(
            param, arena_printf(edit->arena, "%lld", (long long)param->int_min),
            arena_printf(edit->arena, "%lld", (long long)param->int_max), err);
    const uint64_t span = (uint64_t)param->int_max - (uint64_t)param->int_min;
    if (param->int_step < 0 ||
        (param->int_step > 1 && (uint64_t)param->int_step > span))
        return refuse_step(
            param,
            arena_printf(edit->arena, "%lld", (long long)param->int_step), err);
    return check_low(param, (double)param->int_min, err);
}

/* ---- lists ---- */

/* The word as the values of the parameter are written; NULL: it is none. */
static const char *read_word(const struct edit *edit, const char *word)
{
    char number[TEXT_DOUBLE_BYTES];
    double value;
    if (edit->param->type == PARAM_CATEGORICAL)
        return word[0] == '\0' ? NULL : word;
    if (!number_double(word, &value))
        return NULL;
    return arena_strdup(edit->arena, text_of_double(number, value));
}

/* Moves the word out of the list; false when it is not there. */
static bool take_word(struct words *words, const char *word)
{
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->items[i], word) != 0)
            words->items[n++] = words->items[i];
    const bool taken = n < words->n;
    words->n = n;
    return taken;
}

/* One word of the form, whose sign is `how`, or '='. */
static enum ht_status edit_word(const struct edit *edit, char how,
                                const char *word, struct words *all,
                                struct ht_error *err)
{
    const char *value = read_word(edit, word), *name = edit->param->name;
    if (value == NULL)
        return refuse_form(edit, err);
    if (how == '-' && take_word(all, value))
        return HT_OK;
    if (how == '-') {
        words_add(edit->arena, all, NULL); /* ends the list of names */
        const bool named = edit->param->type == PARAM_CATEGORICAL;
        const char *near = named ? words_nearest(value, all->items) : NULL;
        return ht_fail(err, HT_INVALID, "%.64s: has no value %.64s%s%.64s%s",
                       name, value, near ? " (did you mean " : "",
                       near ? near : "", near ? "?)" : "");
    }
    if (words_include(all, value))
        return ht_fail(err, HT_INVALID,
                       how == '+' ? "%.64s: has the value %.64s already"
                                  : "%.64s: the value %.64s is given twice",
                       name, value);
    words_add(edit->arena, all, value);
    return HT_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void set_values(const struct edit *edit, const struct words *all)
{
    struct param *param = edit->param;
    param->n_values = all->n;
    if (param->type == PARAM_CATEGORICAL) {
        param->labels = all->items;
        return;
    }
    double *numbers = arena_alloc(edit->arena, all->n, sizeof *numbers);
    for (size_t i = 0; i < all->n; i++)
        number_double(all->items[i], &numbers[i]);
    qsort(numbers, all->n, sizeof *numbers, by_value);
    param->numbers = numbers;
}

static enum ht_status edit_list(const struct edit *edit, struct ht_error *err)
{
    const struct param *param = edit->param;
    char how = edit->form[0] == '+' || edit->form[0] == '-' ? '+' : '=';
    const bool is_signed = how == '+', is_marked = edit->form[0] == '=';
    struct words all = {0};
    for (size_t i = 0; is_signed && i < param->n_values; i++) {
        struct text text = {0};
        space_value_text(param, space_param_level(param, i), &text);
        words_add(edit->arena, &all,
                  read_word(edit, text_take(&text, edit->arena)));
    }
    char *rest = arena_strdup(edit->arena, edit->form + is_marked), *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        if (is_signed && (word[0] == '+' || word[0] == '-'))
            how = *word++;
        const enum ht_status status = edit_word(edit, how, word, &all, err);
        if (status != HT_OK)
            return status;
    }
    if (all.n == 0)
        return ht_fail(err, HT_INVALID, "%.64s: must keep at least one value",
                       param->name);
    set_values(edit, &all);
    return HT_OK;
}

/* ---- the edit of a parameter ---- */

static enum ht_status apply(const struct edit *edit, struct ht_error *err)
{
    struct range range;
    const enum param_type type = edit->param->type;
    if (type == PARAM_DISCRETE || type == PARAM_CATEGORICAL)
        return edit_list(edit, err);
    if (!split_range(edit, &range))
        return refuse_form(edit, err);
    return type == PARAM_DOUBLE ? edit_real(edit, &range, err)
                                : edit_whole(edit, &range, err);
}

static enum ht_status find(struct arena *arena, const struct space *space,
                           const char *name, size_t *index,
                           struct ht_error *err)
{
    const int found = space_find(space, name);
    if (found < 0) {
        const char *near = words_nearest(name, space_names(arena, space));
        return ht_fail(
            err, HT_NOT_FOUND, "there is no parameter \"%.64s\"%s%.64s%s", name,
            near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    *index = (size_t)found;
    for (size_t i = *index + 1; i < space->n; i++)
        if (strcmp(space->params[i].name, name) == 0)
            return ht_fail(err, HT_INVALID,
                           "several parameters are called %.64s, each beside "
                           "other values of its parent; change the whole job "
                           "over HTTP",
                           name);
    return HT_OK;
}

enum ht_status cli_edit_parameter(struct arena *arena, struct job *job,
                                  const char *text, struct ht_error *err)
{
    const size_t len = strcspn(text, "=");
    const char *name = arena_strndup(arena, text, len);
    size_t index = 0;
    enum ht_status status = find(arena, &job->space, name, &index, err);
    if (status != HT_OK)
        return status;
    /* Only what is said here: what earlier trials had is the server's. */
    const struct param *old = &job->space.params[index];
    struct param new = {.name = old->name,
                        .type = old->type,
                        .scale = old->scale,
                        .scale_said = old->scale_said,
                        .min = old->min,
                        .max = old->max,
                        .step = old->step,
                        .int_min = old->int_min,
                        .int_max = old->int_max,
                        .int_step = old->int_step,
                        .n_values = old->n_values,
                        .numbers = old->numbers,
                        .labels = old->labels};
    const struct edit edit = {arena, &new, text + len + (text[len] == '=')};
    status = apply(&edit, err);
    return status == HT_OK ? put(arena, &job->space, index, &new, err) : status;
}

bool cli_edit_names_kind(const char *text)
{
    static const char *const kinds[] = {
        "log:", "rlog:", "int:", "real:", "linear:"};
    const char *equals = strchr(text, '=');
    for (size_t i = 0; equals && i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(equals + 1, kinds[i], strlen(kinds[i])) == 0)
            return strstr(equals, "..") != NULL;
    return false;
}

/* ---- constraints, bounds, the early stopping rule ---- */

static bool same_expression(const char *a, const char *b)
{
    do {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b)
            return false;
    } while (*a++ != '\0' && *b++ != '\0');
    return true;
}

static size_t find_constraint(const struct job *job, const char *text)
{
    size_t i = 0;
    while (i < job->constraints.n &&
           !same_expression(job->constraints.items[i], text))
        i++;
    return i;
}

enum ht_status cli_edit_add_constraint(struct arena *arena, struct job *job,
                                       const char *text, struct ht_error *err)
{
    struct strings *all = &job->constraints;
    const char **items = arena_alloc(arena, all->n + 1, sizeof *items);
    if (find_constraint(job, text) < all->n)
        return ht_fail(err, HT_INVALID,
                       "the constraint \"%.128s\" is there already", text);
    for (size_t i = 0; i < all->n; i++)
        items[i] = all->items[i];
    items[all->n] = text;
    *all = (struct strings){all->n + 1, items};
    return HT_OK;
}

enum ht_status cli_edit_remove_constraint(struct arena *arena, struct job *job,
                                          const char *text,
                                          struct ht_error *err)
{
    struct strings *all = &job->constraints;
    const size_t at = find_constraint(job, text);
    const char **items = arena_alloc(arena, all->n + 1, sizeof *items);
    size_t n = 0;
    if (at == all->n)
        return ht_fail(err, HT_NOT_FOUND,
                       "there is no constraint \"%.100s\"%s%.100s", text,
                       all->n > 0 ? "; the first is " : "",
                       all->n > 0 ? all->items[0] : "");
    for (size_t i = 0; i < all->n; i++)
        if (i != at)
            items[n++] = all->items[i];
    *all = (struct strings){n, items};
    return HT_OK;
}

enum ht_status cli_edit_bound(struct arena *arena, struct job *job,
                              const struct metric_goal *bound,
                              struct ht_error *err)
{
    struct metric_goal *metrics =
        arena_alloc(arena, job->n_metrics + 1, sizeof *metrics);
    const char **names = arena_alloc(arena, job->n_metrics + 1, sizeof *names);
    size_t at = job->n_metrics, n = 0;
    for (size_t i = 0; i < job->n_metrics; i++) {
        metrics[i] = job->metrics[i];
        if (metrics[i].safety)
            names[n++] = metrics[i].name;
        if (metrics[i].safety && strcmp(metrics[i].name, bound->name) == 0)
            at = i;
    }
    if (at == job->n_metrics) {
        const char *near = words_nearest(bound->name, names);
        return ht_fail(err, HT_NOT_FOUND,
                       "there is no safety metric \"%.64s\"%s%.64s%s",
                       bound->name, near ? " (did you mean " : "",
                       near ? near : "", near ? "?)" : "");
    }
    if (metrics[at].maximize != bound->maximize)
        return ht_fail(err, HT_INVALID,
                       "the bound of %.64s is %s, which cannot change",
                       bound->name, bound->maximize ? "<=" : ">=");
    metrics[at].threshold = bound->threshold;
    if (bound->safe_share > 0)
        metrics[at].safe_share = bound->safe_share;
    job->metrics = metrics;
    return HT_OK;
}

void cli_edit_add_rule(struct arena *arena, cJSON *spec, const char *text)
{
    char *rest = arena_strdup(arena, text), *word;
    const char *rule = strsep(&rest, ":");
    if (rest == NULL) {
        json_add_string(spec, "earlyStopping", rule);
        return;
    }
    cJSON *map = json_add_object(spec, "earlyStopping");
    json_add_string(map, "rule", rule);
    while ((word = strsep(&rest, ",")) != NULL) {
        int64_t whole;
        const char *name = strsep(&word, "=");
        if (word == NULL || strcmp(word, "true") == 0)
            json_add_bool(map, name, true);
        else if (strcmp(word, "false") == 0)
            json_add_bool(map, name, false);
        else if (number_int64(word, &whole))
            json_add_int(map, name, whole);
        else
            json_add_string(map, name, word);
    }
}
