#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli_commands.h"

/* %s: the command. Every line that a person may leave out is a comment. */
static const char template[] =
    "# What to tune and what to run. \"hypertune help spec\" has every field,\n"
    "# \"hypertune check\" looks for mistakes, \"hypertune run\" starts.\n"
    "spec: 1\n"
    "# name: digits                # default: this folder's name\n"
    "goal: maximize accuracy       # or: minimize loss; the metric you report\n"
    "parameters:                   # each becomes an argument: --lr=0.01\n"
    "  lr: {type: double, min: 1e-5, max: 1e-1, scale: log}\n"
    "  layers: {type: integer, min: 1, max: 8}\n"
    "  batch: [32, 64, 128]        # numbers to choose from\n"
    "  opt: [adam, sgd]            # names to choose from\n"
    "trials: 20\n"
    "parallel: 2                   # trials at a time\n"
    "# algorithm: random           # or grid; default: bayesian, which learns\n"
    "# earlyStopping: median       # end trials that promise little\n"
    "# noise: high                 # results differ by chance\n"
    "# seed: 1                     # same seed, same suggestions\n"
    "# warmStart: other            # learn from an earlier study\n"
    "# until: {target: 0.99, time: 2h}\n"
    "# trialTimeout: 10m\n"
    "# retries: 1                  # starts after a failed one\n"
    "# How the metric is reported, any one of:\n"
    "#   hypertune report accuracy=0.93 --step 4       (shell)\n"
    "#   hypertune.HyperTune().report_hyperparameter_tuning_metric(...)"
    "  (Python)\n"
    "#   metrics: {stdout: 'accuracy={accuracy}'}      (what it prints)\n"
    "command: %s\n";

static const char *guess_command(struct cli *cli)
{
    const char *python =
        cli_variable(cli, "VIRTUAL_ENV") || cli_variable(cli, "CONDA_PREFIX")
            ? "python"
            : "python3";
    if (access("train.py", F_OK) != 0 && access("train.sh", F_OK) == 0)
        return "[sh, train.sh]";
    return arena_printf(cli->arena, "[%s, train.py]", python);
}

int cli_write_spec(struct cli *cli)
{
    if (cli->args.words.n > 1)
        return cli_wants(cli, 1) ? CLI_DONE : CLI_USAGE;
    const char *path =
        cli->args.words.n == 1 ? cli->args.words.items[0] : "spec.yaml";
    int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | (cli->set.force ? O_TRUNC : O_EXCL);
    int fd = open(path, flags, 0644);
    if (fd < 0 && errno == EEXIST)
        return cli_fail(cli, CLI_CONFLICT,
                        "%s is there already; --force overwrites it", path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    fprintf(file, template, guess_command(cli));
    if (fclose(file) != 0)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    cli_say(cli, "wrote %s; next: edit it, then hypertune check %s", path,
            path);
    return CLI_DONE;
}
