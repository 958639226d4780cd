#include "proto/job/command.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"

/* ---- splitting ---- */

/* Moves `c` over what follows a backslash or a quote, appending the bytes it
 * stands for. NULL: the quote is not closed. */
static const char *take_quoted(const char *c, struct text *word)
{
    char quote = *c++;
    for (; *c && *c != quote; c++) {
        /* Inside double quotes a backslash only escapes these four. */
        if (quote == '"' && *c == '\\' && c[1] && strchr("\"\\$`", c[1]))
            c++;
        text_append(word, c, 1);
    }
    return *c ? c + 1 : NULL;
}

static const char *take_word(const char *c, struct text *word)
{
    while (c && *c && !strchr(" \t\n\r", *c)) {
        if (*c == '\'' || *c == '"') {
            c = take_quoted(c, word);
        } else if (*c == '\\' && c[1] == '\n') {
            c += 2; /* a continued line */
        } else {
            if (*c == '\\' && c[1])
                c++;
            text_append(word, c++, 1);
        }
    }
    return c;
}

enum ht_status command_split(struct arena *arena, const char *line,
                             struct strings *words, struct ht_error *err)
{
    const char **items = NULL;
    size_t n = 0;
    for (const char *c = line;;) {
        c += strspn(c, " \t\n\r");
        if (*c == '\\' && c[1] == '\n') {
            c += 2;
            continue;
        }
        if (*c == '\0')
            break;
        struct text word = {0};
        c = take_word(c, &word);
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = text_take(&word, arena);
        if (c == NULL)
            return ht_fail(err, HT_INVALID, "a quote is not closed");
    }
    if (n == 0)
        return ht_fail(err, HT_INVALID, "the command is empty");
    *words = (struct strings){.n = n, .items = items};
    return HT_OK;
}

/* ---- substitution ---- */

/* Whether "${name}" of the parameter is at `c`; *len is the length of the
 * whole reference. */
static bool refers_to(const struct param *param, const char *c, size_t *len)
{
    const size_t name = strlen(param->name);
    if (strncmp(c, "${", 2) != 0 || strncmp(c + 2, param->name, name) != 0 ||
        c[2 + name] != '}')
        return false;
    *len = name + 3;
    return true;
}

/* The declared parameter that a reference at `c` names, or -1: of those that
 * share the name the one that has a value in the point. */
static int reference_at(const struct space *space, const struct value point[],
                        const char *c, size_t *len)
{
    int found = -1;
    for (size_t i = 0; i < space->n; i++)
        if (refers_to(&space->params[i], c, len) &&
            (found < 0 || !point[i].absent))
            found = (int)i;
    return found;
}

/* A word that mentions a parameter which does not exist in this point. */
static bool mentions_absent(const struct job *job, const char *word,
                            const struct value point[])
{
    if (!job->substitute)
        return false;
    for (const char *c = strstr(word, "${"); c; c = strstr(c + 1, "${")) {
        size_t len;
        const int i = reference_at(&job->space, point, c, &len);
        if (i >= 0 && point[i].absent)
            return true;
    }
    return false;
}

/* What stands for the seed in words, so that a shell that replaces the
 * variable by itself sees the same. */
static const char seed_reference[] = "${HYPERTUNE_SEED}";

static size_t put_seed(struct text *text, int64_t seed)
{
    text_printf(text, "%lld", (long long)seed);
    return sizeof seed_reference - 1;
}

static const char *substitute(struct arena *arena, const struct job *job,
                              const char *word, const struct value point[],
                              int64_t seed)
{
    if (!job->substitute || strstr(word, "${") == NULL)
        return word;
    struct text text = {0};
    for (const char *c = word; *c;) {
        size_t len = 1;
        int i = reference_at(&job->space, point, c, &len);
        if (i >= 0)
            space_value_text(&job->space.params[i], point[i], &text);
        else if (strncmp(c, seed_reference, sizeof seed_reference - 1) == 0)
            len = put_seed(&text, seed);
        else
            text_append(&text, c, 1);
        c += len;
    }
    return text_take(&text, arena);
}

static void mark_word(const struct space *space, const char *word, bool used[])
{
    for (const char *c = strstr(word, "${"); c; c = strstr(c + 1, "${")) {
        size_t len;
        for (size_t i = 0; i < space->n; i++)
            if (refers_to(&space->params[i], c, &len))
                used[i] = true;
    }
}

void command_mark_used(const struct space *space, const struct pool *pool,
                       bool used[])
{
    for (size_t i = 0; i < pool->command.n; i++)
        mark_word(space, pool->command.items[i], used);
    for (size_t i = 0; i < pool->args.n; i++)
        mark_word(space, pool->args.items[i], used);
    for (size_t i = 0; i < pool->env.n; i++)
        mark_word(space, pool->env.items[i].value, used);
}

bool command_has_reference(const struct space *space, const struct pool *pool)
{
    bool used[HT_MAX_PARAMETERS] = {false}, any = false;
    command_mark_used(space, pool, used);
    for (size_t i = 0; i < space->n; i++)
        any |= used[i];
    return any;
}

static const char *param_argument(struct arena *arena,
                                  const struct param *param, struct value value)
{
    struct text text = {0};
    text_printf(&text, "--%s=", param->name);
    space_value_text(param, value, &text);
    return text_take(&text, arena);
}

