/* program.h - which file a command's first word is. */
#ifndef HT_HYPERTUNE_CLI_FRAME_PROGRAM_H
#define HT_HYPERTUNE_CLI_FRAME_PROGRAM_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct cli_program_query {
    const char *name;    /* first word of the command */
    const char *workdir; /* folder of the trials; relative names start there */
    const char *path;    /* PATH, NULL: none */
};

/* Finds the file as execvp(3) would with that PATH and that current folder.
 * HT_NOT_FOUND  no such file; the sentence gives a hint when one is known
 * HT_DENIED     it is there, but cannot be executed */
enum ht_status cli_program_find(struct arena *arena,
                                const struct cli_program_query *query,
                                const char **program, struct ht_error *err);

#endif
