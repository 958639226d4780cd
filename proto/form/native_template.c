#include "proto/form/native.h"

/* Every line that a person may leave out is a comment. */
static const char head[] =
    "# What to tune and what to run. \"hypertune help spec\" has every field,\n"
    "# \"hypertune check\" looks for mistakes, \"hypertune run\" starts.\n"
    "spec: 1\n";

static const char search[] =
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
    "# warmStart: other            # begin with its results\n"
    "# until: {target: 0.99, time: 2h}\n"
    "# trialTimeout: 10m\n"
    "# retries: 1                  # starts after a failed one\n"
    "# How the metric is reported, any one of:\n"
    "#   hypertune report accuracy=0.93 --step 4       (shell)\n"
    "#   hypertune.HyperTune().report_hyperparameter_tuning_metric(...)"
    "  (Python)\n"
    "#   metrics: {stdout: 'accuracy={accuracy}'}      (what it prints)\n";

void native_template(const char *command, const char *workdir, struct text *out)
{
    text_puts(out, head);
    text_puts(out, workdir == NULL
                       ? "# name: digits                # default: this "
                         "folder's name\n"
                       : "name: digits\n");
    text_puts(out, search);
    text_printf(out, "command: %s\n", command);
    if (workdir != NULL)
        text_printf(out,
                    "workdir: %s   # the folder that has it, on the "
                    "machine that runs it\n",
                    workdir);
}
