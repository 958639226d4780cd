/* cli_points.h - parameter sets that a person wrote: on the command line, as
 * CSV or as JSON lines. */
#ifndef HT_HYPERTUNE_CLI_POINTS_H
#define HT_HYPERTUNE_CLI_POINTS_H

#include <cjson/cJSON.h>

#include "hypertune/cli_options.h"
#include "proto/diag.h"
#include "proto/space.h"

/* Points of one space, in the arena of the diagnostics. */
struct cli_points {
    const struct space *space;
    struct diag *diag; /* where faults go; its arena keeps the points */
    size_t n;
    const struct value **items; /* each settled, with space->n values */
};

/* Adds the point that "NAME=VALUE" words describe. A parameter that can have
 * one value only need not be named. */
void cli_points_words(struct cli_points *points, const struct words *words);

/* Adds every point of a file: JSON lines (or one JSON array) when it begins
 * with a brace or bracket, else CSV whose first record names the parameters.
 * Empty CSV fields are absent values. */
void cli_points_file(struct cli_points *points, const char *text);

/* One point as the parameters of Google's Trial; the caller owns it. */
cJSON *cli_points_json(const struct space *space, const struct value point[]);

#endif
