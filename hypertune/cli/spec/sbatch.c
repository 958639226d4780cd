/* sbatch.c - `check -o sbatch`: the batch job of a study. */

#include "hypertune/cli/spec/submit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "hypertune/cli/frame/slurm.h"
#include "proto/base/limits.h"
#include "proto/job/slurm.h"
#include "proto/job/slurm_section.h"

/* In place of what only the runner knows. */
static const struct slurm_site places = {.name = "RUNNER-NAME",
                                         .folder = "/RUNNER/BATCH",
                                         .shim = "/RUNNER/hypertune-shim"};

static int read_defaults(struct cli *cli, struct job_slurm *defaults)
{
    const char *path = cli->set.slurm_defaults;
    struct ht_error err;
    size_t len;
    *defaults = (struct job_slurm){0};
    if (path == NULL)
        return CLI_DONE;
    const char *text = cli_read_all(
        cli->arena, open(path, O_RDONLY | O_CLOEXEC), HT_MAX_YAML, &len);
    if (text == NULL)
        return cli_fail(cli, CLI_USAGE, "cannot read %s: %s", path,
                        strerror(errno));
    if (slurm_read_defaults(cli->arena, text, len, path, defaults, &err) !=
        HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    return CLI_DONE;
}

static int64_t elements_of(const struct job *job)
{
    return job->parallel < job->max_trials ? job->parallel : job->max_trials;
}

static int print_batch(struct cli *cli, const struct job *job,
                       const struct job_slurm *defaults)
{
    struct slurm_need need = slurm_need_of(cli->arena, job);
    struct slurm_site site = places;
    struct slurm_batch batch;
    struct ht_error err;
    struct text out = {0};
    site.elements = (int)elements_of(job);
    slurm_apply_defaults(cli->arena, &need.section, defaults);
    if (slurm_batch(cli->arena, &need, &site, &batch, &err) != HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    cli_say(cli,
            "the runner fills in %s, %s and %s; --time is at most the "
            "partition's limit",
            site.name, site.folder, site.shim);
    text_puts(&out, slurm_script(cli->arena, &batch));
    return cli_print(&out);
}

int cli_sbatch_show(struct cli *cli)
{
    struct cli_spec spec;
    struct job_slurm defaults;
    int code = cli_spec_read(cli, &spec);
    if (code == CLI_DONE)
        code = read_defaults(cli, &defaults);
    if (code != CLI_DONE)
        return code;
    const char *engine = spec.job->run_on.engine;
    if (spec.job->n_pools == 0)
        return cli_fail(cli, CLI_USAGE, "%s has nothing to run", spec.file);
    if (engine != NULL && strcmp(engine, SLURM_ENGINE) != 0)
        return cli_fail(cli, CLI_USAGE, "runOn asks for the engine %s, not %s",
                        engine, SLURM_ENGINE);
    return print_batch(cli, spec.job, &defaults);
}

/* ---- a trial of it ---- */

static void say_acceptance(const struct cli *cli, const char *words)
{
    static const char start[] = " to start ";
    const char *at = strstr(words, start);
    if (at != NULL)
        cli_say(cli, "smoke: Slurm would start it %s", at + sizeof start - 1);
    else
        cli_say(cli, "smoke: %s", words);
}

int cli_sbatch_try(struct cli *cli, const struct job *job)
{
    const char *engine = job->run_on.engine;
    if (engine == NULL || strcmp(engine, SLURM_ENGINE) != 0)
        return CLI_DONE;
    if (cli_slurm_sign(cli) == NULL) {
        cli_say(cli, "smoke: Slurm was not asked first: this machine has no "
                     "way to it");
        return CLI_DONE;
    }
    const struct slurm_need need = slurm_need_of(cli->arena, job);
    const struct cli_slurm slurm = cli_slurm_ask(
        cli, arena_printf(cli->arena, "{\"elements\":%lld,\"need\":%s}",
                          (long long)elements_of(job),
                          slurm_need_write(cli->arena, &need)));
    if (slurm.refused)
        return cli_fail(cli, CLI_REFUSED, "smoke: %s", slurm.trouble);
    if (slurm.trouble != NULL)
        cli_say(cli, "smoke: Slurm was not asked first: %s", slurm.trouble);
    else
        say_acceptance(cli, node_get_string(slurm.said, "test", ""));
    return CLI_DONE;
}