struct strings command_line(struct arena *arena, const struct job *job,
                            const struct pool *pool, const struct value point[],
                            int64_t seed)
{
    const struct space *space = &job->space;
    size_t most = pool->command.n + pool->args.n + space->n;
    const char **items = arena_alloc(arena, most + 1, sizeof *items);
    bool *used = arena_alloc(arena, space->n + 1, sizeof *used);
    size_t n = 0;
    const struct strings *const parts[] = {&pool->command, &pool->args};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < parts[k]->n; i++)
            if (!mentions_absent(job, parts[k]->items[i], point))
                items[n++] =
                    substitute(arena, job, parts[k]->items[i], point, seed);
    if (job->args_mode == ARGS_AUTO && job->substitute)
        command_mark_used(space, pool, used);
    for (size_t i = 0; i < space->n && job->args_mode != ARGS_NONE; i++)
        if (!used[i] && !point[i].absent)
            items[n++] = param_argument(arena, &space->params[i], point[i]);
    return (struct strings){.n = n, .items = items};
}

struct strings command_params(struct arena *arena, const struct space *space,
                              const struct value point[])
{
    const char **items = arena_alloc(arena, space->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        if (!point[i].absent)
            items[n++] = param_argument(arena, &space->params[i], point[i]);
    return (struct strings){.n = n, .items = items};
}

/* Length of the name in $(NAME) at `c`; 0 when there is none. */
static size_t variable_at(const char *c)
{
    if (c[0] != '$' || c[1] != '(')
        return 0;
    const char *close = strchr(c + 2, ')');
    return close ? (size_t)(close - c) - 2 : 0;
}

/* The value of the variable that was set last under the name, or NULL. */
static const char *find_variable(const struct pair pairs[], size_t n,
                                 const char *name, size_t len)
{
    for (; n > 0; n--)
        if (strlen(pairs[n - 1].name) == len &&
            memcmp(pairs[n - 1].name, name, len) == 0)
            return pairs[n - 1].value;
    return NULL;
}

/* A value of Google's forms; `earlier` are the n variables before it. */
static const char *expand(struct arena *arena, const char *value,
                          const struct pair earlier[], size_t n)
{
    if (strstr(value, "$(") == NULL)
        return value;
    struct text text = {0};
    for (const char *c = value; *c;) {
        const bool literal = c[0] == '$' && variable_at(c + 1) > 0;
        const size_t len = literal ? 0 : variable_at(c);
        const char *found =
            len > 0 ? find_variable(earlier, n, c + 2, len) : NULL;
        if (found) {
            text_puts(&text, found);
            c += len + 3;
        } else if (literal) {
            text_append(&text, c + 1, variable_at(c + 1) + 3);
            c += variable_at(c + 1) + 4;
        } else {
            text_append(&text, c++, 1);
        }
    }
    return text_take(&text, arena);
}

struct pairs command_env(struct arena *arena, const struct job *job,
                         const struct pool *pool, const struct value point[],
                         int64_t seed)
{
    struct pair *items = arena_alloc(arena, pool->env.n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < pool->env.n; i++) {
        const struct pair *pair = &pool->env.items[i];
        if (mentions_absent(job, pair->value, point))
            continue;
        items[n].name = pair->name;
        items[n].value = job->substitute
                             ? substitute(arena, job, pair->value, point, seed)
                             : expand(arena, pair->value, items, n);
        n++;
    }
    return (struct pairs){.n = n, .items = items};
}

/* ---- JSON ---- */

struct values {
    struct arena *arena;
    const struct job *job;
    const struct value *point;
    int64_t seed;
};

static void substitute_tree(const struct values *values, cJSON *tree)
{
    for (cJSON *item = tree->child, *next; item != NULL; item = next) {
        const char *text = cJSON_IsString(item) ? item->valuestring : NULL;
        next = item->next;
        if (text == NULL)
            substitute_tree(values, item);
        else if (mentions_absent(values->job, text, values->point))
            cJSON_Delete(cJSON_DetachItemViaPointer(tree, item));
        else if (strstr(text, "${") != NULL)
            cJSON_SetValuestring(item,
                                 substitute(values->arena, values->job, text,
                                            values->point, values->seed));
    }
}

const char *command_json(struct arena *arena, const struct job *job,
                         const char *json, const struct value point[],
                         int64_t seed)
{
    if (json == NULL || !job->substitute)
        return json;
    const struct values values = {
        .arena = arena, .job = job, .point = point, .seed = seed};
    cJSON *tree = json_of_node(node_read_stored(arena, json));
    substitute_tree(&values, tree);
    return json_text(arena, tree);
}

/* ---- modules ---- */

struct strings command_of_module(struct arena *arena, const char *module)
{
    const char **items = arena_alloc(arena, 3, sizeof *items);
    items[0] = "python3";
    items[1] = "-m";
    items[2] = module;
    return (struct strings){.n = 3, .items = items};
}

bool command_is_module(const struct pool *pool)
{
    const struct strings *command = &pool->command;
    return pool->image == NULL && command->n == 3 &&
           strcmp(command->items[0], "python3") == 0 &&
           strcmp(command->items[1], "-m") == 0;
}
