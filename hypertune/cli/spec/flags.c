/* flags.c - a study without a spec file: flags become a native spec. */

#include "hypertune/cli/spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"

enum { WORD_BYTES = HT_MAX_LABEL + 1 };

static bool read_number(const char *text, double *value)
{
    char *end;
    if (text[0] == '\0' || strchr(" \t", text[0]) != NULL)
        return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value) && strpbrk(text, "xXnNpP") == NULL;
}

static bool is_whole(const char *text)
{
    size_t sign = text[0] == '-' || text[0] == '+';
    size_t digits = strspn(text + sign, "0123456789");
    return digits > 0 && text[sign + digits] == '\0';
}

/* The word before the ':' of a range. */
struct range_kind {
    const char *prefix, *type, *scale;
};

static const struct range_kind *find_kind(const char *form, size_t *len)
{
    static const struct range_kind kinds[] = {
        {"log:", NULL, "log"},       {"rlog:", NULL, "reverse_log"},
        {"int:", "integer", NULL},   {"real:", "double", NULL},
        {"linear:", NULL, "linear"}, {"", NULL, NULL}};
    const struct range_kind *kind = kinds;
    while (strncmp(form, kind->prefix, strlen(kind->prefix)) != 0)
        kind++;
    *len = strlen(kind->prefix);
    return kind;
}

/* Splits "low..high[:step]"; false when it is no range of numbers. */
static bool split_range(const char *form, char low[WORD_BYTES],
                        char high[WORD_BYTES], char step[WORD_BYTES])
{
    const char *dots = strstr(form, "..");
    if (dots == NULL || strlen(form) >= WORD_BYTES)
        return false;
    snprintf(low, WORD_BYTES, "%.*s", (int)(dots - form), form);
    const char *rest = dots + 2;
    size_t len = strcspn(rest, ":");
    snprintf(high, WORD_BYTES, "%.*s", (int)len, rest);
    snprintf(step, WORD_BYTES, "%s", rest[len] == ':' ? rest + len + 1 : "");
    double value;
    return read_number(low, &value) && read_number(high, &value) &&
           (rest[len] == '\0' || read_number(step, &value));
}

static void add_raw_number(cJSON *object, const char *key, const char *text)
{
    /* JSON has no leading plus or dot, so the number is written anew; whole
     * numbers keep every digit. */
    double value = 0;
    if (is_whole(text))
        json_add_int(object, key, strtoll(text, NULL, 10));
    else if (read_number(text, &value))
        json_add_double(object, key, value);
}

static bool add_range(cJSON *parameters, const char *name, const char *form)
{
    size_t skip;
    const struct range_kind *kind = find_kind(form, &skip);
    char low[WORD_BYTES], high[WORD_BYTES], step[WORD_BYTES];
    if (!split_range(form + skip, low, high, step))
        return false;
    bool whole =
        is_whole(low) && is_whole(high) && (step[0] == '\0' || is_whole(step));
    cJSON *param = json_add_object(parameters, name);
    const char *type = kind->type;
    if (type == NULL)
        type = whole ? "integer" : "double";
    json_add_string(param, "type", type);
    add_raw_number(param, "min", low);
    add_raw_number(param, "max", high);
    if (step[0] != '\0')
        add_raw_number(param, "step", step);
    if (kind->scale != NULL)
        json_add_string(param, "scale", kind->scale);
    return true;
}

static void push_value(cJSON *list, const char *word)
{
    double value;
    if (is_whole(word))
        json_push_int(list, strtoll(word, NULL, 10));
    else if (read_number(word, &value))
        json_push_double(list, value);
    else
        json_push_string(list, word);
}

static bool add_values(cJSON *parameters, const char *name, const char *form)
{
    cJSON *list = json_add_array(parameters, name);
    for (const char *at = form;; at++) {
        size_t len = strcspn(at, ",");
        char word[WORD_BYTES];
        if (len == 0 || len >= sizeof word)
            return false;
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        push_value(list, word);
        at += len;
        if (*at == '\0')
            return true;
    }
}

/* Writes the range that 1-8, 1:8, 1...8 or log:1e-5-0.1 was meant to be; false
 * for another text, such as the date 2026-11. */
static bool range_meant(const char *form, char range[WORD_BYTES])
{
    static const char *const marks[] = {"...", ":", "-", "\xe2\x80\x93"};
    char low[WORD_BYTES], high[WORD_BYTES];
    double least, most;
    size_t skip;
    find_kind(form, &skip);
    const char *first = form + skip;
    if (strlen(form) + 1 >= WORD_BYTES)
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(first, marks[i]);
        for (; mark != NULL; mark = strstr(mark + 1, marks[i])) {
            snprintf(low, sizeof low, "%.*s", (int)(mark - first), first);
            snprintf(high, sizeof high, "%s", mark + strlen(marks[i]));
            if (!read_number(low, &least) || !read_number(high, &most) ||
                least >= most)
                continue;
            snprintf(range, WORD_BYTES, "%.*s%.*s..%s", (int)skip, form,
                     (int)(mark - first), first, mark + strlen(marks[i]));
            return true;
        }
    }
    return false;
}

