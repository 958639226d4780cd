#include "hypertune/cli_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli_flags.h"
#include "hypertune/cli_name.h"
#include "hypertune/cli_program.h"
#include "proto/diag.h"
#include "proto/job_check.h"
#include "proto/json.h"
#include "proto/limits.h"

/* One document on its way to a job. */
struct source {
    struct diag diag;
    const struct node *root; /* NULL: there was a fault */
    const char *path;        /* of the file, "-", or NULL for flags */
    const char *folder;      /* absolute: the file's, or the current one */
};

static int report_faults(struct cli *cli, const struct source *source)
{
    const struct diag *diag = &source->diag;
    struct text out = {0};
    if (source->path == NULL) {
        /* Places in the document made of flags would mean nothing. */
        for (struct diag_item *i = diag->first; i != NULL; i = i->next)
            i->line = i->column = 0;
    }
    diag_print(diag, &out);
    if (diag->errors > 0 || !cli->set.quiet)
        fputs(out.data ? out.data : "", stderr);
    text_free(&out);
    if (diag->errors == 0)
        return CLI_DONE;
    fprintf(stderr, "%zu error%s, nothing was created\n", diag->errors,
            diag->errors == 1 ? "" : "s");
    return CLI_USAGE;
}

/* ---- reading ---- */

/* One byte beyond the limit is read, so that the reader can refuse it. */
static char *read_all(struct cli *cli, int fd, size_t *len)
{
    struct text content = {0};
    char block[16384];
    ssize_t n;
    while (content.len <= HT_MAX_SPEC &&
           (n = read(fd, block, sizeof block)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            text_free(&content);
            return NULL;
        }
        text_append(&content, block, (size_t)n);
    }
    char *copy = arena_strndup(cli->arena, content.data ? content.data : "",
                               content.len);
    *len = content.len;
    text_free(&content);
    return copy;
}

static const char *current_folder(struct cli *cli)
{
    char *cwd = getcwd(NULL, 0);
    const char *folder = arena_strdup(cli->arena, cwd != NULL ? cwd : "/");
    free(cwd);
    return folder;
}

static const char *folder_of(struct cli *cli, const char *path)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return current_folder(cli);
    char *slash = strrchr(real, '/');
    const char *folder =
        slash == real ? "/"
                      : arena_strndup(cli->arena, real, (size_t)(slash - real));
    free(real);
    return folder;
}

static int read_file(struct cli *cli, const char *path, struct source *source)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    char *content = fd < 0 ? NULL : read_all(cli, fd, &len);
    int code = errno;
    if (fd >= 0 && !is_stdin)
        close(fd);
    if (content == NULL && code == ENOENT)
        return cli_fail(cli, CLI_ABSENT,
                        "no file %s\n  \"hypertune init\" writes one", path);
    if (content == NULL)
        return cli_fail(cli, CLI_USAGE, "cannot read %s: %s", path,
                        strerror(code));
    source->path = path;
    source->folder = is_stdin ? current_folder(cli) : folder_of(cli, path);
    diag_init(&source->diag, cli->arena, is_stdin ? "<stdin>" : path, content,
              len);
    source->root = node_read(cli->arena, content, len, &source->diag);
    return CLI_DONE;
}

