/* points.h - parameter sets that a person wrote: on the command line, as
 * CSV or as JSON lines. */
#ifndef HT_HYPERTUNE_CLI_STUDY_POINTS_H
#define HT_HYPERTUNE_CLI_STUDY_POINTS_H

#include <cjson/cJSON.h>

#include "proto/base/words.h"
#include "proto/space/space.h"

/* Points of one space, whole or in part, in the arena of the diagnostics. */
struct cli_points {
    const struct constraint_set *constraints; /* of the space */
    struct diag *diag; /* where faults go; its arena keeps the points */
    size_t n;
    const struct value **items; /* each as given, by parameter */
};

/* Adds the point that "NAME=VALUE" words describe. */
void cli_points_words(struct cli_points *points, const struct words *words);

/* Adds every point of a file: JSON lines (or one JSON array) when it begins
 * with a brace or bracket, else CSV whose first record names the parameters.
 * Empty CSV fields give no value. */
void cli_points_file(struct cli_points *points, const char *text);

/* The values of one as the parameters of Google's Trial; the caller owns it. */
cJSON *cli_points_json(const struct space *space, const struct value point[]);

#endif
