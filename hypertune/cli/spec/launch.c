/* launch.c - what a job gets from the shell that submits it: working folder,
 * environment, absolute paths. */

#include "hypertune/cli/spec/spec.h"

#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/job/metrics_file.h"

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

/* Processes find programs and libraries as this shell does, an image has its
 * own; what passEnv names is for both. */
static void record_variables(const struct cli_launch *launch, struct job *job)
{
    static const char *const names[] = {"PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
                                        "LD_LIBRARY_PATH", "PYTHONPATH"};
    enum { N_NAMES = sizeof names / sizeof *names };
    struct pair *pairs = arena_alloc(launch->cli->arena,
                                     N_NAMES + job->pass_env.n, sizeof *pairs);
    size_t n = 0;
    for (size_t i = 0; i < N_NAMES && !job_needs_images(job); i++)
        record_variable(launch->cli, names[i], pairs, &n);
    for (size_t i = 0; i < job->pass_env.n; i++) {
        const char *name = job->pass_env.items[i];
        if (cli_variable(launch->cli, name) == NULL)
            diag_warning(launch->diag, 0, 0, "passEnv",
                         "%s is not set in this shell", name);
        record_variable(launch->cli, name, pairs, &n);
    }
    job->captured_env = (struct pairs){.n = n, .items = pairs};
}

/* A relative folder starts at the spec's; gs://... is not on this machine. */
static const char *absolute(const struct cli_launch *launch, const char *folder)
{
    if (folder == NULL || folder[0] == '/' || strstr(folder, "://"))
        return folder;
    if (strncmp(folder, "./", 2) == 0)
        folder += 2;
    return arena_printf(launch->cli->arena, "%s/%s", launch->folder, folder);
}

static void settle_workdir(const struct cli_launch *launch, struct job *job)
{
    job->workdir =
        job->workdir ? absolute(launch, job->workdir) : launch->folder;
    struct stat info;
    if (stat(job->workdir, &info) == 0 && S_ISDIR(info.st_mode))
        return;
    const struct node *place = node_find(launch->root, "workdir");
    diag_error(launch->diag, place ? place->line : 0, place ? place->column : 0,
               "workdir", "%s is no folder", job->workdir);
}

static const char *find_program(const struct cli_launch *launch,
                                const struct job *job)
{
    const struct node *place = node_find(launch->root, "command");
    struct cli_program_query query = {.name = job->pools[0].command.items[0],
                                      .workdir = job->workdir,
                                      .path =
                                          cli_variable(launch->cli, "PATH")};
    const char *program = NULL;
    struct ht_error err;
    if (job->substitute && strstr(query.name, "${"))
        return query.name;
    if (cli_program_find(launch->cli->arena, &query, &program, &err) == HT_OK)
        return program;
    diag_error(launch->diag, place ? place->line : 0, place ? place->column : 0,
               "command", "%s", err.text);
    if (strchr(query.name, '/') == NULL)
        diag_hint(launch->diag, "searched %s",
                  query.path ? query.path : "nothing: PATH is not set");
    return NULL;
}

/* Fields for images; a command after "--" may have replaced the image. */
static void warn_of_containers(const struct cli_launch *launch)
{
    static const char *const members[] = {"container", "volumes"};
    const struct node *ours = node_find(launch->root, "hypertune");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct node *place =
            node_find(ours != NULL ? ours : launch->root, members[i]);
        if (place != NULL)
            diag_warning(launch->diag, place->line, place->column, members[i],
                         "has no effect on processes: there is no image");
    }
}

/* The config of a tutorial leaves command and image to gcloud's flags. */
static bool check_commands(const struct cli_launch *launch,
                           const struct job *job)
{
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        if (pool->image != NULL || pool->command.n > 0)
            continue;
        diag_error(launch->diag, 0, 0, "command",
                   "the %s has neither a command nor an image", pool->type);
        diag_hint(launch->diag,
                  "add a command: hypertune %s %s -- python3 -m "
                  "trainer.task, or an image: --image IMAGE",
                  launch->cli->command->name, launch->diag->file);
        return false;
    }
    return true;
}

const char *cli_launch_settle(const struct cli_launch *launch, struct job *job)
{
    job->job_dir = absolute(launch, job->job_dir);
    job->output_dir = absolute(launch, job->output_dir);
    if (!check_commands(launch, job))
        return NULL;
    record_variables(launch, job);
    if (job_needs_images(job))
        return NULL;
    warn_of_containers(launch);
    settle_workdir(launch, job);
    metrics_file_check(launch->root, job, launch->diag);
    metrics_events_check(launch->root, job, launch->diag);
    const struct pool *master = job->pools;
    for (size_t i = 0; i < job->n_pools && launch->diag->errors == 0; i++)
        if (i == 0 || master[i].command.items != master->command.items)
            cli_script_check(launch, job, &master[i]);
    return find_program(launch, job);
}
