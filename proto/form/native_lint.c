/* native_lint.c - warnings about a native spec that is valid but probably not
 * what was meant. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/form/native.h"
#include "proto/job/command.h"
#include "proto/job/pattern.h"

/* ---- references ---- */

/* Warns of a ${nam} that looks like a declared name; any other ${...} is the
 * command's own affair. */
static void check_references(const struct field_reader *reader,
                             const struct space *space, struct place at,
                             const char *word)
{
    const char *const *names = space_names(reader->arena, space);
    for (const char *c = strstr(word, "${"); c; c = strstr(c + 2, "${")) {
        const char *close = strchr(c, '}');
        if (close == NULL)
            return;
        const char *name =
            arena_strndup(reader->arena, c + 2, (size_t)(close - c) - 2);
        if (space_find(space, name) >= 0 || strcmp(name, "trialDir") == 0)
            continue;
        /* A part of a name is more likely a variable of the shell. */
        const char *meant = words_closest(name, names);
        if (meant == NULL)
            continue;
        field_warning(reader, at, "${%s} names no parameter and stays as it is",
                      name);
        diag_hint(reader->diag, "did you mean \"${%s}\"?", meant);
    }
}

static void check_pool_references(const struct field_reader *reader,
                                  const struct space *space,
                                  const struct native_pool *pool)
{
    const struct strings *command = &pool->pool.command;
    const struct place *items =
        pool->command.node ? field_items(reader, pool->command) : NULL;
    const bool is_list =
        pool->command.node && pool->command.node->kind == NODE_LIST;
    for (size_t i = 0; items && i < command->n; i++)
        check_references(reader, space, items[is_list ? i : 0],
                         command->items[i]);
    const struct pairs *env = &pool->pool.env;
    for (size_t i = 0; pool->env.node && i < env->n; i++)
        check_references(reader, space,
                         field_member(reader, pool->env, env->items[i].name),
                         env->items[i].value);
}

/* ---- shell scripts ---- */

static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh"};
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(base, shells[i]) == 0)
            return true;
    return false;
}

/* Index of the script in `sh -c SCRIPT`, 0 when there is none. */
static size_t script_index(const struct strings *command)
{
    if (command->n == 0 || !is_shell(command->items[0]))
        return 0;
    for (size_t i = 1; i + 1 < command->n; i++) {
        const char *word = command->items[i];
        if (word[0] != '-')
            return 0;
        if (word[1] != '-' && strchr(word, 'c'))
            return i + 1;
    }
    return 0;
}

/* Whether a script uses its arguments: $@, $*, $1, ${1}, ${@}. */
static bool uses_arguments(const char *script)
{
    for (const char *c = strchr(script, '$'); c; c = strchr(c + 1, '$')) {
        char next = c[c[1] == '{' ? 2 : 1];
        if (next == '@' || next == '*' || next == '#' ||
            (next >= '1' && next <= '9'))
            return true;
    }
    return false;
}

/* A parameter that becomes a flag behind the command, or NULL. */
static const char *appended(const struct job *job, const struct pool *pool)
{
    bool used[HT_MAX_PARAMETERS] = {false};
    if (job->args_mode == ARGS_AUTO)
        command_mark_used(&job->space, pool, used);
    for (size_t i = 0; i < job->space.n && job->args_mode != ARGS_NONE; i++)
        if (!used[i])
            return job->space.params[i].name;
    return NULL;
}

static void check_script(const struct field_reader *reader,
                         const struct job *job,
                         const struct native_pool *native)
{
    const struct strings *command = &native->pool.command;
    const char *name = appended(job, &native->pool);
    size_t script = script_index(command);
    if (native->command.node == NULL || script == 0 || name == NULL)
        return;
    if (!uses_arguments(command->items[script])) {
        field_warning(reader, native->command,
                      "the script never uses its arguments, so --%s=VALUE is "
                      "lost",
                      name);
        diag_hint(reader->diag, "write ${%s} where the value belongs", name);
    } else if (script + 1 == command->n && native->pool.args.n == 0) {
        field_warning(reader, native->command,
                      "the first flag after a -c script is its $0, which "
                      "\"$@\" leaves out");
        diag_hint(reader->diag, "add a word after the script, such as %s",
                  command->items[0]);
    }
}

/* ---- patterns ---- */

static bool has_name(const struct pattern *pattern, const char *name)
{
    size_t n;
    const char *const *names = pattern_names(pattern, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void check_patterns(const struct field_reader *reader,
                           const struct native_draft *native)
{
    const struct job *job = &native->draft.job;
    const struct strings *patterns = &job->stdout_patterns;
    struct place at = native->stdout_patterns;
    bool found = false, good = true;
    if (patterns->n == 0)
        return;
    const struct place *items = field_items(reader, at);
    for (size_t i = 0; i < patterns->n; i++) {
        struct ht_error err;
        struct pattern *pattern;
        if (pattern_compile(reader->arena, patterns->items[i], &pattern,
                            &err) == HT_OK) {
            found |=
                job->n_metrics > 0 && has_name(pattern, job->metrics[0].name);
        } else {
            field_error(reader, items[i], "%s", err.text);
            good = false;
        }
    }
    if (!found && good && job->n_metrics > 0 && job->metrics_file == NULL &&
        job->metrics_events == NULL) {
        field_warning(reader, at, "no pattern reads the objective %s",
                      job->metrics[0].name);
        diag_hint(reader->diag, "such as \"%s={%s}\"", job->metrics[0].name,
                  job->metrics[0].name);
    }
}

/* ---- constants ---- */

/* Only a noisy metric is worth a second trial of the same point. */
static void check_constants(const struct field_reader *reader,
                            const struct native_draft *native)
{
    const struct job *job = &native->draft.job;
    if (job->space.n == 0 || space_size(&job->space) != 1 ||
        job->max_trials < 2 || job->noise == JOB_NOISE_HIGH)
        return;
    field_warning(reader, native->draft.parameters,
                  "has constants alone: every trial would be the same point");
    diag_hint(reader->diag, "give one a range such as %s: {min: 1, max: 8}",
              job->space.params[0].name);
}

void native_lint(const struct field_reader *reader, struct native_draft *native)
{
    check_patterns(reader, native);
    if (reader->diag->errors > 0)
        return; /* names may be missing that the command refers to */
    const struct job *job = &native->draft.job;
    check_constants(reader, native);
    for (size_t i = 0; i < JOB_POOLS; i++) {
        check_pool_references(reader, &job->space, &native->pools[i]);
        check_script(reader, job, &native->pools[i]);
    }
}