enum ht_status cli_flags_param(cJSON *parameters, const char *text,
                               struct ht_error *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text ||
        (size_t)(equals - text) > HT_MAX_NAME)
        return ht_fail(err, HT_INVALID,
                       "--param needs NAME=FORM such as lr=log:1e-5..0.1, "
                       "not \"%s\"",
                       text);
    char name[HT_MAX_NAME + 1];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (cJSON_GetObjectItemCaseSensitive(parameters, name) != NULL)
        return ht_fail(err, HT_INVALID, "--param %s is given twice", name);
    const char *form = equals + 1;
    char range[WORD_BYTES];
    if (range_meant(form, range))
        return ht_fail(err, HT_INVALID,
                       "--param %s: \"%.40s\" would be one constant text; a "
                       "range is %s=%.60s",
                       name, form, name, range);
    bool ranged = strstr(form, "..") != NULL && strchr(form, ',') == NULL;
    if (ranged ? add_range(parameters, name, form)
               : add_values(parameters, name, form))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "--param %s: \"%s\" is neither a range such as 1..8 or "
                   "log:1e-5..0.1 nor a list such as adam,sgd",
                   name, form);
}

static void add_goal(cJSON *spec, const struct cli_settings *set)
{
    char goal[WORD_BYTES];
    const bool up = set->maximize != NULL;
    snprintf(goal, sizeof goal, "%s %s", up ? "maximize" : "minimize",
             up ? set->maximize : set->minimize);
    json_add_string(spec, "goal", goal);
}

static enum ht_status add_until(cJSON *spec, const struct words *until,
                                struct ht_error *err)
{
    if (until->n == 0)
        return HT_OK;
    cJSON *object = json_add_object(spec, "until");
    for (size_t i = 0; i < until->n; i++) {
        const char *text = until->items[i];
        const char *value = strchr(text, '=');
        double number;
        if (strncmp(text, "time=", 5) == 0)
            json_add_string(object, "time", text + 5);
        else if (value != NULL && read_number(value + 1, &number) &&
                 strncmp(text, "target=", 7) == 0)
            add_raw_number(object, "target", value + 1);
        else if (value != NULL && is_whole(value + 1) &&
                 strncmp(text, "noProgress=", 11) == 0)
            add_raw_number(object, "noProgress", value + 1);
        else
            return ht_fail(err, HT_INVALID,
                           "--until needs target=NUMBER, time=2h or "
                           "noProgress=N, not \"%s\"",
                           text);
    }
    return HT_OK;
}

static enum ht_status add_env(cJSON *spec, const struct words *env,
                              struct ht_error *err)
{
    if (env->n == 0)
        return HT_OK;
    cJSON *object = json_add_object(spec, "env");
    for (size_t i = 0; i < env->n; i++) {
        const char *equals = strchr(env->items[i], '=');
        char name[HT_MAX_NAME + 1];
        if (equals == NULL || equals == env->items[i] ||
            equals - env->items[i] > HT_MAX_NAME)
            return ht_fail(err, HT_INVALID,
                           "--env needs NAME=VALUE, not \"%s\"", env->items[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - env->items[i]),
                 env->items[i]);
        cJSON_DeleteItemFromObjectCaseSensitive(object, name);
        json_add_string(object, name, equals + 1);
    }
    return HT_OK;
}

static void add_count(cJSON *spec, const char *key, int64_t value)
{
    if (value != CLI_UNSET)
        json_add_int(spec, key, value);
}

static enum ht_status fill_spec(const struct cli_settings *set,
                                const struct node *read, cJSON *spec,
                                struct ht_error *err)
{
    json_add_int(spec, "spec", 1);
    json_add_text(spec, "name", set->name);
    add_goal(spec, set);
    cJSON *parameters =
        read != NULL ? json_of_node(read) : cJSON_CreateObject();
    cJSON_AddItemToObject(spec, "parameters", parameters);
    for (size_t i = 0; i < set->params.n; i++) {
        enum ht_status status =
            cli_flags_param(parameters, set->params.items[i], err);
        if (status != HT_OK)
            return status;
    }
    json_add_text(spec, "algorithm", set->algorithm);
    add_count(spec, "trials", set->trials);
    add_count(spec, "parallel", set->parallel);
    add_count(spec, "retries", set->retries);
    add_count(spec, "maxFailed", set->max_failed);
    if (set->seed != NULL && !is_whole(set->seed))
        return ht_fail(err, HT_INVALID,
                       "--seed needs a whole number, not \"%s\"", set->seed);
    if (set->seed != NULL)
        add_raw_number(spec, "seed", set->seed);
    if (set->trial_timeout_ms != CLI_UNSET) {
        char span[CLOCK_DURATION_BYTES];
        snprintf(span, sizeof span, "%lldms", (long long)set->trial_timeout_ms);
        json_add_string(spec, "trialTimeout", span);
    }
    const enum ht_status status = add_until(spec, &set->until, err);
    return status == HT_OK ? add_env(spec, &set->env, err) : status;
}

enum ht_status cli_flags_spec(const struct cli_settings *set,
                              const struct words *command,
                              const struct node *parameters, cJSON **spec,
                              struct ht_error *err)
{
    if ((set->maximize == NULL) == (set->minimize == NULL))
        return ht_fail(err, HT_INVALID,
                       "say --maximize METRIC or --minimize METRIC%s",
                       set->maximize ? ", not both" : "");
    if (set->params.n == 0 && parameters == NULL)
        return ht_fail(err, HT_INVALID,
                       "say what to vary: --param lr=log:1e-5..0.1");
    if (command->n == 0 && set->image == NULL)
        return ht_fail(err, HT_INVALID,
                       "say what to run, after --: -- python3 train.py");
    cJSON *made = cJSON_CreateObject();
    enum ht_status status = fill_spec(set, parameters, made, err);
    if (status != HT_OK) {
        cJSON_Delete(made);
        return status;
    }
    json_add_text(made, "image", set->image);
    if (set->image == NULL)
        json_add_strings(made, "command",
                         &(struct strings){command->n, command->items});
    *spec = made;
    return HT_OK;
}