static int read_flags(struct cli *cli, struct source *source)
{
    struct ht_error err;
    cJSON *spec;
    if (cli_flags_spec(&cli->set, &cli->args.rest, &spec, &err) != HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    struct text json = {0};
    json_print(spec, &json);
    source->folder = current_folder(cli);
    diag_init(&source->diag, cli->arena, "command line", NULL, 0);
    source->root =
        node_read_json(cli->arena, json.data, json.len, &source->diag);
    text_free(&json);
    return CLI_DONE;
}

/* Flags that only make sense where there is no spec file. */
static const char *superfluous(const struct cli_settings *set)
{
    if (set->maximize != NULL)
        return "--maximize";
    if (set->minimize != NULL)
        return "--minimize";
    if (set->algorithm != NULL)
        return "--algorithm";
    if (set->until.n > 0)
        return "--until";
    return set->env.n > 0 ? "--env" : NULL;
}

static int read_path(struct cli *cli, const char *path, struct source *source)
{
    const char *flag = superfluous(&cli->set);
    if (flag != NULL)
        return cli_fail(cli, CLI_USAGE,
                        "%s belongs into %s, or to a study all in flags", flag,
                        path);
    return read_file(cli, path, source);
}

static int read_source(struct cli *cli, struct source *source)
{
    const struct words *words = &cli->args.words;
    if (words->n > 1)
        return cli_fail(cli, CLI_USAGE, "one spec at a time, not %zu",
                        words->n);
    bool flags = cli->args.has_rest || cli->set.params.n > 0;
    if (words->n == 1 && flags)
        return cli_fail(cli, CLI_USAGE,
                        "either %s or --param and a command, not both",
                        words->items[0]);
    if (words->n == 1)
        return read_path(cli, words->items[0], source);
    if (flags)
        return read_flags(cli, source);
    if (access("spec.yaml", F_OK) == 0)
        return read_path(cli, "spec.yaml", source);
    return cli_fail(cli, CLI_USAGE,
                    "name a spec file, or say it all in flags:\n"
                    "  hypertune run --maximize accuracy --param "
                    "lr=log:1e-5..0.1 -n 20 -- python train.py\n"
                    "  \"hypertune init\" writes a spec.yaml");
}

static struct job *read_job(struct source *source)
{
    if (source->root == NULL)
        return NULL;
    bool vertex = node_find(source->root, "studySpec") != NULL ||
                  node_find(source->root, "trialJobSpec") != NULL;
    return vertex ? job_read_vertex(source->root, JOB_TUNING, &source->diag)
                  : job_read_native(source->root, &source->diag);
}

/* ---- completing ---- */

/* A count that a flag puts in place of the spec's. */
struct override {
    const char *flag;
    int64_t given, *field;
    int64_t least, most;
};

static void apply_counts(struct cli *cli, struct source *source,
                         struct job *job)
{
    const struct cli_settings *set = &cli->set;
    struct override overrides[] = {
        {"--trials", set->trials, &job->max_trials, 1, HT_MAX_TRIALS},
        {"--parallel", set->parallel, &job->parallel, 1, HT_MAX_PARALLEL},
        {"--retries", set->retries, &job->retries, 0, HT_MAX_RETRIES},
        {"--max-failed", set->max_failed, &job->max_failed, 0, HT_MAX_TRIALS},
        {"--trial-timeout", set->trial_timeout_ms, &job->trial_timeout_ms, 1,
         INT64_MAX}};
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        const struct override *one = &overrides[i];
        if (one->given == CLI_UNSET)
            continue;
        if (one->given < one->least || one->given > one->most)
            diag_error(&source->diag, 0, 0, one->flag,
                       "must be %lld to %lld, is %lld", (long long)one->least,
                       (long long)one->most, (long long)one->given);
        *one->field = one->given;
    }
}

/* The rule of the spec's own name, so that a bad one is refused before a
 * server is asked. */
static void check_name(struct cli *cli, struct source *source)
{
    static const struct field row = {.name = "name"};
    const struct field_reader reader = {.diag = &source->diag,
                                        .arena = cli->arena};
    const struct node word = {.kind = NODE_STRING,
                              .text = arena_strdup(cli->arena, cli->set.name)};
    const char *name;
    job_name(&reader, (struct place){&word, "--name"}, &row, &name);
}

static void apply_flags(struct cli *cli, struct source *source, struct job *job)
{
    const struct cli_settings *set = &cli->set;
    if (source->path == NULL)
        return; /* the flags are the spec */
    apply_counts(cli, source, job);
    if (set->name != NULL) {
        if (job->display == job->name)
            job->display = set->name;
        job->name = set->name;
        check_name(cli, source);
    }
    if (set->seed != NULL) {
        char *end;
        errno = 0;
        job->seed = strtoll(set->seed, &end, 10);
        job->has_seed = true;
        if (end == set->seed || *end != '\0' || errno != 0 || job->seed < 0)
            diag_error(&source->diag, 0, 0, "--seed",
                       "must be a whole number from 0, is \"%s\"", set->seed);
    }
}

