/* optuna_space.h - Optuna's distributions as parameters of a study. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_OPTUNA_SPACE_H
#define HT_HYPERTUNE_CLI_TRANSFER_OPTUNA_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"

struct optuna_axis {
    const char *name;
    bool whole; /* integers */
    bool log;
    double low, high;           /* both inclusive, of all trials */
    double step;                /* 0: continuous, or every integer */
    const struct node *choices; /* a list; NULL: a range */
};
struct optuna_space {
    size_t n;
    struct optuna_axis axes[HT_MAX_PARAMETERS];
};

/* Adds what a `distribution_json` of the parameter says. A range that trials
 * had otherwise becomes the one that holds both.
 * HT_INVALID  it is no distribution, another kind than before, or too many */
enum ht_status optuna_space_add(struct optuna_space *space, struct arena *arena,
                                const char *name, const char *json,
                                struct ht_error *err);

/* A Vertex ParameterSpec; the caller owns it. *dropped: it has steps that
 * cannot be expressed. */
cJSON *optuna_space_axis_spec(const struct optuna_axis *axis, bool *dropped);

/* Adds what Optuna stores as `value` of a trial; false when the axis has no
 * such value. */
bool optuna_space_add_value(const struct optuna_axis *axis, double value,
                            cJSON *params);

/* NULL when no trial had it; valid until the next optuna_space_add(). */
const struct optuna_axis *optuna_space_find(const struct optuna_space *space,
                                            const char *name);

#endif
