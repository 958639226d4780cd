/* parameters.h - the parameters of a study, as its resource lists them:
 * nested below the values of others that they exist for. */
#ifndef HT_HYPERTUNE_CLI_STUDY_PARAMETERS_H
#define HT_HYPERTUNE_CLI_STUDY_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/limits.h"
#include "proto/doc/node.h"

struct cli_parameter {
    const char *name; /* borrowed from the resource */
    bool labels;      /* has texts for values */
};

struct cli_parameters {
    size_t n;
    struct cli_parameter items[HT_MAX_PARAMETERS];
};

/* All of a resource with a studySpec, in declared order; those that share a
 * name once. */
void cli_parameters_read(const struct node *job,
                         struct cli_parameters *parameters);

#endif
