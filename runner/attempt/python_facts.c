#include "runner/attempt/python_facts.h"

#include <string.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 5000,
    FRESH_MS = 10000, /* an answer is valid: packages are installed by people,
                         and an interpreter's start is not cheap */
    MOST_OUTPUT = 4096
};

/* A line "Python VERSION", its file, then "NAME VERSION" for each package. A
 * Python before 3.8 cannot look packages up and prints none. */
static const char script[] =
    "import sys\n"
    "print('Python %d.%d.%d' % sys.version_info[:3])\n"
    "print('Program %s' % sys.executable)\n"
    "try:\n"
    "    from importlib.metadata import version\n"
    "except ImportError:\n"
    "    sys.exit()\n"
    "for name in ('numpy', 'scikit-learn', 'torch', 'tensorflow', 'keras',\n"
    "             'jax', 'xgboost', 'lightgbm', 'lightning', 'transformers'):\n"
    "    try:\n"
    "        print(name, version(name))\n"
    "    except Exception:\n"
    "        pass\n";

/* The variables that decide which Python and which packages are found. */
static const char *const names[] = {"PATH",         "PYTHONPATH",
                                    "PYTHONHOME",   "VIRTUAL_ENV",
                                    "CONDA_PREFIX", "LD_LIBRARY_PATH"};
enum { N_NAMES = sizeof names / sizeof *names };

static const char *find(const struct pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].value;
    return NULL;
}

static const char *value_of(const struct order *order,
                            const struct replica_order *replica,
                            const char *name)
{
    const char *own = find(&replica->env, name);
    return own != NULL ? own : find(&order->captured, name);
}

/* "python", "python3", "python3.11". */
static bool is_python(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *base = slash != NULL ? slash + 1 : program;
    return strncmp(base, "python", 6) == 0 &&
           base[6 + strspn(base + 6, "0123456789.")] == '\0';
}

/* The file that execvp(3) would take in the replica's folder and PATH. */
static const char *find_program(struct arena *arena, const char *name,
                                const char *path, const char *workdir)
{
    if (name[0] == '/')
        return name;
    if (strchr(name, '/') != NULL)
        return workdir == NULL ? NULL
                               : arena_printf(arena, "%s/%s", workdir, name);
    char *rest = arena_strdup(
        arena, path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
    for (char *folder; (folder = strsep(&rest, ":")) != NULL;) {
        const char *file = arena_printf(arena, "%s/%s", folder, name);
        if (folder[0] == '/' && access(file, X_OK) == 0)
            return file;
    }
    return NULL;
}

static void read_answer(struct arena *arena, const char *output,
                        struct python_facts *facts)
{
    char *rest = arena_strdup(arena, output), *line;
    struct pair *items = NULL;
    size_t n = 0;
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *blank = strchr(line, ' ');
        if (blank == NULL)
            continue;
        *blank = '\0';
        if (facts->version == NULL && strcmp(line, "Python") != 0)
            return; /* a program of another kind */
        if (facts->version == NULL) {
            facts->version = blank + 1;
            continue;
        }
        if (strcmp(line, "Program") == 0) {
            facts->program = blank + 1;
            continue;
        }
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = (struct pair){.name = line, .value = blank + 1};
    }
    facts->packages = (struct pairs){.n = n, .items = items};
}

struct python_facts python_facts_ask(struct probes *probes, struct arena *arena,
                                     const struct site *site,
                                     const struct order *order,
                                     const struct replica_order *replica,
                                     int64_t now_ms)
{
    struct python_facts facts = {.known = true};
    if (replica->argv.n == 0 || !is_python(replica->argv.items[0]))
        return facts;
    const char *path = value_of(order, replica, "PATH");
    facts.program =
        find_program(arena, replica->argv.items[0], path, replica->workdir);
    if (facts.program == NULL)
        return facts;
    const struct pairs *inherited = &site->inherited;
    const char **env =
        arena_alloc(arena, N_NAMES + inherited->n + 1, sizeof *env);
    size_t n = 0;
    for (; n < inherited->n; n++)
        env[n] = arena_printf(arena, "%s=%s", inherited->items[n].name,
                              inherited->items[n].value);
    const char *key = arena_printf(arena, "python %s", facts.program);
    for (size_t i = 0; i < N_NAMES; i++) {
        const char *value = value_of(order, replica, names[i]);
        if (value == NULL)
            continue;
        env[n] = arena_printf(arena, "%s=%s", names[i], value);
        key = arena_printf(arena, "%s %s", key, env[n++]);
    }
    env[n] = NULL;
    /* -B: no compiled files are left in the user's folders. */
    const char *const argv[] = {facts.program, "-B", "-c", script, NULL};
    const struct probe_question question = {.key = key,
                                            .argv = argv,
                                            .env = env,
                                            .since_ms = now_ms - FRESH_MS,
                                            .patience_ms = PATIENCE_MS,
                                            .most = MOST_OUTPUT};
    const struct probe_answer answer = probe_ask(probes, &question, now_ms);
    facts.known = answer.known;
    read_answer(arena, answer.output, &facts);
    return facts;
}
