#include "hypertune/cli/spec/spec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/refusal.h"
#include "hypertune/cli/study/read_logs.h"
#include "proto/base/limits.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/optuna.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/pattern.h"

/* One document on its way to a job. */
struct source {
    struct diag diag;
    const struct node *root; /* NULL: there was a fault */
    const char *path;        /* of the file, "-", or NULL for flags */
    const char *folder;      /* absolute: the file's, or the current one */
};

void cli_spec_print_diag(const struct diag *diag)
{
    struct text out = {0};
    diag_print(diag, &out);
    cli_print_to(stderr, &out);
}

static int report_faults(struct cli *cli, const struct source *source)
{
    const struct diag *diag = &source->diag;
    if (source->path == NULL) {
        /* Places in the document made of flags would mean nothing. */
        for (struct diag_item *i = diag->first; i != NULL; i = i->next)
            i->line = i->column = 0;
    }
    if (diag->errors > 0 || !cli->set.quiet)
        cli_spec_print_diag(diag);
    if (diag->errors == 0)
        return CLI_DONE;
    fprintf(stderr, "%zu error%s, nothing was created\n", diag->errors,
            diag->errors == 1 ? "" : "s");
    return CLI_USAGE;
}

/* ---- reading ---- */

const char *cli_spec_folder(struct cli *cli)
{
    const char *folder = cli_real_path(cli->arena, ".");
    return folder[0] == '/' ? folder : "/";
}

static const char *folder_of(struct cli *cli, const char *path)
{
    const char *real = cli_real_path(cli->arena, path);
    const char *slash = strrchr(real, '/');
    if (real[0] != '/')
        return cli_spec_folder(cli);
    return slash == real
               ? "/"
               : arena_strndup(cli->arena, real, (size_t)(slash - real));
}

static int read_file(struct cli *cli, const char *path, struct source *source)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t len;
    /* More than the limit, so that the reader can refuse it. */
    char *content = cli_read_all(cli->arena, fd, HT_MAX_SPEC, &len);
    const int code = errno;
    if (content == NULL && code == ENOENT)
        return cli_fail(cli, CLI_ABSENT,
                        "no file %s\n  \"hypertune init\" writes one", path);
    if (content == NULL)
        return cli_fail(cli, CLI_USAGE, "cannot read %s: %s", path,
                        strerror(code));
    source->path = path;
    source->folder = is_stdin ? cli_spec_folder(cli) : folder_of(cli, path);
    diag_init(&source->diag, cli->arena, is_stdin ? "<stdin>" : path, content,
              len);
    source->root = node_read(cli->arena, content, len, &source->diag);
    return CLI_DONE;
}

const struct node *cli_spec_tree(struct cli *cli, cJSON *object,
                                 struct diag *diag)
{
    const char *json = json_text(cli->arena, object);
    return node_read_json(cli->arena, json, strlen(json), diag);
}

