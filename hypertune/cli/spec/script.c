/* script.c - the script that a command runs, and a warning when it is missing.
 */

#include "hypertune/cli/spec/spec.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/words.h"

/* ---- the script among the words ---- */

/* An interpreter takes its first word that is no option as a script. Only
 * options that are known to have no value are passed over: behind any other
 * one nothing is certain. */
struct interpreter {
    const char *name;  /* its file's name, before a version */
    const char *plain; /* letters of options without a value */
    bool words;        /* "--option" has none either */
};

static const struct interpreter interpreters[] = {
    {"python", "uBOEIsSvqbdixP", false},
    {"sh", "eux", false},
    {"bash", "eux", false},
    {"dash", "eux", false},
    {"zsh", "eux", false},
    {"Rscript", "", true},
    {"julia", "", false},
    {"node", "", false},
    {"perl", "wWT", false},
    {"ruby", "w", false}};

static const struct interpreter *find_interpreter(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *base = slash != NULL ? slash + 1 : program;
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        const size_t len = strlen(interpreters[i].name);
        if (strncmp(base, interpreters[i].name, len) == 0 &&
            base[len + strspn(base + len, "0123456789.")] == '\0')
            return &interpreters[i];
    }
    return NULL;
}

static bool is_passed_over(const struct interpreter *interpreter,
                           const char *word)
{
    if (word[0] != '-' || word[1] == '\0')
        return false;
    if (word[1] == '-')
        return interpreter->words && word[2] != '\0';
    return word[1 + strspn(word + 1, interpreter->plain)] == '\0';
}

size_t cli_script_find(const struct strings *command, bool *module)
{
    const struct interpreter *interpreter =
        command->n > 0 ? find_interpreter(command->items[0]) : NULL;
    size_t i = 1;
    *module = false;
    if (interpreter == NULL)
        return 0;
    while (i < command->n && is_passed_over(interpreter, command->items[i]))
        i++;
    if (i + 1 < command->n && interpreter == interpreters &&
        strcmp(command->items[i], "-m") == 0) {
        *module = true;
        return i + 1;
    }
    return i < command->n && command->items[i][0] != '-' ? i : 0;
}

/* ---- whether it is there ---- */

enum { MOST_FILES = 256 }; /* that are compared with a missing name */

/* The nearest of the files beside a missing one; NULL: none is near. */
static const char *nearest_file(struct cli *cli, const char *folder,
                                const char *name)
{
    const char *names[MOST_FILES + 1] = {NULL};
    size_t n = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && n < MOST_FILES && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            names[n++] = arena_strdup(cli->arena, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    return words_nearest(name, names);
}

/* Warns at the word in the spec, when the command is from there. */
static void warn(const struct cli_launch *launch, const char *word,
                 const char *path, const char *program)
{
    const struct node *place = node_first(launch->root, "command"),
                      *one = place;
    while (one != NULL && strcmp(cli_scalar(one), word) != 0)
        one = one->next;
    const char *name = strrchr(path, '/') + 1;
    const char *folder = arena_strndup(
        launch->cli->arena, path, (size_t)(name - path) - (name - path > 1));
    const char *near = nearest_file(launch->cli, folder, name);
    diag_warning(launch->diag, one != NULL ? one->line : 0,
                 one != NULL ? one->column : 0, "command",
                 "%s is not in %s, so %s will fail", name, folder, program);
    if (near != NULL)
        diag_hint(launch->diag, "did you mean %s?", near);
}

/* A package in the working folder comes before all others of its name. */
static const char *missing_module(struct arena *arena, const char *workdir,
                                  const char *module)
{
    char *path = arena_printf(arena, "%s/%s", workdir, module);
    const size_t first = strlen(workdir) + 1;
    const size_t top = first + strcspn(path + first, ".");
    if (path[top] == '\0' ||
        access(arena_printf(arena, "%.*s/__init__.py", (int)top, path), F_OK))
        return NULL;
    for (char *dot = path + top; dot != NULL; dot = strchr(dot, '.'))
        *dot = '/';
    const char *file = arena_printf(arena, "%s.py", path);
    return access(path, F_OK) != 0 && access(file, F_OK) != 0 ? file : NULL;
}

void cli_script_check(const struct cli_launch *launch, const struct job *job,
                      const struct pool *pool)
{
    struct arena *arena = launch->cli->arena;
    bool module;
    const size_t i = cli_script_find(&pool->command, &module);
    const char *word = pool->command.items[i], *path;
    if (i == 0 || strstr(word, "://") != NULL || strstr(word, "${") != NULL)
        return;
    if (module)
        path = missing_module(arena, job->workdir, word);
    else
        path = word[0] == '/'
                   ? word
                   : arena_printf(arena, "%s/%s", job->workdir, word);
    if (path != NULL && access(path, F_OK) != 0)
        warn(launch, word, path, pool->command.items[0]);
}
