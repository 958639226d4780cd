/* cli_imported.h - a study made of results that are there already.
 *
 * It becomes a study of clients: its trials are told with their curves and
 * values, then it is ended, so that it can be looked at and learnt from. */
#ifndef HT_HYPERTUNE_CLI_IMPORTED_H
#define HT_HYPERTUNE_CLI_IMPORTED_H

#include <signal.h>

#include <cjson/cJSON.h>

#include "hypertune/cli_context.h"

struct cli_imported {
    struct cli *cli;
    const char *path; /* of the study on the server */
    const char *name; /* as the server has it */
    size_t n;         /* trials told */
    size_t infeasible;
    sigset_t before; /* mask to restore */
};

struct cli_imported_trial {
    cJSON *parameters;  /* [{"parameterId","value"}] */
    cJSON *curve;       /* Vertex Measurements in order, or NULL */
    cJSON *final;       /* Vertex Measurement, NULL: it has no result */
    const char *reason; /* why it has none */
};

/* Appends {"metricId","value"} unless the value is not finite. */
void cli_imported_metric(cJSON *metrics, const char *name, double value);

/* Connects and creates it; `study`, a Vertex Study, is released. Returns
 * CLI_DONE, or the exit code after having said why. Until close() a Ctrl-C is
 * seen between two trials only. */
int cli_imported_open(struct cli *cli, cJSON *study,
                      struct cli_imported *imported);
/* Tells one trial, whose parts are released. CLI_INTERRUPTED or CLI_TERMINATED
 * after a signal. */
int cli_imported_add(struct cli_imported *imported,
                     const struct cli_imported_trial *trial);
/* Ends the study and says what it has; when the import has failed, with `code`,
 * nothing of it is left. Returns the exit code. */
int cli_imported_close(struct cli_imported *imported, int code);

#endif