static void derive_name(struct cli *cli, const struct source *source,
                        struct job *job)
{
    if (job->name != NULL)
        return;
    job->name = source->path != NULL
                    ? cli_name_of_file(cli->arena, source->path, source->folder)
                    : cli_name_of_command(cli->arena, &job->pools[0].command);
    if (job->display == NULL)
        job->display = job->name;
}

static void record_variable(struct cli *cli, const char *name,
                            struct pair pairs[], size_t *n)
{
    const char *value = cli_variable(cli, name);
    if (value == NULL)
        return;
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(pairs[i].name, name) == 0)
            return;
    }
    pairs[(*n)++] = (struct pair){.name = name, .value = value};
}

/* The variables that decide which programs and libraries a command finds. */
static void record_shell(struct cli *cli, struct source *source,
                         struct job *job)
{
    static const char *const names[] = {"PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
                                        "LD_LIBRARY_PATH", "PYTHONPATH"};
    enum { N_NAMES = sizeof names / sizeof *names };
    struct pair *pairs =
        arena_alloc(cli->arena, N_NAMES + job->pass_env.n, sizeof *pairs);
    size_t n = 0;
    for (size_t i = 0; i < N_NAMES; i++)
        record_variable(cli, names[i], pairs, &n);
    for (size_t i = 0; i < job->pass_env.n; i++) {
        const char *name = job->pass_env.items[i];
        if (cli_variable(cli, name) == NULL)
            diag_warning(&source->diag, 0, 0, "passEnv",
                         "%s is not set in this shell", name);
        record_variable(cli, name, pairs, &n);
    }
    job->captured_env = (struct pairs){.n = n, .items = pairs};
}

static void settle_workdir(struct cli *cli, struct source *source,
                           struct job *job)
{
    if (job->workdir == NULL)
        job->workdir = source->folder;
    else if (job->workdir[0] != '/')
        job->workdir =
            arena_printf(cli->arena, "%s/%s", source->folder, job->workdir);
    struct stat info;
    if (stat(job->workdir, &info) != 0 || !S_ISDIR(info.st_mode)) {
        const struct node *place = node_find(source->root, "workdir");
        diag_error(&source->diag, place ? place->line : 0,
                   place ? place->column : 0, "workdir", "%s is no folder",
                   job->workdir);
    }
}

static const char *find_program(struct cli *cli, struct source *source,
                                const struct job *job)
{
    const struct node *place = node_find(source->root, "command");
    struct cli_program_query query = {
        .name =
            job->pools[0].command.n > 0 ? job->pools[0].command.items[0] : NULL,
        .workdir = job->workdir,
        .path = cli_variable(cli, "PATH")};
    const char *program = NULL;
    struct ht_error err;
    if (query.name == NULL || (job->substitute && strstr(query.name, "${")))
        return query.name;
    if (cli_program_find(cli->arena, &query, &program, &err) == HT_OK)
        return program;
    diag_error(&source->diag, place ? place->line : 0,
               place ? place->column : 0, "command", "%s", err.text);
    if (strchr(query.name, '/') == NULL)
        diag_hint(&source->diag, "searched %s",
                  query.path ? query.path : "nothing: PATH is not set");
    return NULL;
}

int cli_spec_load(struct cli *cli, struct cli_spec *spec)
{
    struct source source = {0};
    int code = read_source(cli, &source);
    if (code != CLI_DONE)
        return code;
    struct job *job = read_job(&source);
    const char *program = NULL;
    bool named = false;
    if (job != NULL) {
        apply_flags(cli, &source, job);
        named = job->name != NULL;
        derive_name(cli, &source, job);
        if (job->n_pools > 0 && job->pools[0].image == NULL) {
            record_shell(cli, &source, job);
            settle_workdir(cli, &source, job);
            program = find_program(cli, &source, job);
        }
    }
    code = report_faults(cli, &source);
    if (code != CLI_DONE)
        return code;
    *spec = (struct cli_spec){.job = job,
                              .file = source.diag.file,
                              .program = program,
                              .named = named};
    return CLI_DONE;
}