/* `parameters` as a spec has them, NULL: those of --param. */
static int read_flags(struct cli *cli, const struct node *parameters,
                      struct source *source)
{
    struct ht_error err;
    cJSON *spec;
    if (cli_flags_spec(&cli->set, &cli->args.rest, parameters, &spec, &err) !=
        HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    source->folder = cli_spec_folder(cli);
    source->path = NULL;
    diag_init(&source->diag, cli->arena, "command line", NULL, 0);
    source->root = cli_spec_tree(cli, spec, &source->diag);
    return CLI_DONE;
}

static int refuse_flags(struct cli *cli, const char *path)
{
    const struct cli_settings *set = &cli->set;
    /* A flag that a spec file replaces. */
    const char *flag = set->maximize != NULL    ? "--maximize"
                       : set->minimize != NULL  ? "--minimize"
                       : set->algorithm != NULL ? "--algorithm"
                       : set->until.n > 0       ? "--until"
                       : set->env.n > 0         ? "--env"
                                                : NULL;
    return flag == NULL
               ? CLI_DONE
               : cli_fail(cli, CLI_USAGE,
                          "%s belongs into %s, or to a study all in flags",
                          flag, path);
}

/* A spec; or a search space of Optuna, to which flags say the rest. */
static int read_path(struct cli *cli, const char *path, struct source *source)
{
    int code = read_file(cli, path, source);
    if (code != CLI_DONE || source->root == NULL ||
        !optuna_is_space(source->root))
        return code == CLI_DONE ? refuse_flags(cli, path) : code;
    source->root = optuna_parameters(source->root, &source->diag);
    return source->root != NULL ? read_flags(cli, source->root, source) : code;
}

static int read_source(struct cli *cli, struct source *source)
{
    const struct words *words = &cli->args.words;
    if (words->n > 0 && cli_refuse_trainer(cli, words) != CLI_DONE)
        return CLI_USAGE;
    if (words->n > 1)
        return cli_fail(cli, CLI_USAGE, "one spec at a time, not %zu",
                        words->n);
    if (words->n == 1 && cli->set.params.n > 0)
        return cli_fail(cli, CLI_USAGE, "either %s or --param, not both",
                        words->items[0]);
    if (words->n == 1)
        return read_path(cli, words->items[0], source);
    if (cli->args.has_rest || cli->set.params.n > 0)
        return read_flags(cli, NULL, source);
    if (access("spec.yaml", F_OK) == 0)
        return read_path(cli, "spec.yaml", source);
    return cli_fail(cli, CLI_USAGE,
                    "name a spec file, or say it all in flags:\n"
                    "  hypertune run --maximize accuracy --param "
                    "lr=log:1e-5..0.1 -n 20 -- python3 train.py\n"
                    "  \"hypertune init\" writes a spec.yaml");
}

/* ---- flags ---- */

/* A count that a flag puts in place of the spec's. */
struct override {
    const char *flag;
    int64_t given, *field;
    int64_t least, most;
    bool search; /* has a meaning for trials of a search only */
};

static void apply_counts(struct cli *cli, struct source *source,
                         struct job *job)
{
    const struct cli_settings *set = &cli->set;
    struct override overrides[] = {
        {"--trials", set->trials, &job->max_trials, 1, HT_MAX_TRIALS, true},
        {"--parallel", set->parallel, &job->parallel, 1, HT_MAX_PARALLEL, true},
        {"--retries", set->retries, &job->retries, 0, HT_MAX_RETRIES, false},
        {"--max-failed", set->max_failed, &job->max_failed, 0, HT_MAX_TRIALS,
         true},
        {"--trial-timeout", set->trial_timeout_ms, &job->trial_timeout_ms, 1,
         INT64_MAX, false}};
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        const struct override *one = &overrides[i];
        if (one->given == CLI_UNSET)
            continue;
        if (one->search && job->kind == JOB_CUSTOM)
            diag_error(&source->diag, 0, 0, one->flag,
                       "has no meaning for a job without hyperparameters");
        else if (one->given < one->least || one->given > one->most)
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
    job_new_name(&reader, (struct place){&word, "--name"}, &row, &name);
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

/* All studies of all the flags, in place of the spec's. */
static void apply_warm_start(struct cli *cli, struct source *source,
                             struct job *job)
{
    const struct words *given = &cli->set.warm_start;
    struct words names = {0};
    for (size_t i = 0; i < given->n; i++) {
        char *rest = arena_strdup(cli->arena, given->items[i]), *name;
        while ((name = strsep(&rest, ",")) != NULL)
            words_add(cli->arena, &names, name);
    }
    if (names.n == 0)
        return;
    job->warm_start = (struct strings){names.n, names.items};
    if (job->kind == JOB_CUSTOM)
        diag_error(&source->diag, 0, 0, "--warm-start",
                   "has no meaning for a job without hyperparameters");
    else if (names.n > HT_MAX_PRIORS)
        diag_error(&source->diag, 0, 0, "--warm-start",
                   "at most %d studies, not %zu", HT_MAX_PRIORS, names.n);
}

static bool reads(struct arena *arena, const struct strings *patterns,
                  const char *metric)
{
    struct pattern *pattern;
    for (size_t i = 0; i < patterns->n; i++) {
        size_t n = 0;
        const char *const *names = NULL;
        if (pattern_compile(arena, patterns->items[i], &pattern, NULL) == HT_OK)
            names = pattern_names(pattern, &n);
        for (size_t k = 0; k < n; k++)
            if (strcmp(names[k], metric) == 0)
                return true;
    }
    return false;
}

/* A line is read by the first pattern that matches it, so those of the flags
 * come before those of the spec. */
static void put_patterns(struct cli *cli, struct diag *diag, struct job *job,
                         const struct strings *given)
{
    const struct strings *old = &job->stdout_patterns;
    const char **all = arena_alloc(cli->arena, given->n + old->n, sizeof *all);
    for (size_t i = 0; i < given->n + old->n; i++)
        all[i] = i < given->n ? given->items[i] : old->items[i - given->n];
    job->stdout_patterns = (struct strings){given->n + old->n, all};
    if (!reads(cli->arena, &job->stdout_patterns, job->metrics[0].name))
        diag_warning(diag, 0, 0, "--metric",
                     "no pattern reads the objective %s", job->metrics[0].name);
}

static void apply_metrics(struct cli *cli, struct source *source,
                          struct job *job)
{
    struct ht_error err;
    struct strings given;
    struct diag *diag = &source->diag;
    if (cli_metric_patterns(cli->arena, &cli->set.metrics, &given, &err) !=
        HT_OK)
        diag_error(diag, 0, 0, "--metric", "%s", err.text);
    else if (given.n > 0 && job->kind == JOB_CUSTOM)
        diag_error(diag, 0, 0, "--metric",
                   "has no meaning for a job without hyperparameters");
    else if (given.n + job->stdout_patterns.n > HT_MAX_METRICS)
        diag_error(diag, 0, 0, "--metric", "at most %d patterns, not %zu",
                   HT_MAX_METRICS, given.n + job->stdout_patterns.n);
    else if (given.n > 0)
        put_patterns(cli, diag, job, &given);
}

static bool same_words(const struct strings *a, const struct strings *b)
{
    for (size_t i = 0; i < a->n && a->n == b->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return a->n == b->n;
}

/* As Google's own command line has it: the job's file leaves the image to a
 * flag, and the words after "--" go to its entry point. */
static void apply_image(struct cli *cli, struct source *source, struct job *job)
{
    const struct words *rest = &cli->args.rest;
    const char *image = cli->set.image, *fault = container_image_fault(image);
    bool taken = source->path == NULL; /* the flags are the spec */
    if (fault != NULL)
        diag_error(&source->diag, 0, 0, "--image", "\"%s\" %s", image, fault);
    for (size_t i = 0; i < job->n_pools; i++) {
        struct pool *pool = &job->pools[i];
        taken |= pool->image == NULL;
        pool->image = pool->image ? pool->image : image;
        if (rest->n > 0)
            pool->args = (struct strings){rest->n, rest->items};
    }
    if (!taken)
        diag_error(&source->diag, 0, 0, "--image",
                   "every replica has an image of its own already");
}

/* The command after "--" runs in the master and in every pool that has no
 * other command than the master's; images have no part in it any more. */
static void apply_command(struct cli *cli, const struct source *source,
                          struct job *job)
{
    const struct words *rest = &cli->args.rest;
    if (source->path == NULL || rest->n == 0)
        return; /* no command, or the spec is made of it */
    const struct strings old = job->pools[0].command;
    for (size_t i = 0; i < job->n_pools; i++) {
        struct pool *pool = &job->pools[i];
        if (pool->command.n == 0 || same_words(&pool->command, &old))
            pool->command = (struct strings){rest->n, rest->items};
        pool->image = NULL;
    }
}

/* ---- the name, when the spec gives none ---- */

enum { NAME_BYTES = 64 };

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Letters, digits, '_', '.' and '-', where one '-' replaces any run of other
 * bytes, starting with a letter: a name that is all digits would be taken for
 * a study's number. */
static const char *tidy(struct arena *arena, const char *base, size_t len)
{
    static const char allowed[] = "-_.0123456789"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = arena_alloc(arena, NAME_BYTES + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len && n < NAME_BYTES; i++) {
        bool kept = base[i] != '\0' && strchr(allowed, base[i]) != NULL;
        if (kept)
            name[n++] = base[i];
        else if (n > 0 && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n > 0 && name[n - 1] == '-')
        name[--n] = '\0';
    if (n == 0)
        return "study";
    if (isalpha((unsigned char)name[0]))
        return name;
    return arena_printf(arena, "study-%s", name);
}

static size_t stem_len(const char *base)
{
    const char *dot = strrchr(base, '.');
    return dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
}

const char *cli_name_of_file(struct arena *arena, const char *path,
                             const char *folder)
{
    static const char *const plain[] = {"-", "spec", "study", "job",
                                        "hypertune"};
    const char *base = base_of(path);
    size_t len = stem_len(base);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strlen(plain[i]) == len && strncmp(base, plain[i], len) == 0)
            return tidy(arena, base_of(folder), strlen(base_of(folder)));
    }
    return tidy(arena, base, len);
}

static bool is_script(const char *word)
{
    static const char *const endings[] = {".py", ".sh", ".R",  ".r",
                                          ".jl", ".pl", ".rb", ".js"};
    size_t len = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (len > n && strcmp(word + len - n, endings[i]) == 0)
            return true;
    }
    return false;
}

const char *cli_name_of_image(struct arena *arena, const char *image)
{
    const char *base = base_of(image);
    return tidy(arena, base, strcspn(base, ":@"));
}

const char *cli_name_of_command(struct arena *arena,
                                const struct strings *command)
{
    for (size_t i = 0; i < command->n; i++) {
        const char *word = command->items[i];
        if (is_script(word)) {
            const char *base = base_of(word);
            return tidy(arena, base, stem_len(base));
        }
        if (strcmp(word, "-m") == 0 && i + 1 < command->n)
            return tidy(arena, command->items[i + 1],
                        strlen(command->items[i + 1]));
    }
    const char *program = command->n > 0 ? base_of(command->items[0]) : "";
    return tidy(arena, program, strlen(program));
}

static void derive_name(struct cli *cli, const struct source *source,
                        struct job *job)
{
    if (job->name != NULL)
        return;
    if (source->path != NULL)
        job->name = cli_name_of_file(cli->arena, source->path, source->folder);
    else if (cli->set.image != NULL)
        job->name = cli_name_of_image(cli->arena, cli->set.image);
    else
        job->name = cli_name_of_command(cli->arena, &job->pools[0].command);
    if (job->display == NULL)
        job->display = job->name;
}

/* Reads the spec and applies the flags; spec->job is NULL after a fault that is
 * in the diagnostics. */
static int read_spec(struct cli *cli, struct source *source,
                     struct cli_spec *spec)
{
    int code = read_source(cli, source);
    if (code != CLI_DONE)
        return code;
    *spec = (struct cli_spec){.file = source->diag.file};
    if (source->root != NULL)
        spec->job = form_read(source->root, &source->diag);
    if (spec->job == NULL)
        return CLI_DONE;
    apply_flags(cli, source, spec->job);
    apply_warm_start(cli, source, spec->job);
    apply_metrics(cli, source, spec->job);
    if (cli->set.image != NULL)
        apply_image(cli, source, spec->job);
    else
        apply_command(cli, source, spec->job);
    spec->named = spec->job->name != NULL;
    return CLI_DONE;
}

int cli_spec_read(struct cli *cli, struct cli_spec *spec)
{
    struct source source = {0};
    int code = read_spec(cli, &source, spec);
    return code == CLI_DONE ? report_faults(cli, &source) : code;
}

int cli_spec_load(struct cli *cli, struct cli_spec *spec)
{
    struct source source = {0};
    int code = read_spec(cli, &source, spec);
    if (code == CLI_DONE && spec->job != NULL) {
        struct cli_launch launch = {.cli = cli,
                                    .diag = &source.diag,
                                    .root = source.root,
                                    .folder = source.folder};
        derive_name(cli, &source, spec->job);
        spec->program = cli_launch_settle(&launch, spec->job);
    }
    return code == CLI_DONE ? report_faults(cli, &source) : code;
}
