/* import.h - results and specs from elsewhere.
 *
 * Results become a study of clients: its trials are sent as they were, with
 * their ids, moments, curves and values, then it is ended, so that it can be
 * looked at and learnt from. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_IMPORT_H
#define HT_HYPERTUNE_CLI_TRANSFER_IMPORT_H

#include <signal.h>

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/base/text.h"

/* Each imports the file or folder and returns CLI_DONE, or another exit code
 * after a message. */
typedef int cli_importer(struct cli *cli, const char *path);

/* A folder that `hypertune export -o dir` made: a finished study. */
cli_importer cli_import_folder;
/* A database of Optuna, of versions 2 and 3: a finished study. */
cli_importer cli_import_optuna;

/* The files of such a folder. */
#define EXPORT_SPEC "spec.yaml"   /* native, where that form can express it */
#define EXPORT_STUDY "study.json" /* the resource */
#define EXPORT_TRIALS "trials.jsonl"    /* with their measurements */
#define EXPORT_METADATA "metadata.json" /* texts kept with them, if any */
#define EXPORT_EVENTS "events.jsonl"

/* The whole file in cli->arena, NULL after a message. */
char *cli_import_read(struct cli *cli, const char *path, size_t most,
                      size_t *len);

struct cli_imported {
    struct cli *cli;
    const char *name; /* as the server has it */
    const char *id;
    size_t n;                         /* trials added */
    size_t without;                   /* of them without a result */
    struct text trials, measurements; /* not yet sent */
    sigset_t before;                  /* mask to restore */
};

/* Connects and creates it; `study`, a Vertex Study, is released. Returns
 * CLI_DONE, or another exit code after a message. Until close() a Ctrl-C takes
 * effect between two trials only. */
int cli_imported_open(struct cli *cli, cJSON *study,
                      struct cli_imported *imported);
/* Adds one trial, an object as a line of `hypertune export -o jsonl`, which is
 * released; their ids rise. CLI_INTERRUPTED or CLI_TERMINATED after a signal.
 */
int cli_imported_add(struct cli_imported *imported, cJSON *trial);
/* Keeps texts with the study and its trials, after those were added: a list
 * [{"trial","ns","key","value"}], which is released. */
int cli_imported_note(struct cli_imported *imported, cJSON *metadata);
/* Ends the study and prints its counts; after a failure, `code`, removes it.
 * Returns the exit code. */
int cli_imported_close(struct cli_imported *imported, int code);

#endif
