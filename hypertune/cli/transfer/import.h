/* import.h - the kinds of files that `hypertune import` understands. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_IMPORT_H
#define HT_HYPERTUNE_CLI_TRANSFER_IMPORT_H

#include "hypertune/cli/frame/cli.h"

/* Each imports what is at `path` and returns an exit code, having said why
 * when it is not CLI_DONE. */
typedef int cli_importer(struct cli *cli, const char *path);

/* A folder that `hypertune export -o dir` made: a finished study. */
cli_importer cli_import_folder;
/* A database of Optuna, of versions 2 and 3: a finished study. */
cli_importer cli_import_optuna;
/* An experiment of Katib as YAML: a spec, printed or submitted. */
cli_importer cli_import_katib;

/* The whole file in cli->arena, NULL after having said why not. */
char *cli_import_read(struct cli *cli, const char *path, size_t most,
                      size_t *len);

#endif
