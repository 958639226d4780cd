/* measurements.h - every measurement of a study, read along with its trials.
 *
 * The server lists them by trial, so that pages of both lists are read side by
 * side and one page is kept at a time. */
#ifndef HT_HYPERTUNE_CLI_STUDY_MEASUREMENTS_H
#define HT_HYPERTUNE_CLI_STUDY_MEASUREMENTS_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "proto/base/error.h"

struct cli_measured {
    struct cli *cli;
    const char *study;
    struct arena *arena;     /* holds the page; NULL: none yet */
    const struct node *next; /* the first not taken; NULL: page is over */
    const char *token;       /* of the page behind, in cli->lasting; or NULL */
    bool started;
};

/* Adds {"step","timeMs","attempt","replica","metrics"} to `list` for each
 * measurement of that trial. To be asked for trials by ascending id. */
enum ht_status cli_measured_take(struct cli_measured *measured, int64_t trial,
                                 cJSON *list, struct ht_error *err);
void cli_measured_end(struct cli_measured *measured);

#endif
