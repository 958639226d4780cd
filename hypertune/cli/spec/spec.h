/* spec.h - from a spec file or flags to the job that is sent.
 *
 * Reads a spec file of any form or flags, adds folder, PATH and virtual
 * environment of the submitting shell, and finds the program that would
 * run. Every fault is shown at once. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SPEC_H
#define HT_HYPERTUNE_CLI_SPEC_SPEC_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"

struct cli_spec {
    struct job *job;
    const char *file;    /* for messages: "spec.yaml", "command line" */
    const char *program; /* file of argv[0], NULL: runs in an image */
    bool named;          /* the name was chosen, not derived */
};

/* Reads the spec that the arguments name: one path ("-" is stdin) and perhaps
 * a command after "--" in place of its own; or flags and a command; or
 * spec.yaml here when there is neither. Faults and warnings are printed.
 * Returns CLI_DONE, CLI_USAGE, or CLI_ABSENT when there is no such file. */
int cli_spec_load(struct cli *cli, struct cli_spec *spec);
/* The same without the additions of this shell. */
int cli_spec_read(struct cli *cli, struct cli_spec *spec);

/* Reads built JSON like a document; releases `object`. */
const struct node *cli_spec_tree(struct cli *cli, cJSON *object,
                                 struct diag *diag);

/* Prints faults and warnings to stderr. */
void cli_spec_print_diag(const struct diag *diag);

/* The name of a study whose spec gives none. From the spec's path:
 * "jobs/digits.yaml" is "digits"; a file that is called spec, study, job or
 * hypertune takes the name of `folder` (absolute). */
const char *cli_name_of_file(struct arena *arena, const char *path,
                             const char *folder);

/* From a command: the script among its words ("python src/train.py" is
 * "train", "python -m pkg.fit" is "pkg.fit"), else the program. */
const char *cli_name_of_command(struct arena *arena,
                                const struct strings *command);

/* From an image: "gcr.io/team/train:7" is "train". */
const char *cli_name_of_image(struct arena *arena, const char *image);

struct cli_launch {
    struct cli *cli;
    struct diag *diag;       /* takes the faults */
    const struct node *root; /* of the spec, for their places */
    const char *folder;      /* absolute: the spec's */
};

/* Makes the job's folders absolute and records what passEnv names; a job of
 * processes also gets its working folder and this shell's variables. Returns
 * the file that the master runs, or NULL when it runs in an image or after a
 * fault. */
const char *cli_launch_settle(const struct cli_launch *launch, struct job *job);

#endif
