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

/* The current folder, absolute. */
const char *cli_spec_folder(struct cli *cli);

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

/* ---- flags.c: a study without a spec file ----
 *
 * The flags are turned into the document that a spec file would have held, so
 * there is one grammar and one set of checks. */

/* Adds one "NAME=FORM" to an object of parameters. FORM is
 *     1..8            whole numbers          1..8:2     in steps of 2
 *     0.1..0.9        real numbers           log:1e-5..0.1, rlog:..
 *     int:0..9, real:0..1                    to say which
 *     adam,sgd        categories             32,64      numbers
 *     7               a constant
 * HT_INVALID  no such form, the name is missing or was given before */
enum ht_status cli_flags_param(cJSON *parameters, const char *text,
                               struct ht_error *err);

/* The native spec that the settings and the command describe, with these
 * parameters (NULL: those of --param); the caller owns *spec. HT_INVALID when a
 * flag cannot be read. */
enum ht_status cli_flags_spec(const struct cli_settings *set,
                              const struct words *command,
                              const struct node *parameters, cJSON **spec,
                              struct ht_error *err);

/* ---- launch.c: the additions of the submitting shell ---- */

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

/* ---- script.c: the script of a command ---- */

/* The index of the word that an interpreter (Python, a shell, R, Julia ...)
 * runs as a script, or with *module as a Python module; 0: there is none, or it
 * is not certain. */
size_t cli_script_find(const struct strings *command, bool *module);

/* Warns when the script is not there. Of modules only those are known to be
 * missing whose package is in the working folder. */
void cli_script_check(const struct cli_launch *launch, const struct job *job,
                      const struct pool *pool);

#endif
