/* spec.h - from what a person wrote to the job that is sent.
 *
 * Reads a spec file of any form or flags, adds what only the submitting shell
 * knows (folder, PATH, virtual environment), and finds the program that would
 * run. Every fault is shown at once. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SPEC_H
#define HT_HYPERTUNE_CLI_SPEC_SPEC_H

#include "hypertune/cli/frame/cli.h"
#include "proto/job/job.h"

struct cli_spec {
    struct job *job;
    const char *file;    /* as it is shown: "spec.yaml", "command line" */
    const char *program; /* file that argv[0] is, NULL: runs in an image */
    bool named;          /* the name was chosen, not derived */
};

/* Reads the spec that the arguments name: one path ("-" is stdin) and perhaps
 * a command after "--" in place of its own; or flags and a command; or
 * spec.yaml here when there is neither. Faults and warnings are printed.
 * Returns CLI_DONE, CLI_USAGE, or CLI_ABSENT when there is no such file. */
int cli_spec_load(struct cli *cli, struct cli_spec *spec);
/* The same without what this shell adds: the job as it is written. */
int cli_spec_read(struct cli *cli, struct cli_spec *spec);

/* Appends what would run: goal, parameters, an example command. */
void cli_spec_describe(struct cli *cli, const struct cli_spec *spec,
                       struct text *out);

#endif
