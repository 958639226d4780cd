/* checkpoint.c - `checkpoint` inside a trial. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/reporter.h"
#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"

const char trial_help_checkpoint[] =
    "usage: hypertune checkpoint [PATH] [--step N]\n"
    "\n"
    "Inside a trial: says that the file or folder PATH below "
    "$AIP_CHECKPOINT_DIR\n"
    "is whole, so that the trial may continue from it at any runner. Without\n"
    "PATH it is all of that folder. Returns at once: the runner sends it "
    "while\n"
    "the training continues. What is not replaced as a whole, by a rename, "
    "has\n"
    "to stay as it is meanwhile.\n"
    "\n"
    "  --step N           the global step that it is of\n";

static int send_path(const char *path, int64_t step)
{
    const char *folder = getenv("AIP_CHECKPOINT_DIR");
    if (!reporter_in_trial())
        return TRIAL_EXIT_OK;
    switch (hypertune_checkpoint(path, step)) {
    case 0:
        return TRIAL_EXIT_OK;
    case EINVAL:
        return trial_usage("checkpoint: \"%s\" is not below "
                           "$AIP_CHECKPOINT_DIR (%s)",
                           path, folder);
    case ENOENT:
    case ENOTDIR:
        fprintf(stderr, "hypertune: checkpoint: there is no \"%s\"\n",
                path != NULL ? path : folder);
        return TRIAL_EXIT_NOT_FOUND;
    default:
        fprintf(stderr, "hypertune: checkpoint: cannot write to the folder of "
                        "the trial\n");
        return TRIAL_EXIT_UNREACHABLE;
    }
}

int trial_command_checkpoint(int argc, char **argv)
{
    const char *path = NULL, *value;
    int64_t step = -1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(trial_help_checkpoint, stdout);
            return TRIAL_EXIT_OK;
        }
        if (trial_option("--step", argc, argv, &i, &value)) {
            if (value == NULL || !trial_read_integer(value, &step) || step < 0)
                return trial_usage("checkpoint: --step needs a count");
        } else if (argv[i][0] == '-') {
            return trial_usage("checkpoint: unknown option \"%s\"", argv[i]);
        } else if (path != NULL) {
            return trial_usage("checkpoint: \"%s\" is one path too many",
                               argv[i]);
        } else {
            path = argv[i];
        }
    }
    return send_path(path, step);
}
